"""Takes over the endpoints of an earlier controller: each is looked up by its name, and what belongs to no job is deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from backends.adopted import AdoptedJob, AdoptedPool
from backends.endpoint.course import JobCourse, new_job
from backends.endpoint.creation import EndpointCalls
from backends.endpoint.deployed_job import DeployedJob, EndpointPhase
from backends.endpoint.listing import EndpointPoller, SeenEndpoint
from backends.endpoint.memo import remember
from backends.events import Event, Retained
from backends.failures import Cause, Outcome

_DELETION_S = 60.0
"""That an endpoint takes to go, at most, where nobody was there to see it."""


class EndpointAdopter:
    """Goes on with jobs whose endpoints are there, and asks for those that never came to be.

    Args:
        course: of the jobs.
        asked: makes and deletes endpoints, and looks when somebody else deleted one.
        poller: lists them.
        now: seconds of the back-end's clock.
    """

    def __init__(self, course: JobCourse, asked: EndpointCalls, poller: EndpointPoller, now: Callable[[], float]) -> None:
        self._course, self._asked, self._poller, self._now = course, asked, poller, now
        self.is_done = True
        self._pools: dict[str, Callable[[float | None], None]] = {}
        """What settles each endpoint that an earlier controller kept; is told when it went, where that is known."""
        self._last_seen: dict[str, float] = {}
        """When the earlier controller last said something of a job, as it does when it orders a deletion."""
        self._measured: set[str] = set()

    def adopt(self, jobs: Sequence[AdoptedJob], now: float) -> None:
        """Look what is there; what becomes of each job arrives as events."""
        adopted = [self._taken_up(one, now) for one in jobs]
        self._last_seen = {one.spec.name: one.last_event_at for one in jobs if one.last_event_at is not None}
        for job in adopted:
            self._course.jobs[job.name] = job
        self.is_done = False
        self._poller.once(lambda listing, begun_at: self._found(adopted, listing, begun_at))

    def adopt_pools(self, pools: Sequence[AdoptedPool], emit: Callable[[Event], None]) -> None:
        """Have what was kept deleted, once it is seen what is there; a final `Retained` says what each was billed until it was gone."""

        def settle(pool: AdoptedPool, gone_at: float | None) -> None:
            now = self._now()
            billable_s = max(0.0, (now if gone_at is None else gone_at) - pool.since)
            emit(Retained(pool.job, now, pool.instance_type, pool.instance_count, 0.0, billable_s, kept=pool.kept))

        self._pools = {pool.kept or pool.job: partial(settle, pool) for pool in pools}

    def _taken_up(self, one: AdoptedJob, now: float) -> DeployedJob:
        job = new_job(one.spec, one.submitted_at)
        job.accepted, job.started = one.accepted_at is not None, one.started
        if one.started:
            job.local_lives = job.incarnation = one.incarnation + 1
        if one.stop_requested_at is not None:
            job.stop_reason = one.stop_reason or Cause.INTERRUPTED
        if remember(job, one.memo, now):
            self._measured.add(job.name)
        job.exists_since = now
        return job

    def _found(self, jobs: Sequence[DeployedJob], listing: Mapping[str, SeenEndpoint], begun_at: float) -> None:
        self.is_done = True
        for job in jobs:
            seen = listing.get(job.endpoint)
            if job.phase is not EndpointPhase.CREATING or job.name not in self._course.jobs:
                continue
            if not job.is_own:
                self._course.finish(job) if job.name in self._measured else self._course.create(job)
            elif seen is not None:
                self._goes_on(job, seen)
            elif job.accepted:
                # It was there: whoever was at work before had it deleted, and did not live to say so, or somebody stopped the run.
                self._asked.deleted_at(job.endpoint, partial(self._is_gone, job))
            else:
                # It may have been created all the same, and deleted by `stop` since: then it was paid for.
                self._asked.deleted_at(job.endpoint, partial(self._was_not_taken, job))
        mine = {job.endpoint for job in jobs}
        pools, self._pools = self._pools, {}
        for name in [*listing, *(name for name in pools if name not in listing)]:
            settle = pools.get(name)
            if name in mine:
                if settle is not None:
                    settle(None)  # a job has it since
            elif name not in listing:
                self._asked.deleted_at(name, pools[name])
            else:
                self._course.drop(name, partial(settle, None) if settle is not None else lambda: None)

    def _was_not_taken(self, job: DeployedJob, deleted_at: float | None) -> None:
        if deleted_at is not None:
            self._course.accept(job)
            if job.stop_reason is not None:
                job.end_as(Outcome.STOPPED, job.stop_reason, "stopped")
            self._is_gone(job, deleted_at)
        elif job.stop_reason is not None:
            job.end_as(Outcome.STOPPED, job.stop_reason, "stopped before it was created")
            self._asked.clear(job.endpoint)
            self._course.close(job)
        else:
            self._course.create(job)

    def _is_gone(self, job: DeployedJob, deleted_at: float | None) -> None:
        job.billed_from = job.submitted_at if job.billed_from is None else job.billed_from
        job.billed_until = deleted_at if deleted_at is not None else self._gone_by(job)
        job.end_as(Outcome.FAILED, Cause.LOST, "its endpoint is gone: the controller before this one, or somebody else, deleted it")
        self._course.gone(job)

    def _gone_by(self, job: DeployedJob) -> float | None:
        """Return until when an endpoint is billed that went while nobody looked: it was there when its controller last said something.

        One whose deletion that controller ordered went some time after, and before now.
        """
        seen_at = self._last_seen.get(job.name)
        return seen_at if seen_at is None or job.name not in self._measured else min(self._now(), seen_at + _DELETION_S)

    def _goes_on(self, job: DeployedJob, seen: SeenEndpoint) -> None:
        if not job.warm:
            job.billed_from = seen.created_at
        job.exists_since = float("-inf")
        self._course.accept(job)
        if job.stop_reason is not None:
            job.end_as(Outcome.STOPPED, job.stop_reason, "stopped")
        if seen.status == "Deleting":
            job.phase = EndpointPhase.DELETING
            job.deletion.is_asked = job.deletion.is_taken = True
            job.end_as(Outcome.FAILED, Cause.CONTROLLER, "its endpoint was being deleted when its controller ended")
        elif job.name in self._measured:
            job.phase = EndpointPhase.DELETING
            self._course.finish(job)
        elif job.warm and seen.status == "InService":
            # Its copies may not all have been made.
            self._course.bring(job)
        else:
            job.phase = EndpointPhase.DEPLOYING
