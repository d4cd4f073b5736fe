"""Carries one job after another from start to end: its process, its output, its limits."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from backends.common import memory
from backends.common.activation import Activation
from backends.common.child_process import Child
from backends.common.command_line import MEASURED, program_of, staged
from backends.common.disk import free_bytes, remove_folder, taken_bytes
from backends.common.file_reports import FileReports
from backends.common.job_output import Output
from backends.common.reactor import Reactor
from backends.events import Accepted, Ended, Event, Noted, Progressed, Reported, Restarted, Started
from backends.failures import Cause, Outcome, says_killed
from backends.processes.checkpoints import LocalCheckpoints
from backends.processes.endpoint_job import FOLDER as ENDPOINT
from backends.processes.endpoint_job import MEASURED as ENDPOINT_MEASURED
from backends.processes.endpoint_job import split_cores, with_endpoint
from backends.processes.environment import Allocation, job_environment, pasteable, places_of
from backends.processes.job import ProcessJob, Termination
from backends.processes.job_processes import JobProcesses
from backends.processes.process_records import ProcessRecords
from backends.processes.warm.starter import JobStarter, StartRequest
from backends.processes.warm.worker import ProcessSpec
from backends.reports import Report
from definitions.quantities import size_text

_TAKEN_BY = 800
"""By how much the kernel takes a trial before the controller where memory is short."""
_SAMPLE_S = 0.25
_DRAIN_S = 1.0
_LEFT_S = 1.0
"""Most seconds between TERM and KILL for what a script left running when it ended by itself: the next trial waits for its cores."""

_LAST_CHUNKS = 32
_PAUSE_MOST_S = 0.1
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
_NO_ROOM = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class JobRunner:
    """Starts jobs, watches them through the reactor, and emits their events.

    Args:
        folder: of the experiment.
        token: what the marks of all jobs begin with.
        emit: takes each event; after `Ended` the job's lease is free, after `Closed` the job is forgotten.
        environment: variables that jobs inherit.
        python: interpreter of `.py` scripts.
        grace_s: most seconds between TERM and KILL.
        preload: modules that a warm worker keeps imported.
        activation: of the interpreter, where a definition names it.
        follow: is given the name of a job and what it printed, beside its log.
    """

    def __init__(
        self,
        folder: Path,
        reactor: Reactor,
        token: str,
        *,
        now: Callable[[], float],
        emit: Callable[[Event], None],
        environment: Mapping[str, str],
        python: str,
        grace_s: float,
        checkpoints: LocalCheckpoints,
        preload: Sequence[str] = (),
        activation: Activation | None = None,
        follow: Callable[[str, bytes], None] | None = None,
    ) -> None:
        self._folder = folder
        self._follow = follow
        self._activation = activation
        self._reactor = reactor
        self._processes = JobProcesses(token)
        self._now = now
        self._emit = emit
        self._environment = environment
        self._python = python
        self._grace_s = grace_s
        self._checkpoints = checkpoints
        self._kernel_kills = memory.kernel_kills()
        self._records = ProcessRecords()
        self._running: dict[str, ProcessJob] = {}
        self._sampling = False
        self._preloads = bool(preload)
        self._starter = JobStarter(
            preload,
            python=python,
            token=token,
            folder=folder,
            reactor=reactor,
            now=now,
            served=self._processes.helped_by,
            claim=self._processes.claim,
            note=lambda text: emit(Noted("", now(), text=text)),
        )

    def claim(self) -> None:
        """Make sure that orphans of jobs come to this process."""
        self._processes.claim()

    def kill_leftovers(self, names: Sequence[str]) -> None:
        """Kill what still runs of jobs of an earlier controller, and delete the unpacked models of their endpoints."""
        self._records.kill_leftovers([self._folder / "jobs" / name for name in names])
        for name in names:
            remove_folder(f"{self._folder}/jobs/{name}/{ENDPOINT}/work")

    def close(self, survivors: bool) -> None:
        """Release what is not a job's; `survivors` leaves the watchdog to go on killing."""
        self._starter.close()
        self._processes.close(survivors)

    def start(self, job: ProcessJob) -> None:
        """Start a job that has its lease, as soon as the warm worker is ready where it has one; if that fails, the job has ended."""
        self._emit(Accepted(job.spec.name, self._now()))
        job.is_forked = False if self._preloads else None
        try:
            place = self._prepare(job)
            places = places_of(job.spec, place, self._python)
            program = program_of(job.spec, places, self._python)
            if job.spec.is_measured_alone:
                program = staged(job.spec, program, places, place.folder, self._python)
                job.measured_file = place.folder / MEASURED
            if job.endpoint is not None and job.spec.endpoint is not None:
                leased = job.lease.cores if job.lease else ()
                program = with_endpoint(job.spec, job.spec.endpoint, program, place.folder, leased, job.endpoint, self._environment)
                job.endpoint_file = place.folder / ENDPOINT / ENDPOINT_MEASURED
            environment = job_environment(self._environment, job.spec, place, self._activation)
        except (OSError, ValueError) as error:
            self._not_started(job, error)
            return
        folder = Path(job.spec.working_dir) if job.spec.working_dir else place.folder
        if job.spec.metric_files and not job.spec.is_measured_alone:
            job.files = FileReports(job.spec.metric_files, str(folder), places)
        self._records.write_command(place.folder, pasteable(program.command, folder, environment, self._environment))
        launch = ProcessSpec(program, folder, environment, place.cores, job.mark, job.spec.source_dir)
        self._starter.start(
            StartRequest(
                launch,
                partial(self._may_start, job),
                partial(self._started, job, place, self._now()),
                partial(self._not_started, job),
                partial(setattr, job, "is_forked", True),
            )
        )

    def _may_start(self, job: ProcessJob) -> bool:
        if job.ended_at is not None:
            return False  # given up while the warm worker was not ready
        if job.decided is not None:
            # Stopped while the worker was asked for it, and then not started by the worker.
            self._end(job)
            return False
        job.is_starting = True
        return True

    def _started(self, job: ProcessJob, place: Allocation, accepted_at: float, child: Child, age_s: float) -> None:
        job.is_starting = False
        job.child = child
        # It has run since before the warm worker's answer was read.
        job.started_at = max(accepted_at, self._now() - age_s)
        # Emitted before anything of the job is watched: no report and no end can come before its `Started`.
        self._emit(Started(job.spec.name, job.started_at))
        log = self._folder / "logs" / f"{job.spec.name}.log"
        copy = None if self._follow is None else partial(self._follow, job.spec.name)
        job.output = Output(job.child.output, log, job.spec.metrics, job.spec.log_cap_bytes, copy)
        self._reactor.watch(job.child.output, partial(self._on_output, job))
        self._reactor.watch(job.child.ended, partial(self._on_exit, job))
        # Both guard against the controller's own death: the watchdog kills at once, the record lets the next controller do it.
        memory.take_first(job.child.pid, _TAKEN_BY)
        self._records.write(place.folder, job.child.pid, job.mark, self._processes.joined(job))
        if job.spec.limits.max_run_s is not None:
            job.run_timer = self._reactor.at(job.started_at + job.spec.limits.max_run_s, partial(self._on_time_out, job))
        self._running[job.spec.name] = job
        # One chain of samples serves all jobs; it ends when none runs.
        if not self._sampling:
            self._sampling = True
            self._reactor.at(job.started_at + _SAMPLE_S, self._sample)
        # Stopped while the warm worker was starting it.
        if job.decided is not None:
            self.terminate(job, job.decided)

    def _not_started(self, job: ProcessJob, error: Exception) -> None:
        job.is_starting = False
        cause = Cause.SCRIPT_ERROR
        if isinstance(error, OSError):
            cause = Cause.CAPACITY if error.errno in _NO_ROOM else Cause.DISK_FULL if error.errno in _DISK_FULL else cause
        self.give_up(job, Termination(Outcome.FAILED, cause, f"cannot be started: {error}"))

    def terminate(self, job: ProcessJob, termination: Termination, grace_s: float = math.inf) -> None:
        """Send TERM to a running job, and KILL after the shortest of the grace periods; its `Closed` will give this termination."""
        job.decided = termination
        grace_s = min(grace_s, self._grace_s, job.spec.limits.grace_s)
        # A second request may only bring the end forward.
        job.kill_at = min(job.kill_at or math.inf, self._now() + grace_s)
        if job.kill_at > self._now():
            self._processes.signal(job, signal.SIGTERM)
        self._again(job, job.kill_at)

    def give_up(self, job: ProcessJob, termination: Termination) -> None:
        """End a job that has no process; one whose process is just being started, as soon as it is known."""
        if job.is_starting:
            job.decided = Termination(termination.outcome, termination.cause)
            return
        job.decided = job.decided or termination
        self._end(job)

    def _prepare(self, job: ProcessJob) -> Allocation:
        key, source = job.spec.checkpoint, job.spec.restore_from
        checkpoint = self._checkpoints.path(key) if key else None
        if checkpoint is not None:
            if source is None:
                self._checkpoints.create(key)
            else:
                self._checkpoints.copy(source, key)
                checkpoint.mkdir(parents=True, exist_ok=True)
        lease = job.lease
        cores = lease.cores if lease else ()
        if job.endpoint is not None:
            cores = split_cores(cores, job.endpoint.client_cores)[1]
        place = Allocation(self._folder / "jobs" / job.spec.name, checkpoint, cores, lease.gpus if lease else (), job.mark)
        for folder in (place.folder, place.model, place.output):
            # A name is used once, so that the folder is there only where an attempt at the same job failed halfway.
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder)  # noqa: PTH102 (between two jobs, so in the cheapest way)
        for name, text in job.spec.files.items():
            (place.folder / name).write_text(text, encoding="utf-8")
        return place

    def _on_output(self, job: ProcessJob) -> None:
        if job.output is None:
            return
        self._deliver(job, job.output.take())
        if job.output.at_end:
            self._reactor.unwatch(job.output.descriptor)
            if job.ended_at is not None:
                self._close(job)

    def _deliver(self, job: ProcessJob, reports: Sequence[Report]) -> None:
        at = self._now()
        for report in reports:
            if report.incarnation > job.incarnation and job.ended_at is None:
                job.incarnation = report.incarnation
                self._emit(Restarted(job.spec.name, at, report.incarnation))
            elapsed_s = at - (job.started_at or at) if report.elapsed_s is None else report.elapsed_s
            self._emit(Reported(job.spec.name, at, report.sequence, report.metrics, elapsed_s, report.incarnation))
        since_s = at - (job.started_at or at)
        for progress in job.output.parser.take_progress(since_s) if job.output is not None else ():
            self._emit(Progressed.of(job.spec.name, at, progress))

    def _on_exit(self, job: ProcessJob) -> None:
        if job.child is None or job.output is None:
            return
        # First unwatched, as the descriptor stays readable from now on and would call again each turn.
        self._reactor.unwatch(job.child.ended)
        exit_code = job.child.reap()
        job.exited_at = self._now()
        job.exit_code = 0 if exit_code is None else exit_code
        if exit_code is None and job.decided is None:
            job.decided = Termination(
                Outcome.FAILED, Cause.LOST, "another part of this program has waited for it, so how it ended is not known"
            )
        self._starter.ended(job.mark)
        del self._running[job.spec.name]
        os.close(job.child.ended)
        job.peak_rss_bytes = max(job.peak_rss_bytes, job.child.peak_bytes())
        if not job.output.at_end:
            self._deliver(job, job.output.take())
            if job.output.at_end:
                self._reactor.unwatch(job.output.descriptor)
        # A KILL that nobody here sent may be the kernel's, for lack of memory, be it of what the script had started.
        if job.exit_code in _KILLED and job.decided is None:
            self._ask_kernel(job, "killed")
        elif job.exit_code and job.decided is None and says_killed(job.output.parser.tail):
            self._ask_kernel(job, "what it had started was killed")
        # The job ends with its last process, not with its first; the cheap look spares most jobs the search of the whole machine.
        if job.kill_at is None and not self._processes.may_be_left(job):
            self._end(job)
        else:
            job.left_running = job.kill_at is None
            self._chase(job)

    def _ask_kernel(self, job: ProcessJob, what: str) -> None:
        kills = memory.kernel_kills()
        if kills > self._kernel_kills:
            self._kernel_kills = kills
            job.decided = Termination(Outcome.FAILED, Cause.OUT_OF_MEMORY, f"{what} by the kernel, which had no memory left")

    def _on_time_out(self, job: ProcessJob) -> None:
        if job.running and job.decided is None:
            limit_s = job.spec.limits.max_run_s
            self.terminate(job, Termination(Outcome.FAILED, Cause.TIME_OUT, f"ran longer than max_run = {limit_s:g} s"))

    def _chase(self, job: ProcessJob) -> None:
        """End what is left of a job; comes again until nothing is."""
        if job.ended_at is not None:
            return
        first = job.kill_at is None
        if job.kill_at is None:
            job.kill_at = self._now() + min(_LEFT_S, self._grace_s, job.spec.limits.grace_s)
        if self._now() >= job.kill_at:
            left = self._processes.signal(job, signal.SIGKILL)
        elif first:
            left = self._processes.signal(job, signal.SIGTERM)
        else:
            left = bool(self._processes.living(job))
        if not left and not job.running:
            self._end(job)
            return
        job.pause_s = min(2 * job.pause_s, _PAUSE_MOST_S)
        self._again(job, self._now() + job.pause_s)

    def _again(self, job: ProcessJob, at: float) -> None:
        if job.end_timer is not None:
            job.end_timer.cancel()
        job.end_timer = self._reactor.at(at, partial(self._chase, job))

    def _end(self, job: ProcessJob) -> None:
        """Nothing of the job runs any more: release what it holds, then wait for the rest of its output."""
        # Timers first, as none may act on a job that has ended; then the lease, so that whoever hears `Ended` can start the next.
        self._processes.left(job)
        for timer in (job.run_timer, job.end_timer):
            if timer is not None:
                timer.cancel()
        if job.lease is not None:
            job.lease.release()
        job.ended_at = self._now()
        self._emit(Ended(job.spec.name, job.ended_at))
        if job.output is not None and not job.output.at_end:
            self._deliver(job, job.output.take(_LAST_CHUNKS))
            if job.output.at_end:
                self._reactor.unwatch(job.output.descriptor)
        if job.output is None or job.output.at_end:
            self._close(job)
        else:
            # Somebody who is no process of the job holds its pipe; that must not keep the trial open.
            self._reactor.at(job.ended_at + _DRAIN_S, partial(self._cut_off, job))

    def _cut_off(self, job: ProcessJob) -> None:
        if job.output is not None and not job.output.at_end:
            self._reactor.unwatch(job.output.descriptor)
            self._deliver(job, job.output.take(_LAST_CHUNKS))
            self._close(job)

    def _close(self, job: ProcessJob) -> None:
        if job.output is not None:
            self._deliver(job, job.output.close())
        if job.files is not None:
            left = job.files.finish(is_whole=job.exit_code == 0)
            self._deliver(job, left if job.child is not None else ())
        job.left_bytes, job.free_bytes = self.left_bytes(job), free_bytes(self._folder) if job.exit_code else None
        self._emit(job.closed(self._now()))

    def left_bytes(self, job: ProcessJob) -> dict[str, int]:
        """Return what a job has left on the disk so far: `spare`, its checkpoint and model, and `lasting`, the rest."""
        name, key = job.spec.name, job.spec.checkpoint
        folder = f"{self._folder}/jobs/{name}"
        model = f"{folder}/model"
        spare = taken_bytes([model, self._checkpoints.path(key)] if key else [model])
        return {"spare": spare, "lasting": taken_bytes([folder, f"{self._folder}/logs/{name}.log"], without=model)}

    def _sample(self) -> None:
        """Measure the memory of all running jobs, and end those that use more than they may."""
        running = [*self._running.values()]
        self._sampling = bool(running)
        if not running:
            return
        for job in running:
            if job.files is not None:
                self._deliver(job, job.files.read(self._now()))
            pids = [process.pid for process in self._processes.look(job)]
            used_bytes, peak_bytes = memory.resident_bytes(pids)
            job.peak_rss_bytes = max(job.peak_rss_bytes, peak_bytes)
            if used_bytes > job.limit_bytes and job.decided is None:
                # The sum counts shared pages once a process; only a job that seems too large is worth the dear exact count.
                used_bytes = memory.proportional_bytes(pids)
                if used_bytes > job.limit_bytes:
                    used = f"used {size_text(used_bytes)}, {job.spec.instance_type} has {size_text(job.limit_bytes)}"
                    self.terminate(job, Termination(Outcome.FAILED, Cause.OUT_OF_MEMORY, used), grace_s=0.0)
        # Also here, as orphans of a long job would otherwise wait for its end as zombies.
        self._processes.reap(running)
        self._processes.update_watchdog()
        self._reactor.at(self._now() + _SAMPLE_S, self._sample)
