"""A process that runs jobs on its machine for a controller elsewhere: told through its standard input, it tells through its output.

Started as `python -m backends.processes.node`. At the end of its input, which is what the end of whoever started it looks like, it ends its
jobs as ever: TERM, grace, KILL. Where it is killed itself, its watchdog ends them.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from backends.common import memory
from backends.common.activation import activation_of
from backends.common.clock import SteadyClock
from backends.common.cpu_quota import usable_cores
from backends.common.reactor import Reactor
from backends.events import Accepted, Closed, Event, Noted, Progressed, Reported
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.processes.checkpoints import LocalCheckpoints
from backends.processes.job import ProcessJob, Termination
from backends.processes.moved import moved
from backends.processes.node_messages import (
    FinishJobs,
    FrameBuffer,
    LogPiece,
    NodeBatch,
    NodeMessage,
    NodeSettings,
    StartJob,
    StopJob,
    framed_batch,
)
from backends.processes.runner import JobRunner
from backends.processes.scratch import VARIABLE as SCRATCH
from backends.processes.scratch import ScratchFolder
from backends.processes.share import MachineShare
from backends.processes.stopping import interrupt_jobs, stop_job, wait_until_gone

_CHUNK_BYTES = 1 << 20
_LONGEST_TURN_S = 3600.0
_NO_CORE = 1 << 20
"""Number of the first core that no machine has; a process that is to run on these alone runs on all."""


@dataclass(frozen=True)
class PromisedShare:
    """What a job was promised by whoever chose the machine; it is tied to no core."""

    count: int
    gpus: tuple[str, ...]

    @property
    def cores(self) -> tuple[int, ...]:
        """As many numbers as it was promised cores, none of which the machine has."""
        return tuple(range(_NO_CORE, _NO_CORE + self.count))

    def release(self) -> None:
        """Do nothing, as it is given back by whoever promised it."""


class Mirror(Protocol):
    """Keeps checkpoints elsewhere than in the folder that jobs have them in."""

    def bring(self, spec: JobSpec, done: Callable[[str], None]) -> None:
        """Bring a job's checkpoint to its folder, and keep it from then on; `done` is called with an error, empty for none."""
        ...

    def finish(self, key: str, done: Callable[[], None]) -> None:
        """Keep what is left of a checkpoint whose job has ended; then `done` is called."""
        ...


Post = Callable[[Callable[[], None]], None]
MirrorOf = Callable[[NodeSettings, Path, Post, Callable[[str], None]], Mirror | None]
"""Makes a mirror for settings, of a folder of checkpoints; given what has a call made by the jobs' own thread, and what tells people."""


class NodeJobs:
    """Jobs of one machine.

    Args:
        settings: how they are run.
        send: takes each batch.
        clock: UTC seconds since the epoch, never going back.
        scratch: what relative paths in messages are relative to.
        mirror_of: makes what keeps checkpoints elsewhere.
    """

    def __init__(
        self,
        settings: NodeSettings,
        send: Callable[[NodeBatch], None],
        clock: Callable[[], float] | None = None,
        scratch: ScratchFolder | None = None,
        mirror_of: MirrorOf = lambda settings, folder, post, say: None,
    ) -> None:
        self._send = send
        self._now = clock or SteadyClock()
        self._settings = settings
        self._scratch = scratch or ScratchFolder(os.environ)
        folder = self._scratch.within(settings.folder)
        for name in ("jobs", "logs"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.reactor = Reactor(self._now)
        self._events: list[Event] = []
        self._logs: dict[str, bytearray] = {}
        self._printed: dict[str, int] = {}
        self._jobs: dict[str, ProcessJob] = {}
        self._mirrored: set[str] = set()
        self._count = 0
        self._finish_in_s: float | None = None
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._mirror = mirror_of(settings, folder / "checkpoints", self._post, self.note)
        kept = Path(settings.checkpoints) if settings.checkpoints and self._mirror is None else folder / "checkpoints"
        environment = dict(os.environ if settings.environment is None else settings.environment)
        environment.pop(SCRATCH, None)
        self._runner = JobRunner(
            folder,
            self.reactor,
            settings.token,
            now=self._now,
            emit=self._emit,
            environment=environment,
            python=settings.python or sys.executable,
            grace_s=settings.grace_s,
            checkpoints=LocalCheckpoints(kept),
            preload=settings.preload,
            activation=activation_of(settings.python or None),
            follow=self._follow if settings.sends_logs else None,
        )

    @property
    def is_over(self) -> bool:
        """Whether it was told to finish."""
        return self._finish_in_s is not None

    def handle(self, message: NodeMessage) -> None:
        """Do what a message asks."""
        if isinstance(message, StartJob):
            self._start(message)
        elif isinstance(message, StopJob):
            if message.name in self._jobs:
                stop_job(self._runner, self._jobs[message.name], message.reason)
        elif isinstance(message, FinishJobs):
            self._finish_in_s = message.grace_s

    def turn(self, until: float | None = None) -> None:
        """Wait for the next thing to happen, and send what comes of it."""
        self.reactor.turn(self._now() + _LONGEST_TURN_S if until is None else until)
        self.flush()

    def flush(self) -> None:
        """Send what has happened."""
        while not self._calls.empty():
            self._calls.get()()
        if self._events or self._logs:
            self._send(self._batch())

    def finish(self, grace_s: float | None = None) -> list[str]:
        """End all jobs, release everything, and return the names of those that could not be ended; its last batch says them."""
        wanted_s = self._finish_in_s if grace_s is None else grace_s
        grace_s = min(self._settings.grace_s, self._settings.grace_s if wanted_s is None else wanted_s)
        interrupt_jobs(self._runner, [*self._jobs.values()], self._now(), grace_s)
        survivors = wait_until_gone(self.reactor, self._jobs, self._now, grace_s, self.flush)
        self._runner.close(survivors=bool(survivors))
        if not survivors:
            self._scratch.leave(self._settings.folder)  # before the last word, after which this process may be killed
        self._send(replace(self._batch(), is_urgent=True, survivors=tuple(survivors)))
        self.reactor.close()
        return survivors

    def _start(self, message: StartJob) -> None:
        spec = moved(message.spec, str(self._scratch.within(message.source))) if message.source else message.spec
        spec = replace(spec, environment={**message.environment, **spec.environment})
        self._count += 1
        share = MachineShare(message.cores, len(message.gpus), message.memory_bytes)
        limit_bytes = message.memory_bytes or memory.machine_bytes() * max(1, message.cores) // max(1, message.cores, len(usable_cores()))
        job = ProcessJob(spec, share, f"{self._settings.token}.{self._count};", limit_bytes, PromisedShare(message.cores, message.gpus))
        self._jobs[spec.name] = job
        missing = [channel for channel in spec.inputs if channel.uri.startswith("/") and not Path(channel.uri).exists()]
        if missing:
            self._emit(Accepted(spec.name, self._now()))
            names = ", ".join(f"{channel.name} ({channel.uri})" for channel in missing)
            message_text = f"data that are not on node {os.uname().nodename}: {names}; jobs there read a shared path or s3://"
            self._runner.give_up(job, Termination(Outcome.FAILED, Cause.BAD_REQUEST, message_text))
        elif self._mirror is not None and spec.checkpoint:
            self._mirrored.add(spec.name)
            # It is there when the job starts, as it was asked for, so that nothing is to be copied or cleared any more.
            job.spec = replace(spec, restore_from=spec.checkpoint)
            self._mirror.bring(spec, partial(self._brought, job))
        else:
            self._runner.start(job)

    def _brought(self, job: ProcessJob, error: str) -> None:
        if job.ended_at is not None:
            return  # given up meanwhile
        if error:
            self._emit(Accepted(job.spec.name, self._now()))
            why = f"its checkpoint cannot be brought: {error}"
            self._runner.give_up(job, Termination(Outcome.FAILED, Cause.SERVICE_ERROR, why))
        else:
            self._runner.start(job)

    def _post(self, call: Callable[[], None]) -> None:
        self._calls.put(call)
        self.reactor.wake()

    def note(self, text: str) -> None:
        """Let the controller know something that is no job's."""
        self._events.append(Noted("", self._now(), text=text))

    def _follow(self, job: str, text: bytes) -> None:
        self._logs.setdefault(job, bytearray()).extend(text)

    def _emit(self, event: Event) -> None:
        if isinstance(event, Closed) and self._mirror is not None and event.job in self._mirrored:
            # Whoever hears of the end may start from the checkpoint.
            self._mirrored.remove(event.job)
            self._mirror.finish(self._jobs[event.job].spec.checkpoint, partial(self._emit, event))
            return
        self._events.append(event)
        if isinstance(event, Closed):
            del self._jobs[event.job]

    def _batch(self) -> NodeBatch:
        is_urgent = any(not isinstance(event, (Reported, Progressed)) for event in self._events)
        logs = tuple(LogPiece(job, bytes(text), self._printed.get(job, 0)) for job, text in self._logs.items())
        for piece in logs:
            self._printed[piece.job] = piece.at + len(piece.text)
        for event in self._events:
            if isinstance(event, Closed):
                self._printed.pop(event.job, None)
        events, self._events, self._logs = tuple(self._events), [], {}
        return NodeBatch(self._now(), events, logs, is_urgent)


class _Noting(logging.Handler):
    """Lets what is logged on a node be known to its controller, as nobody reads its output."""

    def __init__(self, jobs: NodeJobs) -> None:
        super().__init__(logging.WARNING)
        self._jobs = jobs

    def emit(self, record: logging.LogRecord) -> None:
        """Pass on what is said."""
        self._jobs.note(record.getMessage())


def main(mirror_of: MirrorOf = lambda settings, folder, post, say: None) -> None:
    """Run jobs until the input ends, or a message says so; `mirror_of`: see `NodeJobs`."""
    # What ends the terminal of a controller on this machine ends this process by its input.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Nothing that a job or a library prints may come between messages.
    output = os.dup(1)
    os.dup2(2, 1)
    frames = FrameBuffer()
    waiting: list[bytes] = []
    while not waiting:
        piece = os.read(0, _CHUNK_BYTES)
        if not piece:
            return
        waiting += frames.feed(piece)
    jobs = NodeJobs(pickle.loads(waiting.pop(0)), lambda batch: _write(output, framed_batch(batch)), mirror_of=mirror_of)
    logging.getLogger().addHandler(_Noting(jobs))
    _write(output, framed_batch(NodeBatch(SteadyClock()(), is_urgent=True)))

    def hear() -> None:
        piece = os.read(0, _CHUNK_BYTES)
        if not piece:
            jobs.handle(FinishJobs(float("inf")))
        for content in frames.feed(piece):
            jobs.handle(pickle.loads(content))

    for content in waiting:
        jobs.handle(pickle.loads(content))
    jobs.flush()
    jobs.reactor.watch(0, hear)
    while not jobs.is_over:
        jobs.turn()
    jobs.reactor.unwatch(0)
    jobs.finish()


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except BrokenPipeError:
        return  # whoever started this is gone; its jobs are ended all the same


if __name__ == "__main__":
    main()
