"""A trial's job whose models an endpoint serves: what is known of it, from its submission to its end."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field

from backends.deployment import Deployment
from backends.events import Closed
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec


class EndpointPhase(enum.Enum):
    """How far a job is."""

    CREATING = "creating"
    """What it serves is brought to S3, and model, configuration and endpoint are asked for."""
    DEPLOYING = "deploying"
    """Its endpoint is there, and is not in service yet."""
    LOADED = "loaded"
    """Its script runs on this machine."""
    DELETING = "deleting"
    """Its script has ended, or never ran, and its endpoint is to go."""
    OVER = "over"


@dataclass(frozen=True)
class JobVerdict:
    """How a job ended, whatever becomes of its endpoint."""

    outcome: Outcome
    cause: Cause | None = None
    message: str = ""


@dataclass
class EndpointDeletion:
    """How far the deletion of an endpoint is.

    Args:
        endpoint: its name.
        is_asked: whether an order is on its way or was taken; `is_taken`: whether one was.
        unstoppable: why it cannot be deleted; empty as long as nothing is in the way.
        gone: called once it is gone, where it is of no open job.
    """

    endpoint: str
    is_asked: bool = False
    is_taken: bool = False
    unstoppable: str = ""
    gone: Callable[[], None] = lambda: None


@dataclass
class DeployedJob:
    """A job.

    Args:
        spec: as it was submitted.
        endpoint: name of its endpoint, which is the job's own unless it is one that exists, or one that was kept for it.
        submitted_at: of the back-end's clock.
        is_own: whether the endpoint is made and deleted.
        billed_from: when its bill begins; None as long as there is nothing to be billed.
        billed_until: when its bill ended, where that was before it is closed; None where it ends then.
        exists_since: when the endpoint was seen to exist, before which a listing tells nothing.
        incarnation: life of the script that runs now, or is to run, over all controllers.
        local_lives: lives of the script under earlier controllers.
        waited_s: seconds from the endpoint's creation until it was in service.
        script: what the local back-end said of the script's end.
        is_leaving: whether its endpoint is gone, and only what the service measured is awaited; `figures`: that.
        deletion: of the endpoint.
        warm: whether it got an endpoint that was kept.
    """

    spec: JobSpec
    deployment: Deployment
    endpoint: str
    submitted_at: float
    is_own: bool = True
    phase: EndpointPhase = EndpointPhase.CREATING
    billed_from: float | None = None
    billed_until: float | None = None
    exists_since: float = 0.0
    accepted: bool = False
    started: bool = False
    incarnation: int = 0
    local_lives: int = 0
    waited_s: float = 0.0
    stop_reason: Cause | None = None
    verdict: JobVerdict | None = None
    script: Closed | None = None
    warm: bool = False
    is_leaving: bool = False
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    deletion: EndpointDeletion = field(init=False)

    def __post_init__(self) -> None:
        self.deletion = EndpointDeletion(self.endpoint)

    @property
    def name(self) -> str:
        """The job's name."""
        return self.spec.name

    def use(self, endpoint: str, now: float) -> None:
        """Take an endpoint that was kept, billed to this job from now on."""
        self.endpoint, self.warm, self.billed_from, self.exists_since = endpoint, True, now, now
        self.deletion = EndpointDeletion(endpoint)

    def end_as(self, outcome: Outcome, cause: Cause | None = None, message: str = "") -> None:
        """Decide how it ended, unless that is decided."""
        if self.verdict is None:
            self.verdict = JobVerdict(outcome, cause, message)


def closed_event(job: DeployedJob, at: float) -> Closed:
    """Return the last event of a job.

    Billed is the time from the endpoint's creation until it was gone: of one that exists anyway, and of one that was kept, that of the job.

    Args:
        job: whose endpoint is gone, or is none of its own.
        at: seconds of the back-end's clock.
    """
    script, verdict = job.script, job.verdict
    if verdict is None and script is not None:
        verdict = JobVerdict(script.outcome, script.cause, script.message)
    if verdict is None:
        verdict = JobVerdict(Outcome.FAILED, Cause.LOST, "nothing is known of its end")
    usage = dict(script.usage) if script is not None else {}
    usage |= {"waited_s": round(job.waited_s, 3)} | ({"warm": True} if job.warm else {})
    usage |= {"service": job.figures} if job.figures else {}
    return Closed(
        job.name,
        at,
        verdict.outcome,
        verdict.cause,
        verdict.message,
        started_at=script.started_at if script is not None else None,
        ended_at=script.ended_at if script is not None else None,
        billable_s=0.0 if job.billed_from is None else max(0.0, (at if job.billed_until is None else job.billed_until) - job.billed_from),
        usage=usage,
        log_tail=script.log_tail if script is not None else (),
    )
