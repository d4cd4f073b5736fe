"""Whether everything is to be stopped now, or nothing more can start, and why. Pure."""

from __future__ import annotations

from backends.failures import Cause
from benchmarking.controller.budget import Limit, may_add, reached
from benchmarking.controller.end_request import EndRequest
from benchmarking.controller.ending import Reason
from benchmarking.controller.retry_policy import common_cause
from benchmarking.controller.state import ExperimentState
from definitions.schema import Budget


def limit_reason(limit: Limit) -> Reason:
    """Return the reason that goes with a reached limit."""
    return Reason(str(limit))


_CAUSES = {
    Reason.INTERRUPTED: Cause.INTERRUPTED,
    Reason.ALONE: Cause.ALONE,
    Reason.ALIKE: Cause.ALIKE,
    Reason.DISK_FULL: Cause.DISK_FULL,
}


def stop_cause(reason: Reason) -> Cause:
    """Return the cause of a trial that is stopped because its experiment ends for a reason."""
    return _CAUSES.get(reason, Cause.BUDGET)


def why_stopping(
    state: ExperimentState,
    budget: Budget,
    asked: EndRequest,
    *,
    disk_full: str = "",
    elapsed_s: float,
    n_workers: int,
) -> tuple[Reason, str] | None:
    """Return why everything is to be stopped now and nothing more started, and its detail; None to go on.

    Args:
        state: of the experiment.
        budget: its limits.
        asked: whether somebody asked for an end.
        disk_full: what showed that the disk is full; empty where nothing did.
        elapsed_s: seconds that the experiment's controllers have run; not looked at where time has no limit.
        n_workers: trials that may be in flight at once: so many that fail alike at the start end it.
    """
    if asked.is_made:
        return (Reason.ALONE if asked.alone else Reason.INTERRUPTED), asked.why
    if disk_full:
        return Reason.DISK_FULL, disk_full
    if state.failures and len(state.failures) == state.finished:
        alike = common_cause(state.failures, state.finished, n_workers)
        if alike is not None:
            return Reason.ALIKE, alike
    limit = reached(budget, failures=state.counted_failures, elapsed_s=elapsed_s)
    return None if limit is None else (limit_reason(limit), state.failures[-1][1] if limit is Limit.FAILURES else "")


def nothing_left(state: ExperimentState, budget: Budget, now: float, *, is_computing: bool) -> tuple[Reason, str] | None:
    """Return why nothing more can start although nothing runs, and its detail; None where something will in time.

    Args:
        state: of the experiment, without open jobs.
        budget: its limits.
        now: in seconds of the back-end's clock, from before it was tried to start something: what was due by then could.
        is_computing: whether the method's worker is about to suggest something.
    """
    if state.waiting or state.doors.last_at() > now:
        # What waits may be due while its kind of jobs is refused until later, by another that was refused since.
        tried = state.waiting and state.waiting[0][0] <= now and state.doors.last_at() <= now
        return (Reason.COST, "") if tried else None
    if state.interrupted:
        return Reason.COST, ""
    if state.exhausted and not state.queue:
        return (Reason.EXHAUSTED, "") if state.trials else (Reason.NOTHING_VALID, state.last_reason)
    if may_add(budget, len(state.trials), state.killed) is not None:
        return Reason.TRIALS, ""
    return None if is_computing else (Reason.COST, "")
