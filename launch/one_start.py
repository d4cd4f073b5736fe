"""One start of a definition's script on this machine, before trials are spent: what it prints, and how it ends."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.backend_context import BackendContext
from backends.events import Closed, Noted, Reported, Started
from backends.failures import Cause, Outcome
from backends.registry import backend_class
from benchmarking.planning.inputs import Inputs
from benchmarking.planning.job_builder import JobBuilder
from definitions.builtin_backends import DEFAULT
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec

if TYPE_CHECKING:
    from backends.base import Backend
    from backends.job_spec import JobSpec

_PREFIX = "one-start"
_MOST_WRITTEN = 3


@dataclass(frozen=True)
class OneStart:
    """What one start of a script came to.

    Args:
        output: all that it printed; `tail`: its last lines.
        outcome: how it ended; `message`: why, where it did not end well.
        seconds: that it ran.
        reports: how many were found while it ran.
        is_cut_off: whether it was ended here, since its time was over or a report had come.
        job: what was started.
        written: what `read` could say of files in its folder, rows before event files.
    """

    output: bytes
    tail: tuple[str, ...]
    outcome: Outcome
    message: str
    seconds: float
    reports: int
    is_cut_off: bool
    job: JobSpec
    written: tuple[str, ...] = ()

    @property
    def is_failed(self) -> bool:
        """Whether the script ended by itself, and not well."""
        return not self.is_cut_off and self.outcome is not Outcome.COMPLETED


def start_once(
    definition: BenchmarkDefinition,
    configuration: Mapping[str, Any],
    limit_s: float,
    *,
    until_report: bool = False,
    cache: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    say: Callable[[str], None] = lambda line: None,
) -> OneStart:
    """Run a definition's script once, as a trial on this machine would, in a folder that is gone afterwards.

    Args:
        definition: resolved for this machine.
        configuration: that it is told.
        limit_s: seconds after which it is ended.
        until_report: whether it is ended as soon as it has reported.
        cache: folder of data sets; None where there are none.
        environ: of the controller.
        say: told what is waited for before it starts.

    Raises:
        UserError: the back-end cannot be made, or the data not be prepared.
    """
    definition = definition.model_copy(update={"preload": ()})
    with tempfile.TemporaryDirectory(prefix="outrider-") as scratch:
        backend = backend_class(DEFAULT).create(BackendContext(definition, Path(scratch), 0, environ))
        try:
            with Inputs(definition, DEFAULT, cache or Path(scratch), seed=0, target=None) as inputs:
                builder = JobBuilder(definition, DEFAULT, _PREFIX, inputs.channels, inputs.environment, 0, region=backend.region)
                job = builder.build(0, 1, TrialSpec(configuration), None)
                return _run(backend, replace(job, exclusive=False), limit_s, Path(scratch), say, until_report=until_report)
        finally:
            backend.close()


def _run(backend: Backend, job: JobSpec, limit_s: float, folder: Path, say: Callable[[str], None], *, until_report: bool) -> OneStart:
    backend.submit(job)
    started_at: float | None = None
    reports, is_cut_off = 0, False
    while True:
        # What it waits for before its start (cores that another experiment has) is none of its time.
        left_s = None if started_at is None or is_cut_off else max(0.0, started_at + limit_s - backend.now())
        for event in backend.wait(left_s):
            if isinstance(event, Started):
                started_at = event.at
            elif isinstance(event, Reported):
                reports += 1
            elif isinstance(event, Noted) and event.text:
                say(event.text)
            elif isinstance(event, Closed):
                log = folder / "logs" / f"{job.name}.log"
                output = log.read_bytes() if log.exists() else b""
                seconds = (event.ended_at or event.at) - (event.started_at or event.at)
                written = _written(folder / "jobs" / job.name)
                return OneStart(output, tuple(event.log_tail), event.outcome, event.message, seconds, reports, is_cut_off, job, written)
        if started_at is not None and not is_cut_off and (backend.now() >= started_at + limit_s or (until_report and reports)):
            is_cut_off = True
            backend.stop(job.name, Cause.SCHEDULER)


def _written(folder: Path) -> tuple[str, ...]:
    files = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    rows = [str(one) for one in files if one.suffix in (".csv", ".jsonl")]
    events = [f"{{path: {one.parent}, format: tensorboard}}" for one in files if "tfevents" in one.name]
    return tuple(dict.fromkeys([*rows, *events]))[:_MOST_WRITTEN]
