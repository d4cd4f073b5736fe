"""What was paid for: dollars of each method by what became of the jobs, and of instances that were kept. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarking.figures.data import BarPanel, BarStack, Figure, PlotAxis
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.dollar_units import USD, in_dollars_of
from benchmarking.figures.short_names import changed, short_names

KEPT = "kept instances"
_FIRST = ("completed", "stopped", "paused", "failed", "infeasible", "diverged", "interrupted", "waiting")
MOST_PANELS = 24


def costs_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return a bar for each method, a panel a benchmark: dollars over all its seeds.

    Jobs whose price is unknown are counted in a note, and add nothing: their sum is a lower bound then.

    Args:
        experiments: (n,) in any order.
    """
    short = short_names([name for one in experiments for name in (one.run.benchmark, one.run.method)])
    benchmarks = list(dict.fromkeys(one.run.benchmark for one in experiments))
    panels, notes = [], []
    for benchmark in benchmarks:
        mine = [one for one in experiments if one.run.benchmark == benchmark]
        paid: dict[str, dict[str, list[float]]] = {}
        unknown = 0
        for one in mine:
            parts = paid.setdefault(short[one.run.method], {})
            for job in one.jobs:
                if job.status and job.started_s is not None:
                    unknown += job.cost_usd is None
                    parts.setdefault(_kind(job.status, job.cause), []).append(job.cost_usd or 0.0)
            for kept in one.kept:
                unknown += kept.until_s is not None and kept.cost_usd is None
                parts.setdefault(KEPT, []).append(kept.cost_usd or 0.0)
        names = dict.fromkeys(name for parts in paid.values() for name in parts)
        ordered = [name for name in (*_FIRST, *names) if name in names and name != KEPT] + ([KEPT] if KEPT in names else [])
        stacks = tuple(BarStack(name, tuple(math.fsum(parts.get(name, ())) for parts in paid.values())) for name in dict.fromkeys(ordered))
        if unknown:
            notes.append(f"{short[benchmark]}: the price of {unknown} jobs is unknown, so that bars are too short.")
        if stacks:
            cost = in_dollars_of(PlotAxis("cost", USD), [one.run for one in mine])
            panels.append(BarPanel(short[benchmark], PlotAxis("method", categories=tuple(paid)), cost, stacks))
    if not panels:
        notes.append("No job has ended.")
    if len(panels) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(panels)} benchmarks.")
    return Figure("costs", "Where the money went", tuple(panels[:MOST_PANELS]), tuple(notes), changed(short))


def _kind(status: str, cause: str | None) -> str:
    """Return what became of a job: one that waits to be tried again has failed."""
    return "failed" if status == "waiting" and cause is not None else status
