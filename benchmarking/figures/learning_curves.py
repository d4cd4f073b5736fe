"""Learning curves of one experiment: an objective by level for each trial, where it was stopped or paused, and the rungs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.figures.bands import thinned
from benchmarking.figures.data import Curve, Figure, LinePanel, PlotAxis, PointGroup, Reference
from benchmarking.figures.details import DetailedExperiment, LevelReport
from benchmarking.figures.short_names import changed, short_names

MOST_PANELS = 8
MOST_TRIALS = 150
_KINDS = {"stopped": "stopped", "paused": "paused", "failed": "failed", "diverged": "failed", "infeasible": "failed"}


def learning_curves_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return a panel for one experiment of each benchmark and method: the one of its first seed whose trials reported more than once.

    Args:
        experiments: (n,) in any order.
    """
    short = short_names([name for one in experiments for name in (one.run.benchmark, one.run.method, *one.run.objectives)])
    chosen: dict[tuple[str, str], DetailedExperiment] = {}
    for one in sorted(experiments, key=lambda one: one.run.number):
        if any(len(reports) > 1 for reports in one.reports.values()):
            chosen.setdefault((one.run.benchmark, one.run.method), one)
    # What stops and pauses comes first, as that is what such curves explain.
    ordered = sorted(chosen.values(), key=lambda one: not one.decided_at)
    panels, notes = [], []
    for one in ordered[:MOST_PANELS]:
        panel, left = _panel(one, short)
        panels.append(panel)
        if left:
            notes.append(f"{panel.title}: {left} of its trials are left out, evenly by their value.")
    if not panels:
        notes.append("No trial reported more than once.")
    if len(ordered) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(ordered)} benchmarks and methods.")
    if any(one.decided_at for one in ordered[:MOST_PANELS]):
        notes.append("Upright lines: levels at which the method stopped or paused a trial.")
    return Figure("learning_curves", "Learning curves", tuple(panels), tuple(notes), changed(short))


def _panel(one: DetailedExperiment, short: dict[str, str]) -> tuple[LinePanel, int]:
    objective, mode = next(iter(one.run.objectives.items()))
    by_level = any(report.level is not None for reports in one.reports.values() for report in reports)
    drawn = []
    for trial in one.trials:
        points = _points(one.reports.get(trial.trial, ()), objective, by_level=by_level)
        if points:
            drawn.append((trial, points))
    # The best and the worst stay, and those between by rank.
    ranked = sorted(range(len(drawn)), key=lambda index: drawn[index][1][-1][1] * (1 if mode == "min" else -1))
    kept = sorted(int(place) for place in thinned([float(index) for index in range(len(ranked))], MOST_TRIALS))
    shown = [drawn[ranked[place]] for place in kept]
    shown.sort(key=lambda pair: pair[0].trial)
    curves: list[Curve] = []
    marks: dict[str, list[tuple[float, float, str]]] = {}
    for trial, points in shown:
        status = str(trial.status)
        curves.append(Curve(f"trial {trial.trial}", tuple(x for x, _ in points), tuple(y for _, y in points), group=status))
        kind = _KINDS.get(status)
        if kind is not None:
            marks.setdefault(kind, []).append((*points[-1], f"trial {trial.trial} {trial.cause or status}"))
    groups = tuple(
        PointGroup(kind, tuple(x for x, _, _ in found), tuple(y for _, y, _ in found), texts=tuple(t for _, _, t in found), kind=kind)
        for kind, found in marks.items()
    )
    level_name = getattr(one.definition.fidelity, "reported_as", None) if by_level else None
    values = [y for curve in curves for y in curve.y]
    wide = bool(values) and min(values) > 0 and max(values) / min(values) > 100
    title = f"{short[one.run.benchmark]}: {short[one.run.method]} seed {one.run.number}"
    panel = LinePanel(
        title,
        PlotAxis(str(level_name or "report")),
        PlotAxis(short[objective], log=wide, better=mode),
        tuple(curves),
        groups,
        tuple(Reference(level, f"rung {level:g}") for level in one.decided_at) if by_level else (),
    )
    return panel, len(drawn) - len(shown)


def _points(reports: Sequence[LevelReport], objective: str, *, by_level: bool) -> list[tuple[float, float]]:
    """Return where a trial's curve passes; of a level that was reported twice, as after a restart, the last report counts."""
    found: dict[float, float] = {}
    for report in reports:
        x = report.level if by_level else float(report.number)
        if x is not None and objective in report.values:
            found[x] = report.values[objective]
    return sorted(found.items())
