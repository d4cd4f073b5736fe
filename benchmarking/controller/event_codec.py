"""Back-end events and suggestions as journal records, and events back: the one place that knows both forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.events import Accepted, Closed, Ended, Event, Noted, Rejected, Reported, Restarted, Retained, Scope, Started
from backends.failures import Cause, Outcome
from benchmarking.controller.journal import Record
from benchmarking.controller.method import Suggestion


def suggestion_body(suggestion: Suggestion | None, skipped: int, last_reason: str, evaluation: int, block_of: int | None) -> dict[str, Any]:
    """Return the body of a `suggest` record.

    Args:
        suggestion: what the method suggested; None where it has no more.
        skipped: suggestions before it that cannot run.
        last_reason: why the last of them cannot.
        evaluation: number that a new one gets.
        block_of: how many are ordered together.
    """
    body: dict[str, Any] = {"evaluation": None, "block_of": block_of}
    if skipped or (suggestion is None and last_reason):
        body |= {"skipped": skipped, "reason": last_reason}
    if suggestion is not None:
        body |= {"evaluation": evaluation, "configuration": dict(suggestion.configuration)}
        if suggestion.resume is not None:
            body |= {"evaluation": suggestion.resume, "resume": True}
        else:
            body |= {"level": suggestion.level, "repeat": suggestion.repeat}
        if suggestion.checkpoint_from is not None:
            body["checkpoint_from"] = suggestion.checkpoint_from
    return body


def recorded_suggestion(body: Mapping[str, Any]) -> Suggestion | None:
    """Return the suggestion that the body of a `suggest` record holds; None where the method had none."""
    if body["evaluation"] is None:
        return None
    if body.get("resume"):
        return Suggestion({}, resume=body["evaluation"])
    return Suggestion(body["configuration"], body["level"], body["repeat"], checkpoint_from=body.get("checkpoint_from"))


def event_record(event: Event) -> tuple[str, dict[str, Any]]:
    """Return the record kind and body of an event."""
    match event:
        case Reported():
            body: dict[str, Any] = {
                "job": event.job,
                "sequence": event.sequence,
                "elapsed_s": event.elapsed_s,
                "metrics": dict(event.metrics),
            }
            if event.incarnation:
                body["incarnation"] = event.incarnation
            return "reported", body
        case Accepted():
            return "accepted", {"job": event.job}
        case Started():
            return "started", {"job": event.job}
        case Restarted():
            return "restarted", {"job": event.job, "incarnation": event.incarnation}
        case Ended():
            return "ended", {"job": event.job}
        case Rejected():
            return "rejected", {
                "job": event.job,
                "cause": str(event.cause),
                "message": event.message,
                "scope": str(event.scope),
                "retry_at": event.retry_at,
            }
        case Closed():
            return "closed", {
                "job": event.job,
                "outcome": str(event.outcome),
                "cause": None if event.cause is None else str(event.cause),
                "message": event.message,
                "started_at": event.started_at,
                "ended_at": event.ended_at,
                "billable_s": event.billable_s,
                "usage": dict(event.usage),
                "log_tail": list(event.log_tail),
                **({} if event.instance_type is None else {"instance_type": event.instance_type}),
            }
        case Noted():
            return "noted", {"job": event.job, "stage": event.stage, "text": event.text}
        case Retained():
            return "retained", {
                "job": event.job,
                "instance_type": event.instance_type,
                "instance_count": event.instance_count,
                "worst_s": event.worst_s,
                "billable_s": event.billable_s,
                "reused_by": event.reused_by,
            }
    raise TypeError(f"{type(event).__name__} is no back-end event")


def record_event(record: Record) -> Event | None:
    """Return the event that a record holds, or None where it is none."""
    body: Mapping[str, Any] = record.body
    job, at = body.get("job", ""), record.at
    match record.kind:
        case "reported":
            return Reported(job, at, body["sequence"], body["metrics"], body["elapsed_s"], body.get("incarnation", 0))
        case "accepted":
            return Accepted(job, at)
        case "started":
            return Started(job, at)
        case "restarted":
            return Restarted(job, at, body["incarnation"])
        case "ended":
            return Ended(job, at)
        case "rejected":
            return Rejected(job, at, Cause(body["cause"]), body["message"], Scope(body["scope"]), body["retry_at"])
        case "closed":
            return Closed(
                job,
                at,
                outcome=Outcome(body["outcome"]),
                cause=None if body["cause"] is None else Cause(body["cause"]),
                message=body["message"],
                started_at=body["started_at"],
                ended_at=body["ended_at"],
                billable_s=body["billable_s"],
                usage=body["usage"],
                log_tail=tuple(body["log_tail"]),
                instance_type=body.get("instance_type"),
            )
        case "noted":
            return Noted(job, at, body["stage"], body["text"])
        case "retained":
            return Retained(
                job, at, body["instance_type"], body["instance_count"], body["worst_s"], body["billable_s"], body.get("reused_by", "")
            )
    return None
