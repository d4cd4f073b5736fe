"""Parallel coordinates: each configuration as a line across the axes of its space, coloured by what it came to. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.figures.bands import thinned
from benchmarking.figures.data import Figure, ParallelAxis, ParallelLine, ParallelPanel, PlotAxis
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.parameters import MeasuredPoint, measured_points, named_in, ticks, varying_axes
from benchmarking.figures.short_names import changed, short_names
from benchmarking.report.text import configuration_text

MOST_PANELS = 8
_UNFINISHED = ("stopped", "paused")
MOST_LINES = 120
"""Lines of a panel: of more, none is told from its neighbours."""


def parallel_axes_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return a panel for each benchmark, with the configurations of all its experiments.

    Args:
        experiments: (n,) in any order.
    """
    benchmarks = list(dict.fromkeys(one.run.benchmark for one in experiments))
    whole = named_in(experiments)
    labels: list[str] = []
    panels, notes = [], []
    found: list[tuple[str, list[DetailedExperiment], list[MeasuredPoint]]] = []
    for benchmark in benchmarks:
        mine = [one for one in experiments if one.run.benchmark == benchmark]
        points = measured_points(mine)
        if points and varying_axes(mine):
            found.append((benchmark, mine, points))
            labels += [label for domain in varying_axes(mine).values() for label in ticks(domain)[1]]
    short = short_names([*whole, *labels, *(point.name for _, _, points in found for point in points)])
    for benchmark, mine, points in found[:MOST_PANELS]:
        objective, mode = next(iter(mine[0].run.objectives.items()))
        axes = varying_axes(mine)
        sign = 1.0 if mode == "min" else -1.0
        ordered = sorted(points, key=lambda point: (objective not in point.values, sign * point.values.get(objective, 0.0)))
        kept = [ordered[int(place)] for place in thinned([float(index) for index in range(len(ordered))], MOST_LINES)]
        if len(kept) < len(points):
            notes.append(f"{short[benchmark]}: {len(kept)} of {len(points)} configurations, evenly by their value.")
        partial = sum(point.status in _UNFINISHED and objective in point.values for point in kept)
        if partial:
            were = (
                "was stopped or paused, and has the value that it"
                if partial == 1
                else "were stopped or paused, and have the value that they"
            )
            notes.append(f"{short[benchmark]}: {partial} of these {were} had reached by then.")
        lines = tuple(
            ParallelLine(
                short[point.name],
                tuple(point.places[name] for name in axes),
                point.values.get(objective),
                configuration_text(point.configuration, [name for name in axes if name in point.configuration])[:2000],
                point.status,
            )
            # The best last, so that it is drawn above all others.
            for point in reversed(kept)
        )
        stands = [(name, *ticks(domain)) for name, domain in axes.items()]
        panels.append(
            ParallelPanel(
                short[benchmark],
                tuple(ParallelAxis(short[name], places, tuple(short[label] for label in said)) for name, places, said in stands),
                PlotAxis(short[objective], better=mode),
                lines,
            )
        )
    if not panels:
        notes.append("No benchmark has a space of which a configuration was tried.")
    if len(found) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(found)} benchmarks.")
    return Figure("parallel_axes", "Configurations across their parameters", tuple(panels), tuple(notes), changed(short))
