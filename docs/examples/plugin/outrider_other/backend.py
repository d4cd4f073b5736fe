"""The back-end `other`: each job is a process of a second interpreter. `backends.base.Backend` says what a back-end promises."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

import backends
from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.capabilities import Capabilities
from backends.checkpoint_store import CheckpointStore
from backends.common.clock import SteadyClock
from backends.common.job_output import Output
from backends.common.reactor import Reactor, ScheduledCall
from backends.events import Accepted, Closed, Ended, Event, Progressed, Rejected, Reported, Started
from backends.failures import Cause, Outcome, classify_exit
from backends.job_spec import JobSpec
from backends.reports import Report
from definitions.errors import UserError
from outrider_other.description import DESCRIPTION, OtherBlock, cores_of

REPORTER = Path(backends.__file__).parent / "reporter"
"""Folder with `outrider_report.py`, which scripts import."""


class NoCheckpoints(CheckpointStore):
    """What a back-end says that keeps none (`Capabilities.checkpoints` is false)."""

    def copy(self, source: str, target: str) -> None:
        """Do nothing."""

    def delete(self, keys: Sequence[str]) -> None:
        """Do nothing."""

    def exists(self, key: str) -> bool:
        """Return that there is none."""
        return False


class _Job:
    """A process that runs, and what is known of it."""

    def __init__(self, spec: JobSpec, process: subprocess.Popen[bytes], output: Output, started_at: float) -> None:
        self.spec, self.process, self.output, self.started_at = spec, process, output, started_at
        self.ended = os.pidfd_open(process.pid)
        self.reason: Cause | None = None
        self.timed_out = False
        self.is_watched = True
        self.timers: list[ScheduledCall] = []

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


class OtherBackend(Backend):
    """Runs jobs as processes that share a number of cores; who does not fit waits in a queue.

    Args:
        folder: the experiment's; logs go to `other-logs/` in it.
        python: interpreter; `cores`: that all jobs share; `site`: whose prices count.
        environ: variables that every job gets.
    """

    capabilities = Capabilities(price_label="in-house")
    checkpoints: CheckpointStore = NoCheckpoints()

    def __init__(self, folder: Path, python: str, cores: int, site: str, environ: Mapping[str, str]) -> None:
        self._logs = folder.absolute() / "other-logs"
        self._logs.mkdir(parents=True, exist_ok=True)
        self._python, self._cores, self._environ = python, cores, dict(environ)
        self.region = site
        self._now = SteadyClock()
        self._reactor = Reactor(self._now)
        self._names: set[str] = set()
        self._queue: deque[JobSpec] = deque()
        self._jobs: dict[str, _Job] = {}
        self._events: list[Event] = []
        self._is_closed = False

    @classmethod
    def create(cls, context: BackendContext) -> OtherBackend:
        """Make one from the block `other` of the definition."""
        block = context.definition.block(DESCRIPTION.name, OtherBlock)
        site = DESCRIPTION.region(block, context.environ)
        python = context.definition.python or sys.executable
        return cls(context.folder, python, block.cores or 2, site, context.environ or os.environ)

    def now(self) -> float:
        """Return UTC seconds since the epoch."""
        return self._now()

    def capacity(self, instance_type: str) -> int:
        """Return how many jobs of a type fit at once."""
        return self._cores // cores_of(instance_type)

    def submit(self, job: JobSpec) -> None:
        """Start a job, or let it wait for cores."""
        if job.name in self._names:
            raise ValueError(f"job {job.name!r} was submitted before")
        self._names.add(job.name)
        try:
            fits = self.capacity(job.instance_type) > 0
        except UserError as error:
            self._events.append(Rejected(job.name, self.now(), Cause.BAD_REQUEST, str(error)))
            return
        if not fits:
            message = f"{job.instance_type} is more than the {self._cores} cores there are"
            self._events.append(Rejected(job.name, self.now(), Cause.BAD_REQUEST, message))
            return
        self._queue.append(job)
        self._start_what_fits()

    def stop(self, job: str, reason: Cause) -> None:
        """Ask a job to end; the first reason counts."""
        waiting = next((spec for spec in self._queue if spec.name == job), None)
        if waiting is not None:
            self._queue.remove(waiting)
            self._events.append(Closed(job, self.now(), Outcome.STOPPED, reason))
        elif job in self._jobs and self._jobs[job].reason is None:
            self._jobs[job].reason = reason
            self._terminate(self._jobs[job])

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return what happened, or happens next within the time."""
        until = None if timeout_s is None else self.now() + timeout_s
        while not self._events and (self._jobs or until is not None):
            if self._reactor.turn(until) or (until is not None and self.now() >= until):
                break
        found, self._events = self._events, []
        return found

    def wake(self) -> None:
        """End the current or the next `wait`."""
        self._reactor.wake()

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Report the jobs of an earlier controller as lost: this back-end's jobs are not looked for again."""
        for job in jobs:
            self._names.add(job.spec.name)
            at = max(self.now(), last_seen_at)
            self._events.append(Closed(job.spec.name, at, Outcome.FAILED, Cause.CONTROLLER, "the controller that ran it is gone"))

    def close(self, grace_s: float | None = None) -> list[str]:
        """Stop what runs and return what could not be stopped."""
        if self._is_closed:
            return []
        self._is_closed = True
        self._queue.clear()
        for job in self._jobs.values():
            job.signal(signal.SIGTERM)
        until = self.now() + (5.0 if grace_s is None else grace_s)
        while self._jobs and self.now() < until:
            self._reactor.turn(until)
        for job in list(self._jobs.values()):
            job.signal(signal.SIGKILL)
            self._on_end(job)
        self._reactor.close()
        return []

    def _start_what_fits(self) -> None:
        """Start jobs in the order of their submission, as long as the next one's cores are free."""
        while self._queue and not self._is_closed:
            used = sum(cores_of(job.spec.instance_type) for job in self._jobs.values())
            if used + cores_of(self._queue[0].instance_type) > self._cores:
                return
            self._start(self._queue.popleft())

    def _start(self, spec: JobSpec) -> None:
        ours, theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(ours, False)
        try:
            process = subprocess.Popen(
                [self._python, spec.script, *spec.arguments],
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                env=self._environment(spec),
                start_new_session=True,
            )
        except OSError as error:
            os.close(ours)
            self._events.append(Rejected(spec.name, self.now(), Cause.BAD_REQUEST, f"{self._python}: {error}"))
            return
        finally:
            os.close(theirs)
        job = _Job(spec, process, Output(ours, self._logs / f"{spec.name}.log", spec.metrics, spec.log_cap_bytes), self.now())
        self._jobs[spec.name] = job
        self._events += [Accepted(spec.name, job.started_at), Started(spec.name, job.started_at)]
        self._reactor.watch(ours, lambda: self._on_output(job))
        self._reactor.watch(job.ended, lambda: self._on_end(job))
        if spec.limits.max_run_s is not None:
            job.timers.append(self._reactor.at(job.started_at + spec.limits.max_run_s, lambda: self._on_time_out(job)))

    def _environment(self, spec: JobSpec) -> dict[str, str]:
        """Return a job's variables: how it finds the reporter, its data, and what its trial is."""
        found = {**self._environ, **spec.environment, "PYTHONUNBUFFERED": "1"}
        found["PYTHONPATH"] = os.pathsep.join(filter(None, [str(REPORTER), self._environ.get("PYTHONPATH")]))
        for channel in spec.inputs:
            for what, value in (("CHANNEL", channel.uri), ("READER", channel.reader), ("LAYOUT", channel.layout)):
                found[f"OUTRIDER_{what}_{channel.name.upper()}"] = value
        return found

    def _on_output(self, job: _Job) -> None:
        self._report(job, job.output.take())
        if job.output.at_end:
            self._unwatch_output(job)

    def _unwatch_output(self, job: _Job) -> None:
        if job.is_watched:
            job.is_watched = False
            self._reactor.unwatch(job.output.descriptor)

    def _on_time_out(self, job: _Job) -> None:
        job.timed_out = True
        self._terminate(job)

    def _terminate(self, job: _Job) -> None:
        job.signal(signal.SIGTERM)
        job.timers.append(self._reactor.at(self.now() + job.spec.limits.grace_s, lambda: job.signal(signal.SIGKILL)))

    def _on_end(self, job: _Job) -> None:
        """Take what is left of the output, free the cores, and say how the job ended."""
        code = job.process.wait()
        # Whatever the script started goes with it, so that its cores are really free.
        job.signal(signal.SIGKILL)
        self._report(job, job.output.take(most_chunks=1000))
        self._unwatch_output(job)
        self._report(job, job.output.close())
        self._reactor.unwatch(job.ended)
        os.close(job.ended)
        for timer in job.timers:
            timer.cancel()
        del self._jobs[job.spec.name]
        at, tail = self.now(), job.output.parser.tail
        outcome, cause, message = self._outcome(job, code, tail)
        self._events.append(Ended(job.spec.name, at))
        self._events.append(
            Closed(
                job.spec.name,
                at,
                outcome,
                cause,
                message,
                started_at=job.started_at,
                ended_at=at,
                billable_s=at - job.started_at,
                usage=job.output.parser.usage(),
                log_tail=tail,
            )
        )
        self._start_what_fits()

    def _outcome(self, job: _Job, code: int, tail: Sequence[str]) -> tuple[Outcome, Cause | None, str]:
        if job.reason is not None:
            return Outcome.STOPPED, job.reason, ""
        if job.timed_out:
            return Outcome.FAILED, Cause.TIME_OUT, f"ran longer than max_run = {job.spec.limits.max_run_s:g} s"
        if code != 0:
            return Outcome.FAILED, *classify_exit(code, tail)
        if not job.output.parser.counts.delivered:
            return Outcome.FAILED, Cause.NO_METRICS, "it ended without a report"
        return Outcome.COMPLETED, None, ""

    def _report(self, job: _Job, reports: Sequence[Report]) -> None:
        for one in reports:
            at = self.now()
            elapsed_s = at - job.started_at if one.elapsed_s is None else one.elapsed_s
            self._events.append(Reported(job.spec.name, at, one.sequence, one.metrics, elapsed_s, one.incarnation))
        now = self.now()
        self._events += [Progressed.of(job.spec.name, now, one) for one in job.output.parser.take_progress(now - job.started_at)]
