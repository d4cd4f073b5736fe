"""What a closed job means for its trial, as the content of a `settle` record. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from backends.events import Closed, Rejected
from backends.failures import LOG_INCOMPLETE, Cause, Outcome
from benchmarking.analysis.missing_metrics import how_to_mend, how_to_report
from benchmarking.controller.budget import cost_usd
from benchmarking.controller.end_request import EndRequest
from benchmarking.controller.interfaces import JobFactory
from benchmarking.controller.prefixes import stopped_itself
from benchmarking.controller.retry_policy import TrialStatus, as_number, objective_problem, settle
from benchmarking.controller.rows import JobState, TrialState
from benchmarking.controller.state import ExperimentState


def due_settlement(state: ExperimentState, jobs: JobFactory, now: float, asked: EndRequest) -> dict[str, Any]:
    """Return the body of the next `settle` record that is due.

    Args:
        state: of the experiment.
        jobs: knows prices.
        now: seconds of the back-end's clock.
        asked: whether the end of the experiment was asked for; a job's end may be that as well.
    """
    job, event = state.due_settlements[0]
    event = asked.taken_in(job, event)
    trial, setup = state.trials[job.trial], state.setup
    ran_on = {"instance_type": event.instance_type} if isinstance(event, Closed) and event.instance_type else {}
    usd_per_hour, count = jobs.price({**trial.configuration, **ran_on})
    return settlement(
        trial, job, event, reported_objectives=state.reported_objectives, usd_per_hour=usd_per_hour, instance_count=count, now=now,
        level_name=setup.reported_level, full_level=setup.full_level, expressions=setup.expressions,
    )  # fmt: skip


def settlement(
    trial: TrialState,
    job: JobState,
    event: Closed | Rejected,
    *,
    reported_objectives: Sequence[str],
    usd_per_hour: float | None,
    instance_count: int,
    now: float,
    level_name: str | None = None,
    full_level: float | None = None,
    expressions: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the body of the `settle` record.

    Args:
        trial: the trial before this settlement.
        job: its job that was closed or rejected.
        event: what the back-end said.
        reported_objectives: objectives that a completed script must have reported.
        usd_per_hour: price of the instance type; None where it is unknown.
        instance_count: instances of the job.
        now: seconds of the back-end's clock.
        level_name: metric in which a script reports how far it has come; None where there is none.
        full_level: its highest value.
        expressions: that find metrics in what the script prints, by metric; a script has no other way to report then.
    """
    outcome, cause, message = _judged(trial, job, event, reported_objectives)
    if outcome is Outcome.COMPLETED and message.startswith(LOG_INCOMPLETE):
        message += _how_far(trial, level_name, full_level)
    if cause is Cause.NO_METRICS and not trial.last and reported_objectives and "report with" not in message:
        advice = how_to_mend(expressions, reported_objectives) if expressions else how_to_report(reported_objectives)
        message = f"{message}; {advice}"
    never = isinstance(event, Rejected) and event.retry_at is None
    decided = settle(outcome, cause, trial.causes[cause] if cause is not None else 0, never=never)
    if decided.status is TrialStatus.WAITING and job.stop_reason is not None:
        # A job that was to be stopped and was lost instead is not started again.
        cause, decided = job.stop_reason, settle(Outcome.STOPPED, job.stop_reason, 0)
    if cause is job.stop_reason:
        # The back-end knows only that it was asked to stop.
        message = message or job.stop_message
    retry_at = None
    if decided.status is TrialStatus.WAITING:
        retry_at = now + (decided.retry_in_s or 0.0)
        if isinstance(event, Rejected) and event.retry_at is not None:
            retry_at = max(now, event.retry_at)
    return {
        "job": job.name,
        "trial": trial.trial,
        "status": str(decided.status),
        "cause": None if cause is None else str(cause),
        "message": message[:2000],
        "counts": decided.counts,
        "retry_at": retry_at,
        "cost_usd": cost_usd(event.billable_s, usd_per_hour, instance_count) if isinstance(event, Closed) else None,
    }


def _judged(
    trial: TrialState, job: JobState, event: Closed | Rejected, reported_objectives: Sequence[str]
) -> tuple[Outcome, Cause | None, str]:
    """Return (outcome, cause, message) of a job: what the back-end said, judged by what the script reported."""
    outcome = Outcome.FAILED if isinstance(event, Rejected) else event.outcome
    if stopped_itself(trial, job, outcome, event.cause):
        return Outcome.STOPPED, Cause.PREFIX, ""
    if outcome is not Outcome.COMPLETED:
        return outcome, event.cause or Cause.SCRIPT_ERROR, event.message
    problem = objective_problem(reported_objectives, trial.last)
    return (outcome, event.cause, event.message) if problem is None else (Outcome.FAILED, *problem)


def _how_far(trial: TrialState, level_name: str | None, full_level: float | None) -> str:
    """Return how many levels of how many were seen; empty where that is not known."""
    level = as_number(trial.last.get(level_name)) if level_name is not None else None
    return "" if level is None or full_level is None else f", {level:g} of {full_level:g} {level_name}s"
