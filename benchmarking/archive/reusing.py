"""A back-end that runs no job whose results are known but tells what the earlier one told, and a maker of jobs to whom these are free."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backends.adopted import AdoptedJob, AdoptedPool
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.events import Accepted, Closed, Ended, Event, Noted, Reported
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from benchmarking.archive.measured import PastMeasurement, PastReport
from benchmarking.controller.interfaces import JobFactory
from benchmarking.controller.method import Method
from definitions.trial import TrialSpec

Find = Callable[[TrialSpec], PastMeasurement | None]
Left = Callable[[int, Sequence[PastReport]], Sequence[PastReport]]
Key = Callable[[TrialSpec], str]


def why_not(method: Method, name: str, code: str) -> str:
    """Return why an experiment can reuse nothing, as a line for people; empty where it may.

    Args:
        method: its method.
        name: of the method.
        code: version of the code; empty where that is not known.
    """
    if method.copies_checkpoints:
        # What a copy measures is that of its leader's training too, which no configuration tells.
        return f"reuse: not with {name}: it starts trials from others' checkpoints, and a trial that is not run leaves none"
    return "" if code else "reuse: nothing, as nobody knows which code runs on this back-end"


class ReusingBackend(Backend):
    """Hands jobs on to another back-end, but for those whose trials were measured already; what is being measured is waited for.

    What was to be told of one of these and is not yet when the controller dies is lost with it: at a resume the other back-end is asked for
    a job that it never had, and the trial is run.

    Args:
        backend: the other one; the caller closes it.
        find: returns what stands for a trial.
        left: returns which of a trial's reports it has still to make, as a paused one has made some before.
        key: returns what tells a trial's measurement from others.
    """

    def __init__(self, backend: Backend, find: Find, left: Left, key: Key) -> None:
        self._backend = backend
        self._find, self._left, self._key = find, left, key
        self._pending: dict[str, list[Event]] = {}
        self._measuring: dict[str, str] = {}
        """Names of running jobs, by the key of what they measure; `_waiting` has jobs that wait for one of these, by their names."""
        self._waiting: dict[str, JobSpec] = {}
        self.capabilities, self.checkpoints, self.region = backend.capabilities, backend.checkpoints, backend.region

    @classmethod
    def create(cls, context: BackendContext) -> Backend:
        """Raise `TypeError`, as it is made around another back-end."""
        raise TypeError(f"{cls.__name__} is made around another back-end")

    def submit(self, job: JobSpec) -> None:
        """Ask for a job to be run, take what is known of it, or let it wait for one that measures the same."""
        trial = TrialSpec(job.configuration, job.level, job.repeat)
        known = self._find(trial)
        if known is None:
            other = self._measuring.setdefault(self._key(trial), job.name)
            if other == job.name:
                self._backend.submit(job)
                return
            self._waiting[job.name] = job
            self._pending[job.name] = [Noted(job.name, self.now(), text=f"{job.name} waits for {other}, which measures the same")]
            return
        now = self.now()
        left = self._left(job.trial, known.reports)
        reports = [Reported(job.name, now, number, report.metrics, report.elapsed_s) for number, report in enumerate(left, 1)]
        usage = {**known.usage, "reused": {"from": known.source, **known.took}}
        closed = Closed(job.name, now, Outcome.COMPLETED, message=f"reused: measured by {known.source}", usage=usage)
        self._pending[job.name] = [Accepted(job.name, now), *reports, Ended(job.name, now), closed]

    def stop(self, job: str, reason: Cause) -> None:
        """Ask for a job to end; of one that does not run nothing more is told."""
        pending = self._pending.pop(job, None)
        now = self.now()
        if self._waiting.pop(job, None) is not None:
            self._pending[job] = [Ended(job, now), Closed(job, now, Outcome.STOPPED, reason)]
            return
        if pending is None:
            self._backend.stop(job, reason)
            return
        ended = [event for event in pending if isinstance(event, Ended)]
        self._pending[job] = [*ended, Closed(job, now, Outcome.STOPPED, reason, usage=getattr(pending[-1], "usage", {}))]

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return the next event of a job that does not run, else what the other back-end has."""
        # One at a time, so that a method may end a trial where it would have ended the job.
        for job, events in self._pending.items():
            event = events.pop(0)
            if not events:
                del self._pending[job]
            return [event]
        if self._go_on():
            return self.wait(timeout_s)
        events = self._backend.wait(timeout_s)
        closed = {event.job for event in events if isinstance(event, Closed)}
        self._measuring = {key: job for key, job in self._measuring.items() if job not in closed}
        return events

    def _go_on(self) -> bool:
        """Ask anew for the jobs whose wait is over, as what they waited for was told; return whether there were any."""
        over = [
            job for job in self._waiting.values() if self._key(TrialSpec(job.configuration, job.level, job.repeat)) not in self._measuring
        ]
        for job in over:
            del self._waiting[job.name]
            self.submit(job)
        return bool(over)

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Hand jobs of an earlier controller on."""
        self._backend.adopt(jobs, last_seen_at)

    def adopt_pools(self, pools: Sequence[AdoptedPool]) -> None:
        """Hand on what an earlier controller knew to be kept."""
        self._backend.adopt_pools(pools)

    def now(self) -> float:
        """Return the other back-end's time."""
        return self._backend.now()

    def capacity(self, instance_type: str) -> int:
        """Return how many jobs of this type the other back-end could run at once."""
        return self._backend.capacity(instance_type)

    def idle(self, instance_type: str, instance_count: int, key: str = "") -> int:
        """Return how many sets of instances wait warm."""
        return self._backend.idle(instance_type, instance_count, key) if key else self._backend.idle(instance_type, instance_count)

    def discard(self, jobs: Sequence[str]) -> None:
        """Delete the models that closed jobs left."""
        self._backend.discard(jobs)

    def release(self) -> None:
        """Give up what is kept for later jobs."""
        self._backend.release()

    def wake(self) -> None:
        """Make a blocked or the next `wait` return early."""
        self._backend.wake()

    def close(self, grace_s: float | None = None) -> list[str]:
        """Close the other back-end, and return the names of jobs that could not be stopped."""
        return self._backend.close(grace_s)

    def detach(self) -> list[str]:
        """Leave jobs of the other back-end to whoever adopts them."""
        return self._backend.detach()


class ReusingJobs(JobFactory):
    """Makes the jobs of another maker, and reserves no money for those that are not run.

    Args:
        jobs: the other maker.
        find: returns what stands for a trial.
    """

    def __init__(self, jobs: JobFactory, find: Find) -> None:
        self._jobs, self._find = jobs, find
        self.worst_s = jobs.worst_s

    def worst_case_s(self, spec: TrialSpec) -> float | None:
        """Return the seconds that a trial's job can be billed for at most."""
        return self._jobs.worst_case_s(spec)

    def name(self, trial: int, attempt: int) -> str:
        """Return the name of a trial's job."""
        return self._jobs.name(trial, attempt)

    def build(self, trial: int, attempt: int, spec: TrialSpec, restore_from: str | None) -> JobSpec:
        """Return the job of a trial's attempt."""
        return self._jobs.build(trial, attempt, spec, restore_from)

    def instances(self, configuration: Mapping[str, Any]) -> tuple[str, int]:
        """Return the instance type that a configuration's job asks for, and how many of it."""
        return self._jobs.instances(configuration)

    def deploy_key(self, configuration: Mapping[str, Any]) -> str:
        """Return the key of what a configuration's job deploys, by which endpoints are shared; empty where it deploys nothing."""
        return self._jobs.deploy_key(configuration)

    def price(self, configuration: Mapping[str, Any]) -> tuple[float | None, int]:
        """Return dollars per instance-hour and the number of instances."""
        return self._jobs.price(configuration)

    def worst_usd(self, spec: TrialSpec) -> float | None:
        """Return what a trial's job costs at most: nothing where its results are known."""
        return 0.0 if self._find(spec) is not None else self._jobs.worst_usd(spec)
