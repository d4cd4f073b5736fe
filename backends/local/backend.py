"""Runs jobs as processes of this machine. One thread, one selector: no polling, no re-reading of logs."""

from __future__ import annotations

import atexit
import math
import os
import secrets
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.capabilities import Capabilities
from backends.checks import Check, CheckRequest
from backends.common import memory
from backends.common.activation import Activation, activation_of
from backends.common.clock import SteadyClock
from backends.common.cpu_quota import usable_cores
from backends.common.disk import remove_folder
from backends.common.gpus import gpu_ids
from backends.common.leases import LeaseBook
from backends.common.leases_folder import leases_folder
from backends.common.reactor import Reactor, ScheduledCall
from backends.events import Closed, Ended, Event, Noted, Rejected, Scope
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.local.description import DEFAULT_GRACE_S, DESCRIPTION, LocalBlock
from backends.local.held_cores import HeldCores
from backends.local.shares import parse_local
from backends.processes.checkpoints import LocalCheckpoints
from backends.processes.endpoint_job import endpoint_refusal, share_of
from backends.processes.job import ProcessJob
from backends.processes.runner import JobRunner
from backends.processes.share import MachineShare
from backends.processes.stopping import interrupt_jobs, stop_job, wait_until_gone
from backends.worker_needs import WorkerNeeds
from definitions.errors import UserError
from definitions.instance_tables import LISTED_REGION
from definitions.quantities import size_text

_LEASE_RETRY_S = 0.075
_LOOK_S = 0.5
"""Seconds between two looks at who holds what a job waits for."""


CHECKPOINTS_VARIABLE = "OUTRIDER_CHECKPOINTS"
"""Environment variable that names a folder which outlives this machine, where there is one: checkpoints are kept below it."""


class LocalBackend(Backend):
    """Jobs as processes, each with its own session, folder, log, leased cores, and memory limit.

    Args:
        folder: of the experiment; jobs are in `jobs/`, their logs in `logs/`, checkpoints in `checkpoints/`.
        grace_s: most seconds between TERM and KILL, whatever a job's own limit.
        leases_dir: folder of the leases; None for the machine's.
        clock: UTC seconds since the epoch, never going back.
        environment: variables that jobs inherit; None for this process's.
        python: interpreter of `.py` scripts.
        preload: modules that a warm worker imports once, to fork Python scripts from; empty for none.
        gpus: returns the names of the GPUs there are; asked when a job first wants one.
        tag: of the experiment, by which others are told who holds what they wait for.
        checkpoints: folder of checkpoints in place of the usual one.
        activation: of the interpreter, where a definition names it.
        client_cores: that a job takes beside those of its instance type, as one of an endpoint does for its load.

    Raises:
        UserError: a folder cannot be used.
    """

    capabilities = Capabilities(checkpoints=True, price_label="nominal", endpoints=True)
    region = LISTED_REGION

    def __init__(
        self,
        folder: Path,
        *,
        grace_s: float = DEFAULT_GRACE_S,
        leases_dir: Path | None = None,
        clock: Callable[[], float] | None = None,
        environment: Mapping[str, str] | None = None,
        python: str = sys.executable,
        preload: Sequence[str] = (),
        gpus: Callable[[Mapping[str, str]], Sequence[str]] = gpu_ids,
        tag: str = "",
        checkpoints: Path | None = None,
        activation: Activation | None = None,
        client_cores: int = 0,
    ) -> None:
        self._client_cores = client_cores
        self._folder = folder.absolute()
        self._environment = dict(os.environ if environment is None else environment)
        self._grace_s = grace_s
        self._clock = clock or SteadyClock()
        self._gpus_of = gpus
        self._gpus: Sequence[str] | None = None
        self._cores = usable_cores()
        self._memory_bytes = memory.machine_bytes()
        self._book = LeaseBook(leases_dir or leases_folder(self._environment), self._cores, f"experiment {tag}" if tag else "")
        self._held: HeldCores | None = None
        self._waits_for, self._looked_at = "", -math.inf
        self.checkpoints: LocalCheckpoints = LocalCheckpoints((checkpoints or self._folder / "checkpoints").absolute())
        try:
            for name in ("jobs", "logs"):
                (self._folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"the folder {self._folder} cannot be used", str(error), "choose another with --results_dir") from error
        self._token = secrets.token_hex(8)
        self._reactor = Reactor(self._clock)
        self._names: set[str] = set()
        self._queue: deque[ProcessJob] = deque()
        self.jobs: dict[str, ProcessJob] = {}
        """Open jobs by name; changed by the back-end alone."""
        self._events: list[Event] = []
        self._runner = JobRunner(
            self._folder,
            self._reactor,
            self._token,
            now=self._clock,
            emit=self._emit,
            environment=self._environment,
            python=python,
            grace_s=grace_s,
            checkpoints=self.checkpoints,
            preload=preload,
            activation=activation,
        )
        self._admit_again = False
        self._retry: ScheduledCall | None = None
        self._pid = os.getpid()
        self._closing = self._is_closed = False
        atexit.register(self.close)

    @classmethod
    def create(cls, context: BackendContext) -> LocalBackend:
        """Make one for an experiment."""
        kept = context.environ.get(CHECKPOINTS_VARIABLE)
        return cls(
            context.folder,
            environment=context.environ or None,
            grace_s=DESCRIPTION.grace_s(context.definition.block("local", LocalBlock)),
            python=context.definition.python or sys.executable,
            preload=context.definition.preload,
            tag=context.tag,
            checkpoints=Path(kept, context.prefix) if kept else None,
            activation=activation_of(context.definition.python),
            client_cores=context.definition.endpoint.client_cores if context.definition.endpoint else 0,
        )

    @classmethod
    def checks(cls, request: CheckRequest) -> list[Check]:
        """Return checks of this machine and, where there is a definition, of what its jobs ask for."""
        from backends.local.checks import this_machine

        return [*this_machine(request.results_dir), *super().checks(request)]

    def now(self) -> float:
        """Return UTC seconds since the epoch; steps of the wall clock do not change it."""
        return self._clock()

    def capacity(self, instance_type: str) -> int:
        """Return how many jobs of this type the machine has room for.

        Raises:
            UserError: the type is no share of this machine.
        """
        return self._capacity(parse_local(instance_type))

    def there_is(self) -> str:
        """Return what this machine has."""
        cores, gpus = len(self._cores), len(self._gpu_ids())
        counts = [f"{cores} core{'s' * (cores > 1)}", f"{gpus or 'no'} GPU{'s' * (gpus > 1)}"]
        return f"this machine has {', '.join([*counts, f'{size_text(self._memory_bytes)} of memory'])}"

    def reserve(self, needs: WorkerNeeds, waiting: Callable[[str], None], given_up: Callable[[], bool]) -> None:
        """Lease the cores and GPUs of all workers until this back-end is closed; see `Backend.reserve`."""
        shares = [share for name in needs.instance_types if self._capacity(share := parse_local(name))]
        if not shares or self._held is not None:
            return  # what does not fit is refused job by job, with the reason
        gpu_ids = self._gpu_ids() if any(share.gpus for share in shares) else ()
        cores = min(len(self._cores), needs.n_workers * (max(share.cores for share in shares) + self._client_cores))
        gpus = min(len(gpu_ids), needs.n_workers * max(share.gpus for share in shares))
        said = ""
        try:
            while not given_up():
                lease = self._book.acquire(cores, gpus, gpu_ids, needs.exclusive, in_turn=True)
                if lease is not None:
                    self._held = HeldCores(lease)
                    return
                held = self._book.held_by_others(gpu_ids)
                if held and held != said:
                    waiting(held)
                    said = held
                self._reactor.turn(self.now() + _LEASE_RETRY_S)
        finally:
            self._book.give_up()

    def submit(self, job: JobSpec) -> None:
        """Start a job, or put it in the queue when its cores are leased.

        Raises:
            ValueError: a job of this name was submitted before.
        """
        if self._closing:
            raise RuntimeError(f"{job.name} was submitted to a back-end that is closed")
        if job.name in self._names:
            raise ValueError(f"a job of the name {job.name!r} was submitted before")
        self._names.add(job.name)
        try:
            share = parse_local(job.instance_type)
            refusal = self._refusal(job, share)
        except UserError as error:
            self._events.append(Rejected(job.name, self.now(), Cause.BAD_REQUEST, str(error), Scope.INSTANCE_TYPE))
            return
        if refusal:
            self._events.append(Rejected(job.name, self.now(), Cause.BAD_REQUEST, refusal, Scope.INSTANCE_TYPE))
            return
        limit_bytes = share.memory_bytes or self._memory_bytes * share.cores // len(self._cores)
        local = ProcessJob(job, share, f"{self._token}.{len(self._names)};", limit_bytes)
        if job.endpoint is not None:
            local.endpoint = share_of(job.endpoint, share, len(self._cores), self._memory_bytes)
            local.limit_bytes = local.endpoint.limit_bytes
        self.jobs[job.name] = local
        self._queue.append(local)
        self._admit_again = True
        self._admit()

    def stop(self, job: str, reason: Cause) -> None:
        """Send a job's processes TERM and after the grace period KILL; one that has not started leaves the queue."""
        local = self.jobs.get(job)
        if local is None:
            return
        if local.child is None and local.lease is None and local.decided is None:
            self._leave_queue(local)
        stop_job(self._runner, local, reason)

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return what happens next; see `Backend.wait`."""
        deadline = None if timeout_s is None else self.now() + timeout_s
        if self._is_closed:
            return []
        self._runner.claim()
        while True:
            self._admit()
            if deadline is None and not self._events and not self.jobs:
                return []
            woken = self._reactor.turn(-math.inf if self._events else deadline)
            if self._events or woken or (deadline is not None and self.now() >= deadline):
                break
        events, self._events = self._events, []
        return events

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Report that the jobs of an earlier controller ended with it, after making sure that nothing of them runs any more."""
        self._runner.kill_leftovers([job.spec.name for job in jobs])
        message = "its controller ended, and it with it"
        for job in jobs:
            self._names.add(job.spec.name)
            at = max(self.now(), job.last_event_at or 0.0)
            if not job.ended:
                self._events.append(Ended(job.spec.name, at))
            self._events.append(Closed(job.spec.name, at, Outcome.FAILED, Cause.CONTROLLER, message))

    def clear(self, jobs: Sequence[str]) -> None:
        """Make sure that nothing runs any more of jobs of an earlier controller, whose names may then be used again."""
        self._runner.kill_leftovers(jobs)

    def discard(self, jobs: Sequence[str]) -> None:
        """Delete the models that closed jobs left; logs stay, unknown jobs are ignored."""
        for name in jobs:
            remove_folder(f"{self._folder}/jobs/{name}/model")

    def written_bytes(self, job: str) -> int:
        """Return the bytes that an open job has taken so far, its checkpoint and its log included."""
        return sum(self._runner.left_bytes(self.jobs[job]).values()) if job in self.jobs else 0

    def wake(self) -> None:
        """Make the current or the next `wait` return early."""
        self._reactor.wake()

    def close(self, grace_s: float | None = None) -> list[str]:
        """Stop all jobs (TERM, grace, KILL), release everything, and return the names of jobs that could not be stopped."""
        if self._is_closed or os.getpid() != self._pid:
            return []
        # A second call comes after the first was interrupted by an impatient user.
        grace_s = 0.0 if self._closing else (self._grace_s if grace_s is None else min(grace_s, self._grace_s))
        self._closing = True
        for job in [*self._queue]:
            self._leave_queue(job)
            del self.jobs[job.spec.name]
        interrupt_jobs(self._runner, [*self.jobs.values()], self.now(), grace_s)
        survivors = wait_until_gone(self._reactor, self.jobs, self.now, grace_s)
        for job in self.jobs.values():
            if job.lease is not None:
                job.lease.release()
        if self._held is not None:
            self._held.release()
        self._runner.close(survivors=bool(survivors))
        self._reactor.close()
        self._events.clear()
        self.jobs.clear()
        self._is_closed = True
        atexit.unregister(self.close)
        return survivors

    def _emit(self, event: Event) -> None:
        self._events.append(event)
        if isinstance(event, Ended):
            self._admit_again = True
        elif isinstance(event, Closed):
            del self.jobs[event.job]

    def _capacity(self, share: MachineShare) -> int:
        counts = [len(self._cores) // (share.cores + self._client_cores)]
        if share.memory_bytes is not None:
            counts.append(self._memory_bytes // share.memory_bytes)
        if share.gpus:
            counts.append(len(self._gpu_ids()) // share.gpus)
        return min(counts)

    def _refusal(self, job: JobSpec, share: MachineShare) -> str:
        if job.instance_count != 1:
            return f"instance_count {job.instance_count}: this machine is one instance"
        if job.endpoint is not None and (why := endpoint_refusal(job.endpoint, share, len(self._cores), self._memory_bytes)):
            return why
        if self._capacity(share) == 0:
            return f"{job.instance_type} does not fit: {self.there_is()}"
        return ""

    def _gpu_ids(self) -> Sequence[str]:
        if self._gpus is None:
            self._gpus = self._gpus_of(self._environment)
        return self._gpus

    def _admit(self) -> None:
        while self._queue and self._admit_again:
            job = self._queue[0]
            gpus = self._gpu_ids() if job.share.gpus else ()
            wanted, exclusive = (job.cores, job.share.gpus), job.spec.exclusive
            lease = self._held.acquire(*wanted, exclusive=exclusive) if self._held else self._book.acquire(*wanted, gpus, exclusive)
            if lease is None:
                # Own releases are tried at once; those of other experiments are not heard of.
                self._admit_again = False
                if self._held is not None:
                    return
                self._say_what_for(gpus)
                if self._retry is None or not self._retry.pending:
                    self._retry = self._reactor.at(self.now() + _LEASE_RETRY_S, self._try_again)
                return
            self._queue.popleft()
            job.lease = lease
            self._waits_for = ""
            self._runner.start(job)

    def _say_what_for(self, gpus: Sequence[str]) -> None:
        """Note who holds what the next job waits for, when that changes; that it is our own jobs everybody can see."""
        now = self.now()
        if now - self._looked_at < _LOOK_S:
            return
        self._looked_at = now
        held = self._book.held_by_others(gpus)
        if held and held != self._waits_for:
            self._events.append(Noted("", now, text=f"waiting: {held}"))
        self._waits_for = held

    def _try_again(self) -> None:
        self._admit_again = True

    def _leave_queue(self, job: ProcessJob) -> None:
        if self._queue[0] is job:
            self._book.give_up()
            self._admit_again = True
        self._queue.remove(job)
