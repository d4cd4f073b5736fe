"""Which parameters matter: what each explains of an objective's variance over its space, with the spread over trees. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.analysis.fanova import LEAST_POINTS, importances
from benchmarking.figures.data import BarPanel, BarStack, Figure, PlotAxis
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.parameters import measured_points, named_in, varying_axes
from benchmarking.figures.short_names import changed, short_names

MOST_PANELS = 8
MOST_POINTS = 1_000
MOST_BARS = 12
_ABSENT = -0.5


def importance_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return bars of importance, a panel a benchmark, of the completed configurations of all its experiments.

    Of equal configurations of several experiments each counts, as its measurement does.

    Args:
        experiments: (n,) in any order.
    """
    short = short_names(named_in(experiments))
    benchmarks = list(dict.fromkeys(one.run.benchmark for one in experiments))
    panels, notes = [], []
    for benchmark in benchmarks[:MOST_PANELS]:
        mine = [one for one in experiments if one.run.benchmark == benchmark]
        panel, said = _panel(mine, short)
        panels += [] if panel is None else [panel]
        notes += [f"{short[benchmark]}: {line}" for line in said]
    if len(benchmarks) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(benchmarks)} benchmarks.")
    if panels:
        notes.append("Functional ANOVA (Hutter et al. 2014): shares of the variance over the whole space, 10 % to 90 % of the trees.")
    return Figure("importance", "Importance of parameters", tuple(panels), tuple(notes), changed(short))


def _panel(experiments: Sequence[DetailedExperiment], short: dict[str, str]) -> tuple[BarPanel | None, list[str]]:
    import numpy as np

    objective = next(iter(experiments[0].run.objectives))
    axes = list(varying_axes(experiments))
    points = [point for point in measured_points(experiments) if point.is_full and objective in point.values]
    if len(points) < LEAST_POINTS or not axes:
        why = f"{len(points)} completed trials, and {LEAST_POINTS} are needed" if axes else "no parameter varies"
        return None, [f"not decided: {why}."]
    notes = []
    if len(points) > MOST_POINTS:
        notes.append(f"the first {MOST_POINTS} of {len(points)} completed configurations.")
        points = points[:MOST_POINTS]
    places = [[_ABSENT if (place := point.places[name]) is None else place for name in axes] for point in points]
    found = importances(np.asarray(places, dtype=np.float64), np.asarray([point.values[objective] for point in points]))
    if not found:
        return None, [f"{short[objective]} is the same for all configurations, so nothing explains it."]
    shown = found[:MOST_BARS]
    names = tuple(" x ".join(short[axes[number]] for number in one.parameters) for one in shown)
    bars = BarStack(
        f"share of the variance of {short[objective]}",
        tuple(one.share for one in shown),
        tuple(one.low for one in shown),
        tuple(one.high for one in shown),
    )
    # Where even the greatest cannot be told from the next, no order is claimed.
    if len(found) > 1 and found[0].low < found[1].high:
        notes.append(f"which of {names[0]} and {names[1]} matters more is not decided: their intervals overlap.")
    if len(found) > MOST_BARS:
        notes.append(f"the {MOST_BARS} greatest of {len(found)}; the others explain at most {found[MOST_BARS].share:.1%} each.")
    title = f"{short[experiments[0].run.benchmark]}: {len(points)} configurations"
    return BarPanel(title, PlotAxis("parameter", categories=names), PlotAxis("share of variance"), (bars,)), notes
