"""Best value so far of each method, by wallclock, trials and dollars: one line with a band a method, or one line a seed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarking.comparison.methods import BenchmarkComparison
from benchmarking.comparison.question import AGGREGATES, ComparisonQuestion
from benchmarking.comparison.runs import Axis, ComparedRun, axes_of, distinct
from benchmarking.figures.bands import band, line
from benchmarking.figures.data import Curve, Figure, LinePanel, PlotAxis, Reference
from benchmarking.figures.dollar_units import dollar_unit, in_dollars_of
from benchmarking.figures.short_names import changed, short_names
from definitions.parts import is_money

X_AXES = {
    Axis.WALLCLOCK: PlotAxis("wall-clock time", "s"),
    Axis.TRIALS: PlotAxis("finished trials"),
    Axis.COST: PlotAxis("cost", "USD"),
}
"""How each axis of a comparison is drawn."""

MOST_PANELS = 24
"""Benchmarks that a figure has panels for; the tables have all."""


def best_so_far_figure(
    runs: Sequence[ComparedRun], compared: Sequence[BenchmarkComparison], question: ComparisonQuestion, axis: Axis
) -> Figure:
    """Return the lines of all methods with bands, a panel a benchmark.

    At the budget of a comparison each line has the value and the interval of that method's row, where the budget is on this axis.

    Args:
        runs: (n_runs,) that were compared.
        compared: a comparison for each benchmark.
        question: what was asked.
        axis: along which.
    """
    short = short_names([*(run.method for run in runs), *(one.benchmark for one in compared)])
    panels, notes = [], []
    for made, mine in _by_benchmark(runs, compared):
        if axis not in axes_of(mine):
            notes.append(f"{short[made.benchmark]}: not all of its experiments have a {X_AXES[axis].title} (a price is unknown).")
            continue
        curves = []
        for row in made.rows:
            kept = distinct(sorted((run for run in mine if run.method == row.method), key=lambda run: run.number))[0]
            drawn = [run.curve(made.objective, axis, any_level=question.any_level) for run in kept]
            if axis is made.axis:
                # Those that had a result by then, as in the row.
                drawn = [curve for curve in drawn if curve(made.at) is not None]
            found = band(short[row.method], drawn, AGGREGATES[question.aggregate], made.confidence, possible=made.possible)
            if found is not None:
                curves.append(found)
            elif kept:
                notes.append(
                    f"{short[made.benchmark]}: {short[row.method]} has no {X_AXES[axis].title} at which all its seeds have a result."
                )
        panels.append(_panel(made, in_dollars_of(X_AXES[axis], mine), curves, short[made.benchmark], is_compared=axis is made.axis))
    percent = f"{100 * (1 - question.judged_level):.3g} % interval"
    kinds = sorted({made.dollars for made in compared if made.dollars not in ("", "real")}) if axis is Axis.COST else []
    notes += [f"Dollars are {' and '.join(kinds)}: nobody is billed them."] if kinds else []
    notes += [
        f"Line and band: mean of the seeds and its {percent}."
        if question.aggregate == "mean"
        else f"Line: {question.aggregate} of the seeds; band: {percent} of their mean.",
        "A line begins where all its seeds have a result, and ends where the first of them ends.",
    ]
    return _figure("best_so_far", "Best so far", axis, panels, notes, changed(short))


def seeds_figure(runs: Sequence[ComparedRun], compared: Sequence[BenchmarkComparison], question: ComparisonQuestion, axis: Axis) -> Figure:
    """Return a line for every seed, a panel a benchmark; arguments as for `best_so_far_figure`."""
    short = short_names([*(run.method for run in runs), *(one.benchmark for one in compared)])
    panels = []
    for made, mine in _by_benchmark(runs, compared):
        order = [row.method for row in made.rows]
        curves = []
        for run in sorted(mine, key=lambda run: (order.index(run.method), run.number)):
            method = short[run.method]
            most = max(20, 4000 // max(1, len(mine)))
            found = line(
                f"{method} seed {run.number}", run.curve(made.objective, axis, any_level=question.any_level), group=method, most=most
            )
            if found is not None and axis in run.ends:
                curves.append(found)
        panels.append(_panel(made, in_dollars_of(X_AXES[axis], mine), curves, short[made.benchmark], is_compared=axis is made.axis))
    return _figure("seeds", "Every seed", axis, panels, ["A line begins with the first result of its seed."], changed(short))


def _by_benchmark(
    runs: Sequence[ComparedRun], compared: Sequence[BenchmarkComparison]
) -> list[tuple[BenchmarkComparison, list[ComparedRun]]]:
    return [(made, [run for run in runs if run.benchmark == made.benchmark and run.measurements]) for made in compared]


def _panel(made: BenchmarkComparison, along: PlotAxis, curves: Sequence[Curve], title: str, *, is_compared: bool) -> LinePanel:
    budget = [Reference(made.at, "compared here")] if is_compared else []
    references = [*budget, *([Reference(made.target, f"target: {made.baseline}'s median", "y")] if made.target is not None else [])]
    values = objective_axis(made)
    return LinePanel(
        title, along, replace(values, shown=shown_values(curves, made.target, values.log)), tuple(curves), (), tuple(references)
    )


def shown_values(curves: Sequence[Curve], target: float | None, log: bool) -> tuple[float, float] | None:
    """Return from where to where values are drawn: all lines, the target, and the bands where lines end, with some room.

    The interval of a mean of few early values may be a thousand times as wide as what the lines do later; it is cut off.

    Args:
        curves: of the panel.
        target: a value that is marked; None for none.
        log: whether the axis is logarithmic.
    """
    lines = [value for curve in curves for value in curve.y if not log or value > 0]
    if not lines:
        return None
    # An interval that is wider than all that the lines do would flatten them, and is cut off as well.
    span = max(lines) - min(lines)
    ends = [one[-1] for curve in curves for one in (curve.low, curve.high) if one]
    ends = [one for one in ends if one is not None and min(lines) - span <= one <= max(lines) + span]
    kept = [*lines, *(one for one in (*ends, target) if one is not None and (not log or one > 0))]
    low, high = min(kept), max(kept)
    if log:
        room = (high / low) ** 0.05 if high > low else 1.1
        return low / room, high * room
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def objective_axis(made: BenchmarkComparison) -> PlotAxis:
    """Return the axis of a comparison's objective; logarithmic where all values are positive and a hundred times apart."""
    values = [value for row in made.rows for value in row.finals.values()]
    wide = bool(values) and min(values) > 0 and max(values) / min(values) > 100
    unit = dollar_unit([made.dollars]) if is_money(made.objective) else ""
    return PlotAxis(short_names([made.objective])[made.objective], unit, log=wide, better=made.mode)


def _figure(key: str, title: str, axis: Axis, panels: list[LinePanel], notes: list[str], names: dict[str, str]) -> Figure:
    drawn = [panel for panel in panels if panel.curves]
    if not drawn:
        notes = [f"No {X_AXES[axis].title} at which all seeds of any method have a result.", *notes] if panels else notes
    if len(drawn) > MOST_PANELS:
        notes = [f"The first {MOST_PANELS} of {len(drawn)} benchmarks; the tables have all.", *notes]
    return Figure(f"{key}_{axis}", f"{title} by {X_AXES[axis].title}", tuple(drawn[:MOST_PANELS]), tuple(notes), names)
