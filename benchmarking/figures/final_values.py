"""The value of each seed at the budget at which methods are compared, as points, with each method's aggregate and interval. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.comparison.methods import BenchmarkComparison
from benchmarking.comparison.sentences import budget
from benchmarking.figures.best_so_far import MOST_PANELS, objective_axis
from benchmarking.figures.data import Figure, PlotAxis, PointGroup, PointPanel, Reference
from benchmarking.figures.short_names import changed, short_names


def final_values_figure(compared: Sequence[BenchmarkComparison]) -> Figure:
    """Return a point for each seed and one for each method: the numbers of the comparison's rows.

    Args:
        compared: a comparison for each benchmark.
    """
    short = short_names([name for made in compared for name in (made.benchmark, made.objective, *(row.method for row in made.rows))])
    panels, notes = [], []
    for made in compared:
        methods = [short[row.method] for row in made.rows]
        groups = []
        for row, method in zip(made.rows, methods, strict=True):
            if row.missing:
                notes.append(f"{short[made.benchmark]}: {method} had no result {budget(made)} with seeds {_numbers(row.missing)}.")
            if not row.finals or row.value is None:
                continue
            seeds = sorted(row.finals)
            texts = tuple(f"{method} seed {seed}" for seed in seeds)
            values = tuple(row.finals[seed] for seed in seeds)
            groups.append(PointGroup(f"{method}, each seed", (method,) * len(seeds), values, texts=texts, group=method))
            ends = (None, None) if row.interval is None else (row.interval.low, row.interval.high)
            text = f"{method}: {len(seeds)} {'seed' if len(seeds) == 1 else 'seeds'}"
            groups.append(
                PointGroup(
                    method, (method,), (row.value,), y_low=(ends[0],), y_high=(ends[1],), texts=(text,), kind="aggregate", group=method
                )
            )
        if groups:
            known = [] if made.best_known is None else [Reference(made.best_known, "best known value", "y")]
            axis = PlotAxis("method", categories=tuple(methods))
            panels.append(
                PointPanel(f"{short[made.benchmark]}: {budget(made)}", axis, objective_axis(made), tuple(groups), (), tuple(known))
            )
    if not panels:
        notes.append("No method has a result yet.")
    if len(panels) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(panels)} benchmarks; the tables have all.")
    return Figure("final_values", "Final values", tuple(panels[:MOST_PANELS]), tuple(notes), changed(short))


def _numbers(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds[:8])) + (f" and {len(seeds) - 8} more" if len(seeds) > 8 else "")
