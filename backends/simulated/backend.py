"""A back-end that replays measured runs on a virtual clock, with failures and start delays by seed."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.capabilities import Capabilities
from backends.events import Accepted, Closed, Ended, Event, Progressed, Rejected, Reported, Started
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.simulated.checkpoints import SimulatedCheckpoints
from backends.simulated.description import DESCRIPTION, SimulatedBlock
from backends.simulated.job import SimulatedJob, course, ending, with_progress
from backends.simulated.table import CsvTable, Run, RunTable
from definitions.errors import UserError
from definitions.instance_tables import LISTED_REGION


class SimulatedBackend(Backend):
    """Replays the runs of a table; the same submissions at the same times give the same events, also after `adopt`.

    Args:
        table: the measured runs.
        seed: of start delays and failures.
        start_delay_s: mean of the exponential delay between submission and start; 0 for none.
        failure_rate: probability that an attempt ends with a service error, uniformly within its duration.
        stop_delay_s: seconds between a stop request and the end of the job.
        slots: jobs that run at once; further ones wait in the order of submission.
        checkpoints: folder for checkpoints; None keeps them in memory.
        start_at: where the virtual clock starts, in UTC seconds since the epoch.
    """

    capabilities = Capabilities(virtual_time=True, checkpoints=True, price_label="nominal")
    region = LISTED_REGION

    def __init__(
        self,
        table: RunTable,
        *,
        seed: int = 0,
        start_delay_s: float = 0.0,
        failure_rate: float = 0.0,
        stop_delay_s: float = 0.0,
        slots: int | None = None,
        checkpoints: Path | None = None,
        start_at: float = 0.0,
    ) -> None:
        self._table = table
        self._seed = seed
        self._start_delay_s = start_delay_s
        self._failure_rate = failure_rate
        self._stop_delay_s = stop_delay_s
        self._slots = slots
        self._now = start_at
        self._jobs: dict[str, SimulatedJob] = {}
        self._known: set[str] = set()
        # What follows a stop comes last among the events of a moment, as all others of it came before the stop.
        self._agenda: list[tuple[float, bool, int, SimulatedJob]] = []
        self._queued: deque[JobSpec] = deque()
        self._running = 0
        self._numbers = 0
        self._awake = False
        self.checkpoints: SimulatedCheckpoints = SimulatedCheckpoints(checkpoints)

    @classmethod
    def create(cls, context: BackendContext) -> SimulatedBackend:
        """Make one from the block `simulated`; raises `UserError` where it names no table, or one that cannot be read."""
        options = context.definition.block("simulated", SimulatedBlock)
        if options.table is None:
            raise UserError(
                "--backend simulated", "it replays a table of measured runs, and none is named", "give --set simulated.table=FILE.csv"
            )
        table = CsvTable(Path(options.table), context.definition.configuration_keys)
        made = cls(
            table,
            seed=context.seed,
            start_delay_s=options.start_delay_s or 0.0,
            failure_rate=options.failure_rate or 0.0,
            checkpoints=context.folder / "checkpoints",
        )
        made.region = DESCRIPTION.region(options, context.environ)
        return made

    def now(self) -> float:
        """Return the virtual time in UTC seconds since the epoch; only `wait` and `adopt` move it."""
        return self._now

    def capacity(self, instance_type: str) -> int:
        """Return the number of slots, which is the same for all types; practically unlimited where none was given."""
        return self._slots if self._slots is not None else 1_000_000

    def submit(self, job: JobSpec) -> None:
        """Plan the whole course of a job from now on, or queue it where all slots are taken; raises `ValueError` for a known name."""
        if job.name in self._known:
            raise ValueError(f"job {job.name!r} was submitted before")
        self._known.add(job.name)
        if self._slots is not None and self._running >= self._slots:
            self._queued.append(job)
            return
        self._schedule(self._launch(job, self._now))

    def _launch(self, spec: JobSpec, at: float) -> SimulatedJob:
        self._numbers += 1
        run = self._table.run(spec.configuration, spec.level, spec.repeat)
        if run is None:
            message = f"the table has no run of {dict(spec.configuration)!r}"
            job = SimulatedJob(self._numbers, spec, [Rejected(spec.name, at, Cause.BAD_REQUEST, message)], None)
        else:
            self._running += 1
            job = self._planned(spec, run, at)
        self._jobs[spec.name] = job
        return job

    def _planned(self, spec: JobSpec, run: Run, at: float) -> SimulatedJob:
        chances = self._chances(spec)
        skip = self.checkpoints.restored(spec.name, spec.restore_from)
        before_s = run.reports[skip - 1][0] if skip else 0.0
        delay_s = -math.log1p(-next(chances)) * self._start_delay_s if self._start_delay_s else 0.0
        started_at = at + delay_s
        duration_s, outcome, cause = run.duration_s - before_s, Outcome.COMPLETED, run.cause
        message = "" if cause is None else f"the measured run ended with {cause}"
        if self._failure_rate and next(chances) < self._failure_rate:
            duration_s, cause, message = duration_s * next(chances), Cause.SERVICE_ERROR, "simulated service error"
        if spec.limits.max_run_s is not None and duration_s > spec.limits.max_run_s:
            duration_s, cause, message = spec.limits.max_run_s, Cause.TIME_OUT, f"ran longer than max_run = {spec.limits.max_run_s:g} s"
        if cause is not None:
            outcome = Outcome.FAILED
        ends_at = started_at + duration_s
        events = course(
            spec.name, at, started_at, itertools.islice(run.reports, skip, None),
            before_s=before_s, duration_s=duration_s, outcome=outcome, cause=cause, message=message,
        )  # fmt: skip
        if run.progress:
            # What a job that goes on from a checkpoint says is that of its first life.
            events = with_progress(events, spec.name, started_at, run.progress)
        return SimulatedJob(self._numbers, spec, events, started_at, ends_at, skip)

    def _chances(self, spec: JobSpec) -> Iterator[float]:
        """Yield the attempt's own random numbers; the generator is not seeded before one is drawn, as that takes longer than the rest."""
        source = random.Random(f"{self._seed}-{spec.trial}-{spec.attempt}")
        while True:
            yield source.random()

    def _schedule(self, job: SimulatedJob) -> None:
        """Put the job's next event on the agenda; what is there from before its stop counts no more."""
        if job.next is not None:
            heapq.heappush(self._agenda, (job.next.at, job.stopping, job.number, job))

    def stop(self, job: str, reason: Cause) -> None:
        """Let the job end `stop_delay_s` from now, unless it ends by itself before; a queued one ends at once."""
        stopped = self._stop(job, reason, self._now)
        if stopped is not None:
            self._schedule(stopped)

    def _stop(self, name: str, reason: Cause, at: float) -> SimulatedJob | None:
        """Plan the end of a job anew and return it, to be scheduled; None where its end is as it was."""
        job = self._jobs.get(name)
        if job is None:
            for queued in self._queued:
                if queued.name == name:
                    self._queued.remove(queued)
                    self._numbers += 1
                    self._running += 1
                    ends = ending(name, at, None, Outcome.STOPPED, reason, "")
                    self._jobs[name] = stopped = SimulatedJob(self._numbers, queued, ends, None, at)
                    return stopped
            return None
        if job.stopping or job.ended:
            return None
        end_at = at + self._stop_delay_s
        if job.ends_at <= end_at:
            return None
        job.stopping = True
        started_at = job.started_at if job.started_at is not None and job.started_at <= end_at else None
        job.cut_off(end_at, ending(name, end_at, started_at, Outcome.STOPPED, reason, ""))
        return job

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Move the clock to the next moment with events, at most `timeout_s` virtual seconds on, and return that moment's events."""
        deadline = math.inf if timeout_s is None else self._now + max(0.0, timeout_s)
        if self._awake:
            self._awake = False
            return []
        events: list[Event] = []
        agenda = self._agenda
        while agenda:
            at, stopping, _, job = agenda[0]
            if job.stopping != stopping:
                heapq.heappop(agenda)
                continue
            if at > (self._now if events else deadline):
                break
            heapq.heappop(agenda)
            if at > self._now:
                self._now = at
            self._hand_out(job, events)
        if not events and deadline < math.inf:
            self._now = deadline
        return events

    def _hand_out(self, job: SimulatedJob, events: list[Event]) -> None:
        """Append the job's events of this moment, and go on to its next."""
        while (event := job.next) is not None and event.at <= self._now:
            job.go_on()
            events.append(event)
            if type(event) is Reported:
                self._made(job)
            elif type(event) is Ended:
                self._free(job)
        if job.next is None:
            del self._jobs[job.spec.name]
        else:
            self._schedule(job)

    def _free(self, job: SimulatedJob) -> None:
        """Keep the checkpoint of a job that has just ended early, and let the next one in."""
        job.ended = True
        self._running -= 1
        closed = job.next
        if isinstance(closed, Closed) and closed.outcome is not Outcome.COMPLETED and job.made and job.spec.checkpoint:
            self.checkpoints.write(job.spec.checkpoint, job.made)
        if self._queued:
            self._schedule(self._launch(self._queued.popleft(), self._now))

    def _made(self, job: SimulatedJob) -> None:
        job.made += 1
        if job.spec.checkpoint:
            self.checkpoints.note(job.spec.checkpoint, job.made)

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Plan the same courses as the earlier controller's back-end did, and leave out the events that its journal has."""
        self._now = max(self._now, last_seen_at)
        for adopted in jobs:
            spec = adopted.spec
            self._known.add(spec.name)
            if self._slots is not None and self._running >= self._slots and adopted.accepted_at is None:
                self._queued.append(spec)
                continue
            # A launched job is accepted at once, so one that was not is launched at this very moment.
            job = self._launch(spec, self._now if adopted.accepted_at is None else adopted.accepted_at)
            if adopted.stop_requested_at is not None:
                self._stop(spec.name, adopted.stop_reason or Cause.INTERRUPTED, adopted.stop_requested_at)
            self._skip_known(job, adopted)

    def _skip_known(self, job: SimulatedJob, adopted: AdoptedJob) -> None:
        """Drop the events that the earlier controller has recorded."""
        known = adopted.reports
        while (event := job.next) is not None:
            if isinstance(event, Reported):
                if known == 0:
                    break
                known -= 1
                self._made(job)
            elif isinstance(event, Progressed) and event.at <= (adopted.last_event_at or 0.0):
                pass
            elif isinstance(event, Ended) and adopted.ended:
                job.ended = True
                self._running -= 1
            elif not (isinstance(event, Accepted) and adopted.accepted_at is not None) and not (
                isinstance(event, Started) and adopted.started
            ):
                break
            job.go_on()
        self._schedule(job)

    def wake(self) -> None:
        """Let the next `wait` return at once, with the clock where it is."""
        self._awake = True

    def close(self, grace_s: float | None = None) -> list[str]:
        """Forget all jobs; nothing of them is left that could not be stopped."""
        self._jobs.clear()
        self._agenda.clear()
        self._queued.clear()
        return []
