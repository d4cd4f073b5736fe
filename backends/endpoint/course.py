"""The course of endpoint jobs: what each listing, each answer and each end of a script makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from backends.endpoint.creation import EndpointCalls, failure_of_user
from backends.endpoint.deployed_job import DeployedJob, EndpointDeletion, EndpointPhase, closed_event
from backends.endpoint.keeping import EndpointKeeper
from backends.endpoint.listing import SeenEndpoint
from backends.endpoint.memo import held, measured, served
from backends.endpoint.reasons import cause_of
from backends.events import Accepted, Closed, Ended, Event, Noted, Rejected, Scope
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.sagemaker.aws.call_queue import Call
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind
from definitions.errors import UserError

_RETRY_S = 30.0
_READY, _FAILED = "InService", "Failed"


class LoadRunner(Protocol):
    """Runs load scripts on this machine."""

    def begin(self, job: DeployedJob) -> None:
        """Start a job's script."""

    def end(self, job: DeployedJob, reason: Cause) -> None:
        """Have a job's script end, which closes it."""


class JobCourse:
    """The open jobs.

    Args:
        asked: makes and deletes endpoints.
        runner: of load scripts.
        emit: takes events.
        now: seconds of the back-end's clock.
        keep_s: seconds that an endpoint is kept for the next job of its deployment; 0 for not at all.
    """

    def __init__(
        self,
        asked: EndpointCalls,
        runner: LoadRunner,
        emit: Callable[[Event], None],
        now: Callable[[], float],
        keep_s: float = 0.0,
    ) -> None:
        self.keeper = EndpointKeeper(keep_s, self.drop, emit, now)
        self._keeps = keep_s > 0
        self._asked, self._runner, self._emit, self._now = asked, runner, emit, now
        self.jobs: dict[str, DeployedJob] = {}
        self.leaving: dict[str, EndpointDeletion] = {}
        """Endpoints of no open job that are to be deleted."""
        self._due: list[DeployedJob] = []

    def submit(self, job: DeployedJob) -> None:
        """Take a job up and ask for its endpoint, or look for the one that exists."""
        self.jobs[job.name] = job
        self.create(job)

    def create(self, job: DeployedJob) -> None:
        """Ask for a job's endpoint."""
        if not job.is_own:
            self._look_for(job)
            return
        if self.keeper.take(job):
            self.bring(job)
            return
        try:
            self._asked.create(job, self._created, self._refused)
        except UserError as error:
            self._refused(job, failure_of_user(error))

    def bring(self, job: DeployedJob) -> None:
        """Make the targets of a job that has an endpoint which was kept, and have its script run then."""
        self.accept(job)
        self._asked.add_targets(job, partial(self._brought, job), self._refused)

    def accept(self, job: DeployedJob) -> None:
        """Say that a job holds its endpoint, once."""
        if not job.accepted:
            job.accepted = True
            self._emit(Noted(job.name, self._now(), memo=held(job)))
            self._emit(Accepted(job.name, self._now()))

    def stop(self, job: DeployedJob, reason: Cause) -> None:
        """Have a job end; its endpoint goes as soon as the service lets it."""
        if job.stop_reason is not None or job.phase in (EndpointPhase.DELETING, EndpointPhase.OVER):
            return
        job.stop_reason = reason
        if job.phase is EndpointPhase.LOADED:
            self._runner.end(job, reason)
        elif job.phase is EndpointPhase.DEPLOYING:
            job.end_as(Outcome.STOPPED, reason, "stopped before it was in service")

    def seen(self, listing: Mapping[str, SeenEndpoint], begun_at: float) -> None:
        """Take in a listing of all endpoints.

        Args:
            listing: by name.
            begun_at: when it was begun; what came to be later is not in it.
        """
        for job in [*self.jobs.values()]:
            if job.is_own and job.phase is not EndpointPhase.CREATING and job.exists_since < begun_at:
                self._seen_one(job, listing.get(job.endpoint))
        for deletion in [*self.leaving.values()]:
            seen = listing.get(deletion.endpoint)
            if seen is None:
                self._left(deletion)
            elif seen.status in (_READY, _FAILED) and not deletion.is_asked:
                self._asked.delete(deletion, partial(self._left, deletion))

    def drop(self, endpoint: str, gone: Callable[[], None] = lambda: None) -> None:
        """Have an endpoint of no open job deleted, as soon as the service lets it, with what it is made of; `gone` is called once it is."""
        self.leaving[endpoint] = EndpointDeletion(endpoint, gone=gone)

    def script_closed(self, job: DeployedJob, event: Closed) -> None:
        """Take in that a job's script has ended; its endpoint goes."""
        job.script = event
        self.finish(job)

    def finish(self, job: DeployedJob) -> None:
        """Have a job's endpoint deleted, or close it where there is none to delete."""
        if not job.is_own:
            self.close(job)
            return
        if self._keeps and not self.keeper.is_over and job.verdict is None and job.phase is EndpointPhase.LOADED:
            # What the script made of it is no matter: the endpoint is in service.
            self.close(job)
            self.keeper.keep(job)
            return
        if job.phase is not EndpointPhase.DELETING:
            # Kept in the journal: who takes over and finds nothing knows what was measured, and until when it was billed.
            self._emit(Noted(job.name, self._now(), stage="Deleting", memo=measured(job, self._now())))
        job.phase = EndpointPhase.DELETING
        self._due.append(job)

    def order_deletions(self) -> None:
        """Have the endpoints deleted whose jobs are done with them; to be called once what was emitted of that is durable."""
        due, self._due = self._due, []
        for job in due:
            if job.phase is EndpointPhase.DELETING and not job.deletion.is_asked:
                self._asked.delete(job.deletion, partial(self.gone, job))

    def gone(self, job: DeployedJob) -> None:
        """Take in that a job's endpoint is no more."""
        if job.phase is EndpointPhase.OVER:
            return
        if job.is_leaving:
            return
        # Asked for now, as the service's own figures come some time after what they tell of, and outlive the endpoint.
        job.is_leaving = True
        job.billed_until = job.billed_until or self._now()
        self._asked.clear(job.endpoint)

        def told(figures: dict[str, dict[str, float]]) -> None:
            job.figures = figures
            if job.phase is not EndpointPhase.OVER:
                self.close(job)

        self._asked.figures(job, told)

    def close(self, job: DeployedJob) -> None:
        """Close a job."""
        job.phase = EndpointPhase.OVER
        del self.jobs[job.name]
        at = self._now()
        self._emit(Ended(job.name, at))
        self._emit(closed_event(job, at))

    def reject(self, job: DeployedJob, cause: Cause, message: str, retry_s: float | None = None) -> None:
        """Say that a job was not taken, and delete what was made for it."""
        job.phase = EndpointPhase.OVER
        del self.jobs[job.name]
        scope = Scope.INSTANCE_TYPE if cause is Cause.QUOTA else Scope.JOB
        self._emit(Rejected(job.name, self._now(), cause, message, scope, None if retry_s is None else self._now() + retry_s))
        if job.is_own:
            self._asked.clear(job.endpoint)

    def in_service(self, job: DeployedJob) -> None:
        """Have a job's script run, as what it calls is there."""
        if job.stop_reason is not None:
            job.end_as(Outcome.STOPPED, job.stop_reason, "stopped before its script ran")
        if job.verdict is not None:
            self.finish(job)
            return
        job.phase = EndpointPhase.LOADED
        if job.billed_from is not None and not job.warm and not job.started:
            job.waited_s = max(0.0, self._now() - job.billed_from)
            self._emit(Noted(job.name, self._now(), memo=served(job)))
        self._runner.begin(job)

    def _left(self, deletion: EndpointDeletion) -> None:
        if self.leaving.pop(deletion.endpoint, None) is not None:
            deletion.gone()
            self._asked.clear(deletion.endpoint)

    def _brought(self, job: DeployedJob) -> None:
        """Go on with a job whose targets are at the endpoint that was kept for it."""
        if job.phase is EndpointPhase.CREATING:
            self.in_service(job)

    def _created(self, job: DeployedJob, call: Call) -> None:
        if job.phase is not EndpointPhase.CREATING:
            return
        job.phase, job.exists_since = EndpointPhase.DEPLOYING, self._now()
        job.billed_from = call.sent_at or self._now()
        self.accept(job)
        if job.stop_reason is not None:
            job.end_as(Outcome.STOPPED, job.stop_reason, "stopped before it was in service")

    def _refused(self, job: DeployedJob, failure: CallFailure) -> None:
        if job.phase is not EndpointPhase.CREATING:
            return
        if job.stop_reason is None and failure.kind is FailureKind.MARKED:
            job.stop_reason = Cause.INTERRUPTED
        if job.warm:
            job.end_as(Outcome.FAILED, Cause.SERVICE_ERROR, failure.line)
            self.finish(job)
        elif job.stop_reason is not None:
            job.end_as(Outcome.STOPPED, job.stop_reason, "stopped before it was created")
            self._asked.clear(job.endpoint)
            self.close(job)
        elif failure.kind is FailureKind.QUOTA:
            # What waits counts against the quota, and a job of another deployment cannot have it.
            if failure.quota_limit != 0:
                self.keeper.free_one()
            self.reject(job, Cause.QUOTA, failure.line, None if failure.quota_limit == 0 else _RETRY_S)
        elif failure.kind is FailureKind.CAPACITY:
            self.reject(job, Cause.CAPACITY, failure.line, _RETRY_S)
        else:
            self.reject(job, Cause.BAD_REQUEST, failure.line)
            if failure.kind is FailureKind.DENIED:
                # No trial's own fault, and the next one's creation would be denied as well.
                raise CloudError(f"endpoint {job.endpoint} cannot be created", failure)

    def _look_for(self, job: DeployedJob) -> None:
        name = job.endpoint

        def found(answer: Mapping[str, Any]) -> None:
            if answer["EndpointStatus"] != _READY:
                self.reject(job, Cause.BAD_REQUEST, f"the endpoint {name} that is named by `existing` is {answer['EndpointStatus']}")
                return
            job.billed_from = self._now()
            self.accept(job)
            self.in_service(job)

        def absent() -> None:
            self.reject(job, Cause.BAD_REQUEST, f"there is no endpoint {name}, which `existing` names; leave it out to have one made")

        self._asked.describe(name, found, absent, partial(self._refused, job))

    def _seen_one(self, job: DeployedJob, seen: SeenEndpoint | None) -> None:
        phase = job.phase
        if seen is None:
            self._vanished(job)
        elif phase is EndpointPhase.DEPLOYING:
            self._deploying(job, seen)
        elif phase is EndpointPhase.LOADED and seen.status in (_FAILED, "Deleting"):
            self._lost(job, seen.status)
        elif phase is EndpointPhase.DELETING and seen.status in (_READY, _FAILED) and job not in self._due:
            self._due.append(job)

    def _deploying(self, job: DeployedJob, seen: SeenEndpoint) -> None:
        limit_s = job.deployment.deploy_s
        if seen.status == _READY:
            self.in_service(job)
        elif seen.status == _FAILED:
            self._asked.describe(job.endpoint, partial(self._failed, job), partial(self._vanished, job), lambda _: None)
        elif job.verdict is None and job.billed_from is not None and self._now() > job.billed_from + limit_s:
            # One that is being created cannot be deleted; it is as soon as it is in service, or has failed.
            job.end_as(Outcome.FAILED, Cause.TIME_OUT, f"the endpoint was not in service within deploy_s = {limit_s:g} s")
            self._emit(Noted(job.name, self._now(), text=f"endpoint {job.endpoint} is deleted once the service has done creating it"))

    def _failed(self, job: DeployedJob, answer: Mapping[str, Any]) -> None:
        if job.phase is not EndpointPhase.DEPLOYING:
            return
        reason = str(answer.get("FailureReason") or "the service gives no reason")
        job.end_as(Outcome.FAILED, cause_of(reason), f"the endpoint failed: {reason}")
        self.finish(job)

    def _lost(self, job: DeployedJob, status: str) -> None:
        """Its endpoint is no longer in service while its script runs: what was measured is kept, the rest cannot be."""

        def over(reason: str) -> None:
            if job.phase is EndpointPhase.LOADED and job.verdict is None:
                job.end_as(Outcome.FAILED, Cause.SERVICE_ERROR, f"the endpoint became {status} under load: {reason}")
                self._runner.end(job, Cause.LOST)

        self._asked.describe(
            job.endpoint,
            lambda answer: over(str(answer.get("FailureReason") or "no reason is given")),
            lambda: over("it is gone"),
            lambda _: None,
        )

    def _vanished(self, job: DeployedJob) -> None:
        if job.phase is EndpointPhase.LOADED:
            if job.verdict is None:
                job.end_as(Outcome.FAILED, Cause.LOST, "the endpoint was deleted by somebody while it was under load")
                self._runner.end(job, Cause.LOST)
            return
        if job.phase is EndpointPhase.DEPLOYING:
            job.end_as(Outcome.FAILED, Cause.LOST, "the service has no trace of the endpoint")
        self.gone(job)


def new_job(spec: JobSpec, now: float) -> DeployedJob:
    """Return a job that was just submitted; raises ValueError for one without an endpoint."""
    deployment = spec.endpoint
    if deployment is None:
        raise ValueError(f"{spec.name} has no endpoint")
    return DeployedJob(spec, deployment, deployment.existing or spec.name, now, is_own=not deployment.existing)
