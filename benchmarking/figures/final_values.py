"""The value of each seed at the budget at which methods are compared, as points, with each method's aggregate and interval. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarking.comparison.configurations import ConfigurationComparison, rows_of
from benchmarking.comparison.methods import BenchmarkComparison
from benchmarking.comparison.sentences import budget
from benchmarking.figures.best_so_far import MOST_PANELS, objective_axis
from benchmarking.figures.data import Figure, PlotAxis, PointGroup, PointPanel, Reference
from benchmarking.figures.short_names import changed, short_names


def final_values_figure(compared: Sequence[BenchmarkComparison], configurations: Sequence[ConfigurationComparison] = ()) -> Figure:
    """Return a point for each seed and one for each method: the numbers of the comparison's rows.

    Args:
        compared: a comparison of methods for each benchmark.
        configurations: comparisons of configurations, of which each measurement has a point, and each group of configurations one.
    """
    short = short_names(
        [name for made in compared for name in (made.benchmark, made.objective, *(row.method for row in made.rows))]
        + [name for made in configurations for name in (made.benchmark, made.objective, *made.names.values())]
    )
    panels, notes = [], []
    for made in compared:
        methods = [short[row.method] for row in made.rows]
        groups = []
        for row, method in zip(made.rows, methods, strict=True):
            if row.missing:
                lacking = f"{'seed' if len(row.missing) == 1 else 'seeds'} {_numbers(row.missing)}"
                notes.append(f"{short[made.benchmark]}: {method} had no result {budget(made)} with {lacking}.")
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
    for group in configurations:
        if group.ranking is None:
            notes.append(f"{short[group.benchmark]}: nothing was completed.")
        else:
            panels.append(_configurations_panel(group, short))
    if not panels and not configurations:
        notes.append("No method has a result yet.")
    if len(panels) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(panels)} benchmarks; the tables have all.")
    return Figure("final_values", "Final values", tuple(panels[:MOST_PANELS]), tuple(notes), changed(short))


def _configurations_panel(made: ConfigurationComparison, short: Mapping[str, str]) -> PointPanel:
    assert made.ranking is not None
    groups = []
    entries = [made.ranking.leader, *(one.other for one in made.ranking.comparisons)]
    for row, entry in zip(rows_of(made), entries, strict=True):
        name, values = short[row["method"]], tuple(entry.values)
        groups.append(PointGroup(f"{name}, each of its {made.unit}", (name,) * len(values), values, group=name))
        text = f"{name}: {len(values)} {made.unit}"
        groups.append(
            PointGroup(
                name, (name,), (row["value"],), y_low=(row["low"],), y_high=(row["high"],), texts=(text,), kind="aggregate", group=name
            )
        )
    axis = PlotAxis(
        short_names([", ".join(made.keys)])[", ".join(made.keys)], categories=tuple(short[made.names[one.evaluation]] for one in entries)
    )
    objective = PlotAxis(short[made.objective], better=made.mode)
    return PointPanel(f"{short[made.benchmark]}: over all {made.unit}", axis, objective, tuple(groups))


def _numbers(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds[:8])) + (f" and {len(seeds) - 8} more" if len(seeds) > 8 else "")
