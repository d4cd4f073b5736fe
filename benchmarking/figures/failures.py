"""Which jobs did not do what was asked, by cause and method, and what they said last. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from backends.failures import Cause
from benchmarking.figures.data import BarPanel, BarStack, Figure, PlotAxis, TablePanel
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.short_names import changed, short_names

_MEANT = frozenset({Cause.SCHEDULER, Cause.PAUSED, Cause.BUDGET, Cause.PREFIX})
"""Causes that are no failures: the method or the budget wanted it so."""


def failures_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return bars of causes by benchmark and method, and a table with the last message of each.

    Args:
        experiments: (n,) in any order.
    """
    several = len({one.run.benchmark for one in experiments}) > 1
    short = short_names([name for one in experiments for name in (one.run.benchmark, one.run.method)])
    counts: dict[str, Counter[str]] = {}
    last: dict[tuple[str, str], tuple[str, str]] = {}
    for one in experiments:
        bar = f"{short[one.run.benchmark]}, {short[one.run.method]}" if several else short[one.run.method]
        for job in one.jobs:
            if job.cause is not None and job.cause not in _MEANT:
                counts.setdefault(bar, Counter())[job.cause] += 1
                last[bar, job.cause] = (f"seed {one.run.number}, trial {job.trial}", job.message)
    jobs = sum(len(one.jobs) for one in experiments)
    if not counts:
        return Figure("failures", "Failures by cause", (), (f"None of {jobs} jobs failed.",), changed(short))
    causes = sorted({cause for found in counts.values() for cause in found}, key=lambda cause: -sum(one[cause] for one in counts.values()))
    bars = BarPanel(
        "Jobs that failed",
        PlotAxis("", categories=tuple(counts)),
        PlotAxis("jobs"),
        tuple(BarStack(cause, tuple(float(found[cause]) for found in counts.values())) for cause in causes),
    )
    rows = tuple((bar, cause, found[cause], *last[bar, cause]) for bar, found in counts.items() for cause in causes if found[cause])
    table = TablePanel("What they said last", ("method", "cause", "jobs", "last", "message"), rows)
    failed = sum(found.total() for found in counts.values())
    return Figure("failures", "Failures by cause", (bars, table), (f"{failed} of {jobs} jobs failed.",), changed(short))
