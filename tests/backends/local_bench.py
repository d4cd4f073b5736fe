"""A local back-end in a temporary folder with scripts written on the spot."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

from backends.common import process_tree
from backends.events import Closed, Event, Reported
from backends.job_spec import JobSpec, Limits
from backends.local.backend import LocalBackend
from tests.backends.contract import all_closed, check_order, closed, collect, has, of_job


class LocalBench:
    """Makes back-ends and jobs in one folder.

    Args:
        folder: temporary folder.
        options: of `LocalBackend`.
    """

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.options: dict[str, Any] = {"grace_s": 0.5, "leases_dir": folder / "leases"} | options
        self.backend = self.another("experiment")

    def another(self, name: str) -> LocalBackend:
        """Return a further back-end that shares the leases."""
        return LocalBackend(self.folder / name, **self.options)

    def job(self, name: str, code: str, *arguments: str, max_run_s: float = 90.0, **fields: Any) -> JobSpec:
        """Return a job that runs this Python code; `report` is imported for it."""
        script = self.folder / f"{name}.py"
        script.write_text("from outrider_report import report\n" + textwrap.dedent(code))
        return JobSpec(
            name=name,
            trial=1,
            attempt=1,
            script=str(script),
            arguments=arguments,
            limits=Limits(max_run_s),
            **{"instance_type": "local.1cpu", **fields},
        )

    def run(self, *jobs: JobSpec) -> list[Event]:
        """Run jobs to their end and return the events."""
        for job in jobs:
            self.backend.submit(job)
        events = collect(self.backend, all_closed(*(job.name for job in jobs)))
        check_order(events)
        return events

    def end_of(self, job: JobSpec) -> Closed:
        """Run one job and return its end."""
        return closed(self.run(job), job.name)

    def metrics_of(self, job: JobSpec) -> list[Any]:
        """Run one job and return what it reported."""
        return [report.metrics for report in of_job(self.run(job), job.name, Reported)]

    def begin(self, job: JobSpec, reports: int = 1) -> list[Event]:
        """Submit a job and return its events up to a report of it."""
        self.backend.submit(job)
        return collect(self.backend, has(job.name, Reported, reports))

    def log(self, job: JobSpec) -> Path:
        """Return the job's log file."""
        return self.folder / "experiment" / "logs" / f"{job.name}.log"


def alive(pid: int) -> bool:
    """Return whether a process runs, as against being gone or waiting to be reaped."""
    process = process_tree.read_process(pid)
    return process is not None and process.alive


def zombies() -> list[int]:
    """Return this process's children that wait to be reaped."""
    return [
        pid for pid in process_tree.children(os.getpid()) if (process := process_tree.read_process(pid)) is not None and not process.alive
    ]
