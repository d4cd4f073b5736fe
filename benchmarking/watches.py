"""What watches a running experiment beside its method: the disk of this machine, and jobs that cannot keep to their limits."""

from __future__ import annotations

import sys
from collections.abc import Callable

from backends.base import Backend
from backends.common.disk import free_bytes
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.disk_space import DiskWatch
from benchmarking.controller.interfaces import Observer
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.tuner import Tuner
from benchmarking.planning.job_builder import JobBuilder
from definitions.backend_registry import backend_description
from definitions.schema import BenchmarkDefinition


def disk_watch(
    spec: ExperimentSpec, backend: Backend, n_workers: int, *, gives_up_early: bool, tuner: Callable[[], Tuner]
) -> tuple[Observer, ...]:
    """Return what watches this machine's disk while jobs fill it; nothing where they run elsewhere."""
    if not backend_description(spec.backend).shares_this_machine:
        return ()

    def written(state: ExperimentState) -> int:
        return sum(backend.written_bytes(job) for job in state.jobs)

    watch = DiskWatch(
        spec.definition.budget,
        spec.definition.keep if gives_up_early else "all",
        n_workers,
        str(spec.folder),
        free=lambda: free_bytes(spec.folder) or sys.maxsize,
        written=written,
        elapsed_s=lambda: tuner().elapsed_s,
        say=lambda text: tuner().note(text),
    )
    return (watch.observe,)


def overrun_watch(definition: BenchmarkDefinition, jobs: JobBuilder, *, tuner: Callable[[], Tuner]) -> tuple[Observer, ...]:
    """Return what ends running jobs that cannot keep to their limits; nothing where nothing is limited."""
    if jobs.worst_s is None and definition.budget.max_cost is None:
        return ()
    from benchmarking.forecasting.running.overrun import OverrunWatch

    watch = OverrunWatch(
        max_cost=definition.budget.max_cost,
        may_run_s=jobs.may_run_s,
        worst_usd=jobs.worst_usd,
        beside_s=jobs.after_stop_s,
        loop=tuner,
    )
    return (watch.observe,)
