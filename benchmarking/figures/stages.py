"""Where the time of jobs goes: stages in the service's words, phases of the script, as stacked bars. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from benchmarking.figures.data import BarPanel, BarStack, Figure, PlotAxis
from benchmarking.figures.details import DetailedExperiment, JobDetail
from benchmarking.figures.short_names import changed, short_names

_ORDER = ("Pending", "Starting", "Downloading", "Training", "Interrupted", "Stopping", "Uploading")
_PHASES = ("startup", "list", "download", "load", "train", "validate", "checkpoint")
MOST_BARS = 60


def stages_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return a bar for each benchmark and method, of the mean job's seconds; of a single experiment one for each trial.

    Args:
        experiments: (n,) in any order.
    """
    short = short_names([name for one in experiments for name in (one.run.benchmark, one.run.method)])
    bars: dict[str, list[JobDetail]] = {}
    several = len({one.run.benchmark for one in experiments}) > 1
    for one in experiments:
        method = short[one.run.method]
        name = f"{short[one.run.benchmark]}, {method}" if several else method
        for job in one.jobs:
            bars.setdefault(name if len(experiments) > 1 else f"trial {job.trial}", []).append(job)
    of = "mean job" if len(experiments) > 1 else "trial"
    panels, notes = [], []
    for title, order, parts in (
        ("Stages", _ORDER, {name: [job.stages_s for job in jobs if job.stages_s] for name, jobs in bars.items()}),
        ("Phases of the script", _PHASES, {name: [job.phases_s for job in jobs if job.phases_s] for name, jobs in bars.items()}),
    ):
        known = {name: found for name, found in parts.items() if found}
        shown = dict([*known.items()][:MOST_BARS])
        if not known:
            notes.append(f"{title}: no job says.")
            continue
        if len(known) > MOST_BARS:
            notes.append(f"{title}: the first {MOST_BARS} of {len(known)} bars.")
        panels.append(_panel(f"{title} of the {of}", order, shown, mean=len(experiments) > 1))
    return Figure("stages", "Stages and phases", tuple(panels), tuple(notes), changed(short))


def _panel(title: str, order: Sequence[str], found: Mapping[str, Sequence[Mapping[str, float]]], *, mean: bool) -> BarPanel:
    names = dict.fromkeys(name for parts in found.values() for part in parts for name in part)
    ordered = [name for name in order if name in names] + [name for name in names if name not in order]
    stacks = tuple(
        BarStack(
            name,
            tuple(math.fsum(part.get(name, 0.0) for part in parts) / (len(parts) if mean else 1) for parts in found.values()),
        )
        for name in ordered
    )
    return BarPanel(title, PlotAxis("", categories=tuple(found)), PlotAxis("time", "s"), stacks)
