"""Prefixes of the full job among the trials: when they are told of, when their time is over, and what they measured. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from backends.failures import Cause, Outcome
from benchmarking.analysis.measurements import PREFIX, measurements
from benchmarking.controller.aggregation import Tell
from benchmarking.controller.known_progress import known_progress
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import JobState, TrialState


def progress_tell(trial: TrialState, job: JobState, full_level: float | None) -> Tell | None:
    """Return the call that progress makes due: of a prefix that nobody has asked to stop yet; else None.

    Args:
        trial: of the job.
        job: that has just said how far it is.
        full_level: the last level of a progressive fidelity, from which the total of a script follows that counts steps and reports levels.
    """
    if trial.spec.prefix_s is None or job.stop_requested_at is not None:
        return None
    known = known_progress(job, full_level)
    return None if known is None else Tell("progress", trial.evaluation, progress=known)


def over_at(trial: TrialState, job: JobState) -> float | None:
    """Return when the time of a running prefix is over, in the back-end's clock; None of other jobs and of those that are stopped."""
    if trial.spec.prefix_s is None or not job.started or job.ended or job.stop_requested_at is not None or job.started_at is None:
        return None
    return job.started_at + trial.spec.prefix_s


def first_over(trials: Mapping[int, TrialState], jobs: Mapping[str, JobState], names: Iterable[str]) -> tuple[float, str] | None:
    """Return when the time of the first of these prefixes is over, and the name of its job; None where none of them runs."""
    found = [(at, name) for name in names if (at := over_at(trials[jobs[name].trial], jobs[name])) is not None]
    return min(found, default=None)


def stopped_itself(trial: TrialState, job: JobState, outcome: Outcome, cause: Cause | None) -> bool:
    """Return whether a prefix ended well because its reporter ended it, and not because its work was done.

    The reporter ends a script at its first word of progress after `prefix_s` seconds, and says so far in that word. To a back-end it may be
    a success without a report.
    """
    limit_s, said = trial.spec.prefix_s, job.progress
    ended_well = outcome is Outcome.COMPLETED or cause is Cause.NO_METRICS
    if not ended_well or limit_s is None or said is None:
        return False
    last = said.points[-1]
    return last.elapsed_s >= limit_s and (said.total is None or last.done < said.total)


def ran_to_its_end(trial: TrialState, job: JobState, outcome: Outcome, cause: Cause | None) -> bool:
    """Return whether a job ended well by itself: nobody stopped it, and neither did its reporter."""
    ended_well = outcome is Outcome.COMPLETED and job.stop_requested_at is None
    return ended_well and not stopped_itself(trial, job, outcome, cause)


def end_of_prefix(trial: TrialState) -> Tell:
    """Return the call that the end of a prefix makes due: complete whatever it had reported, unless it failed."""
    return Tell("complete" if trial.status is TrialStatus.COMPLETED else "error", trial.evaluation)


def with_measurements(tell: Tell, trial: TrialState) -> Tell:
    """Return the call with what a canary measured, and what it said of its progress; as it is for all other trials."""
    if tell.call != "complete" or trial.level is None or (trial.starts > 1 and trial.reused is None and not is_prefix(trial)):
        # A canary that was interrupted and went on says nothing of the full job's time; of a prefix the last life's progress does.
        return tell
    billable_s, cost_usd = trial.value_of("billable_s") or 0.0, trial.value_of("cost_usd")
    used = measurements(trial.usage, trial.last, trial.duration_s, billable_s, cost_usd)
    return replace(tell, result={**tell.result, **{PREFIX + name: value for name, value in used.items()}}, progress=trial.progress)


def has_canaries(trials: Mapping[int, TrialState]) -> bool:
    """Return whether any trial is a canary or a prefix of the full job, so that there may be forecasts."""
    return any(trial.level is not None for trial in trials.values())


def is_prefix(trial: TrialState) -> bool:
    """Return whether a trial is a prefix of the full job, be it that the job was over sooner."""
    return trial.spec.prefix_s is not None
