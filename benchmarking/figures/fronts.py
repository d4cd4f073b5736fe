"""Pareto fronts under noise, and hypervolume over time of each method with bands. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarking.analysis.hypervolume import MARGIN, hypervolume, hypervolume_so_far, ideal_point, reference_point
from benchmarking.analysis.intervals import ConfidenceInterval
from benchmarking.analysis.pareto import FrontPoint, noisy_front, pareto_front
from benchmarking.analysis.step_curves import StepCurve
from benchmarking.comparison.question import AGGREGATES, ComparisonQuestion
from benchmarking.comparison.runs import Axis, ComparedRun, Measurement
from benchmarking.figures.bands import band
from benchmarking.figures.best_so_far import X_AXES
from benchmarking.figures.data import Curve, Figure, LinePanel, PlotAxis, PointGroup, PointPanel
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.dollar_units import in_dollars_of
from benchmarking.figures.parameters import MeasuredPoint, measured_points
from benchmarking.figures.short_names import changed, short_names
from benchmarking.report.text import shown
from definitions.schema import Mode

MOST_PANELS = 8
_AROUND = 0.15
"""Room around the points of a front, as a part of what lies between them."""
MOST_OBJECTIVES = 3
UNITS = {"cost_usd": "USD", "duration_s": "s", "billable_s": "s", "cpu_s": "s", "peak_rss_bytes": "bytes"}
"""Units of the objectives that Outrider measures itself."""

_Intervals = Sequence[ConfidenceInterval | None]


def pareto_figure(experiments: Sequence[DetailedExperiment], question: ComparisonQuestion) -> Figure:
    """Return the configurations of each benchmark by its objectives, two to a panel, with intervals and the front.

    Args:
        experiments: (n,) in any order; those of benchmarks with one objective are left out.
        question: what was asked: the level of intervals.
    """
    by_benchmark = _with_several(experiments)
    points = {benchmark: [point for point in measured_points(mine) if point.is_full] for benchmark, mine in by_benchmark.items()}
    short = short_names(
        [name for mine in by_benchmark.values() for one in mine for name in (one.run.benchmark, one.run.method, *one.run.objectives)]
        + [point.name for mine in points.values() for point in mine]
    )
    panels, notes, sure = [], [], False
    for benchmark, mine in by_benchmark.items():
        objectives = dict([*mine[0].run.objectives.items()][:MOST_OBJECTIVES])
        found = noisy_front([point.repeats for point in points[benchmark]], objectives, 1 - question.judged_level)
        known = [(point, one) for point, one in zip(points[benchmark], found, strict=True) if one is not None]
        unknown = len(found) - len(known)
        if unknown:
            notes.append(f"{short[benchmark]}: {unknown} configurations lack an objective (a price is unknown), and are on no front.")
        if not known:
            notes.append(f"{short[benchmark]}: no configuration was completed with all objectives.")
            continue
        if len(mine[0].run.objectives) > MOST_OBJECTIVES:
            notes.append(f"{short[benchmark]}: the first {MOST_OBJECTIVES} of {len(mine[0].run.objectives)} objectives.")
        if known[0][1].probability is None:
            notes.append(f"{short[benchmark]}: nothing was measured twice, so how sure the front is is not known.")
        sure = sure or known[0][1].probability is not None
        names = list(objectives)
        for x, y in itertools.combinations(names, 2):
            panel = _front_panel(known, x, y, objectives, short, short[benchmark])
            runs = [one.run for one in mine]
            panels.append(replace(panel, x=in_dollars_of(panel.x, runs), y=in_dollars_of(panel.y, runs)))
    if not by_benchmark:
        notes.append("No benchmark has several objectives.")
    elif sure:
        notes.append("Probability of being on the front: bootstrap over repeats.")
    if any(axis.shown is not None for panel in panels for axis in (panel.x, panel.y)):
        notes.append("Intervals that go far beyond all points are cut off at the edge.")
    if len(panels) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(panels)} panels.")
    return Figure("pareto", "Pareto front: not beaten in every objective", tuple(panels[:MOST_PANELS]), tuple(notes), changed(short))


def _front_panel(
    known: Sequence[tuple[MeasuredPoint, FrontPoint]], x: str, y: str, objectives: Mapping[str, Mode], short: Mapping[str, str], title: str
) -> PointPanel:
    groups = []
    for kind, chosen in (
        ("front", [pair for pair in known if pair[1].on_front]),
        ("beaten", [pair for pair in known if not pair[1].on_front]),
    ):
        if not chosen:
            continue
        ends = {name: [one.intervals[name] for _, one in chosen] for name in (x, y)}
        texts = []
        for point, one in chosen:
            sure = "" if one.probability is None else f", on the front with probability {one.probability:.2f}"
            values = ", ".join(f"{short[name]} {shown(value)}" for name, value in one.values.items())
            texts.append(f"{short[point.name]}: {values}; measured {one.repeats} times{sure}")
        groups.append(
            PointGroup(
                "on the front" if kind == "front" else "beaten",
                tuple(one.values[x] for _, one in chosen),
                tuple(one.values[y] for _, one in chosen),
                _lows(ends[x]),
                _highs(ends[x]),
                _lows(ends[y]),
                _highs(ends[y]),
                tuple(texts),
                kind,
            )
        )
    # The staircase of these two alone: with a third objective a point of the front may lie behind it.
    means = [one.values for _, one in known]
    two = {x: objectives[x], y: objectives[y]}
    stairs = sorted((means[index][x], means[index][y]) for index in pareto_front(means, two))
    curve = Curve("front", tuple(a for a, _ in stairs), tuple(b for _, b in stairs), step=True)
    axes = [
        PlotAxis(short[name], UNITS.get(name, ""), better=objectives[name], shown=_room([one for _, one in known], name)) for name in (x, y)
    ]
    return PointPanel(title, axes[0], axes[1], tuple(groups), (curve,))


def _room(found: Sequence[FrontPoint], name: str) -> tuple[float, float] | None:
    """Return from where to where an objective is drawn: all points with some room; None where all intervals lie within that, too.

    The interval of two repeats may be a hundred times as wide as all points together, which would then be one.
    """
    values = [one.values[name] for one in found]
    low, high = min(values), max(values)
    room = _AROUND * (high - low)
    ends = [end for one in found if (interval := one.intervals[name]) is not None for end in (interval.low, interval.high)]
    if not room or all(low - room <= end <= high + room for end in ends):
        return None
    return low - room, high + room


def _lows(ends: _Intervals) -> tuple[float | None, ...]:
    return tuple(None if one is None else one.low for one in ends)


def _highs(ends: _Intervals) -> tuple[float | None, ...]:
    return tuple(None if one is None else one.high for one in ends)


def hypervolume_figure(runs: Sequence[ComparedRun], question: ComparisonQuestion, axis: Axis = Axis.WALLCLOCK) -> Figure:
    """Return the hypervolume of each method so far, a line with a band a method, a panel a benchmark.

    Args:
        runs: (n_runs,) that were compared.
        question: what was asked: aggregate, level, and whether partial levels count.
        axis: along which.
    """
    several = [run for run in runs if len(run.objectives) > 1]
    short = short_names([name for run in several for name in (run.benchmark, run.method, *run.objectives)])
    panels, notes = [], []
    for benchmark in dict.fromkeys(run.benchmark for run in several):
        panel, said = _hypervolume_panel([run for run in several if run.benchmark == benchmark], question, axis, short)
        panels += [] if panel is None else [panel]
        notes += [f"{short[benchmark]}: {line}" for line in said]
    if len(panels) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(panels)} benchmarks.")
    if not several:
        alone = all(len(run.objectives) < 2 for run in runs)
        notes.append("No benchmark has several objectives." if alone else "No method has a result yet.")
    return Figure(f"hypervolume_{axis}", f"Hypervolume by {X_AXES[axis].title}", tuple(panels[:MOST_PANELS]), tuple(notes), changed(short))


def _hypervolume_panel(
    runs: Sequence[ComparedRun], question: ComparisonQuestion, axis: Axis, short: Mapping[str, str]
) -> tuple[LinePanel | None, list[str]]:
    """Return the panel of one benchmark, None where nothing can be drawn, and what is said of it."""
    objectives = dict([*runs[0].objectives.items()][:MOST_OBJECTIVES])
    counted_of = [(run, _counted(run, any_level=question.any_level)) for run in runs]
    values = [one.values for _, found in counted_of for one in found]
    reference = reference_point(values, objectives)
    if reference is None:
        return None, ["no result has all objectives."]
    most = hypervolume([ideal_point(values, objectives)], reference, objectives)
    curves, notes = [], []
    for method in dict.fromkeys(run.method for run in runs):
        of_method = [(run, found) for run, found in counted_of if run.method == method]
        steps = [
            hypervolume_so_far(
                [(at, one.values) for one in found if (at := one.at(axis)) is not None], reference, objectives, run.ends[axis]
            )
            for run, found in of_method
            if axis in run.ends
        ]
        drawn = band(short[method], steps, AGGREGATES[question.aggregate], 1 - question.judged_level, possible=(0.0, most))
        curves += [] if drawn is None else [drawn]
        lacking = _lacking(short[method], steps, len(of_method), axis, is_drawn=drawn is not None)
        notes += [lacking] if lacking else []
    said = ", ".join(f"{short[name]} {shown(value)}" for name, value in reference.items())
    notes.append(f"reference point {said}: the worst values of any run, and {MARGIN:.0%} of their range beyond.")
    if not curves:
        return None, notes
    notes.append(f"bands end at 0 and at {shown(most)}, what the best value of each objective, of any run, would have together.")
    along = in_dollars_of(X_AXES[axis], runs)
    return LinePanel(short[runs[0].benchmark], along, PlotAxis("hypervolume", better="max"), tuple(curves)), notes


def _lacking(method: str, steps: Sequence[StepCurve], runs: int, axis: Axis, *, is_drawn: bool) -> str:
    """Return what is not drawn of a method's runs, and why; nothing where all is."""
    if len(steps) < runs:
        seeds = f"of {runs - len(steps)} of {runs} seeds of {method}"
        kept = "left out" if is_drawn else "no line"
        return f"{seeds} the {X_AXES[axis].title} is not known (a price is unknown, or nothing began): {kept}."
    empty = sum(not curve.at for curve in steps)
    if is_drawn:
        return f"{empty} of {runs} seeds of {method} have no result with all objectives: left out." if empty else ""
    if empty == runs:
        return f"{method} has no result with all objectives: no line."
    return f"{method} has no {X_AXES[axis].title} at which all its seeds have a result: no line."


def _counted(run: ComparedRun, *, any_level: bool) -> list[Measurement]:
    return [one for one in run.measurements if one.full or any_level]


def _with_several(experiments: Sequence[DetailedExperiment]) -> dict[str, list[DetailedExperiment]]:
    found: dict[str, list[DetailedExperiment]] = {}
    for one in experiments:
        if len(one.run.objectives) > 1:
            found.setdefault(one.run.benchmark, []).append(one)
    return found
