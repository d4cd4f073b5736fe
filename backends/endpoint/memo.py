"""What a controller notes of an endpoint job for the next one: which endpoint it has, since when, and how its load ended. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.endpoint.deployed_job import DeployedJob, JobVerdict, closed_event
from backends.events import Closed
from backends.failures import Cause, Outcome


def held(job: DeployedJob) -> dict[str, Any]:
    """Return what is noted when a job has its endpoint: the listings tell of one that was kept neither whose it is nor since when."""
    return {"endpoint": job.endpoint, "billed_from": job.billed_from}


def served(job: DeployedJob) -> dict[str, Any]:
    """Return what is noted when a job's endpoint serves."""
    return {"waited_s": job.waited_s}


def measured(job: DeployedJob, at: float) -> dict[str, Any]:
    """Return what is noted before a job's endpoint is deleted: after it, nothing but the journal knows of the load.

    Args:
        job: whose script has ended, or never ran.
        at: seconds of the back-end's clock.
    """
    end = closed_event(job, at)
    return {
        "measured": {
            "outcome": str(end.outcome),
            "cause": None if end.cause is None else str(end.cause),
            "message": end.message,
            "started_at": end.started_at,
            "ended_at": end.ended_at,
            "usage": dict(end.usage),
            "log_tail": list(end.log_tail),
        }
    }


def remember(job: DeployedJob, memo: Mapping[str, Any], now: float) -> bool:
    """Take in what an earlier controller noted of a job; return whether its load has ended, so that only its endpoint is left to delete.

    Args:
        job: new; changed.
        memo: all notes in one; may be empty.
        now: seconds of the back-end's clock.
    """
    endpoint, billed_from = memo.get("endpoint"), memo.get("billed_from")
    if endpoint and endpoint != job.endpoint:
        job.use(endpoint, now)
    job.billed_from = billed_from
    job.waited_s = float(memo.get("waited_s") or 0.0)
    end = memo.get("measured")
    if end is None:
        return False
    cause = None if end["cause"] is None else Cause(end["cause"])
    job.verdict = JobVerdict(Outcome(end["outcome"]), cause, end["message"])
    times = {"started_at": end["started_at"], "ended_at": end["ended_at"]}
    job.script = Closed(job.name, now, Outcome(end["outcome"]), **times, usage=end["usage"], log_tail=tuple(end["log_tail"]))
    return True
