"""How an experiment ended: the reason, the sentence for people, and the exit code. Pure."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, replace

from benchmarking.controller.state import ExperimentState
from definitions.errors import EXIT_BUDGET, EXIT_DETACHED, EXIT_DONE, EXIT_FAILURES, EXIT_INTERRUPTED, EXIT_USAGE
from definitions.schema import Budget


class Reason(enum.StrEnum):
    """Why an experiment ended."""

    EXHAUSTED = "exhausted"
    NOTHING_VALID = "nothing_valid"
    TRIALS = "max_num_trials"
    TIME = "max_wallclock_time"
    COST = "max_cost"
    FAILURES = "max_failures"
    ALIKE = "all_fail_alike"
    NONE_SUCCEEDED = "every_trial_failed"
    DISK_FULL = "disk_full"
    INTERRUPTED = "interrupted"
    DETACHED = "detached"
    """The controller left everything to the next one; the experiment has not ended."""
    ALONE = "stopped_alone"
    """Somebody ended this experiment, and not the others of its command."""


@dataclass(frozen=True)
class Ending:
    """How an experiment ended: the reason, one sentence for people, and the exit code."""

    reason: Reason
    message: str
    exit_code: int


def budget_use(reason: Reason, budget: Budget, *, trials: int, failures: int, elapsed_s: float, spent_usd: float) -> str:
    """Return the limit that a reason is about, its value, and what of it was used; empty where it is about none.

    Args:
        reason: why the experiment ends.
        budget: its limits.
        trials: trials started.
        failures: trials that count against `max_failures`.
        elapsed_s: seconds that the experiment's controllers have run.
        spent_usd: dollars spent by closed jobs, over the whole invocation.
    """
    match reason:
        case Reason.TIME:
            return f"max_wallclock_time = {budget.max_wallclock_time:g} s, {elapsed_s:.1f} s used"
        case Reason.COST if budget.max_cost is not None:
            return f"max_cost = ${budget.max_cost:g}, ${spent_usd:.4g} spent"
        case Reason.FAILURES:
            return f"max_failures = {budget.max_failures}, {failures} trials failed"
        case Reason.TRIALS:
            return f"max_num_trials = {budget.max_num_trials}, {trials} started"
    return ""


def ending(
    reason: Reason, *, finite: bool, unfinished: bool, trials: int, measured: bool = True, detail: str = "", used: str = ""
) -> Ending:
    """Return the ending for a reason.

    Args:
        reason: why nothing more is started.
        finite: whether the user asked for a whole list.
        unfinished: whether any of it is left, or a started trial was cut short.
        trials: trials started.
        measured: whether any of them was completed, or reported a value of an objective and did not fail.
        detail: what is special about this case, e.g. the common cause of failures.
        used: the limit, its value and its use, as `budget_use` says them.
    """
    cut_short = EXIT_BUDGET if (finite and unfinished) or trials == 0 else EXIT_DONE if measured else EXIT_FAILURES
    suffix = (f" ({used})" if used else "") + (f": {detail}" if detail else "")
    match reason:
        case Reason.EXHAUSTED:
            return Ending(reason, f"all {trials} trials are done{suffix}", EXIT_DONE)
        case Reason.NOTHING_VALID:
            return Ending(reason, f"no configuration can run{suffix}", EXIT_USAGE)
        case Reason.TRIALS:
            return Ending(reason, f"max_num_trials is reached after {trials} trials{suffix}", cut_short)
        case Reason.TIME:
            return Ending(reason, f"max_wallclock_time is over after {trials} trials{suffix}", cut_short)
        case Reason.COST:
            return Ending(reason, f"max_cost allows no further trial after {trials}{suffix}", cut_short)
        case Reason.FAILURES:
            return Ending(reason, f"the failure budget is spent after {trials} trials{suffix}", EXIT_FAILURES)
        case Reason.ALIKE:
            return Ending(reason, f"the first {trials} trials all fail alike{suffix}", EXIT_FAILURES)
        case Reason.NONE_SUCCEEDED:
            return Ending(reason, f"every one of {trials} trials failed{suffix}", EXIT_FAILURES)
        case Reason.DISK_FULL:
            return Ending(reason, f"the disk is full after {trials} trials{suffix}", EXIT_BUDGET)
        case Reason.INTERRUPTED:
            return Ending(reason, f"interrupted after {trials} trials{suffix}", EXIT_INTERRUPTED)
        case Reason.DETACHED:
            return Ending(reason, f"left to the next controller after {trials} trials{suffix}", EXIT_DETACHED)
        case Reason.ALONE:
            return Ending(reason, f"stopped alone after {trials} trials{suffix}", EXIT_INTERRUPTED)


def final_reason(reason: Reason, detail: str, state: ExperimentState) -> tuple[Reason, str]:
    """Return why an experiment ended, and its detail, once its jobs are closed: where every trial failed, that is the reason.

    Args:
        reason: why nothing more was started.
        detail: what is special about it.
        state: of the experiment.
    """
    trials = state.trials.values()
    if reason in (Reason.EXHAUSTED, Reason.TRIALS) and trials and all(trial.status.is_failure for trial in trials):
        return Reason.NONE_SUCCEEDED, causes_of(state)
    return reason, detail


def causes_of(state: ExperimentState) -> str:
    """Return which cause of failure had how many trials, the commonest first, and what the last of them said."""
    lost = [trial for trial in state.trials.values() if trial.status.is_failure]
    counts = Counter(str(trial.cause) for trial in lost)
    said = max(lost, key=lambda trial: (trial.ended_at or 0.0, trial.trial), default=None)
    parts = [", ".join(f"{count} x {cause}" for cause, count in counts.most_common()), said.message if said is not None else ""]
    return "; the last: ".join(part for part in parts if part)


def final_ending(
    reason: Reason, detail: str, state: ExperimentState, *, finite: bool, conclusion: tuple[bool, str] | None = None, used: str = ""
) -> Ending:
    """Return the ending of an experiment whose jobs are all closed.

    Args:
        reason: why, as `final_reason` says it.
        detail: what is special about this case, e.g. the common cause of failures.
        state: of the experiment.
        finite: whether the user asked for a whole list.
        conclusion: of the method: whether it decided what it was asked for, and a sentence; None for no conclusion.
        used: the limit, its value and its use, as `budget_use` says them.
    """
    unfinished = not state.exhausted or bool(state.queue or state.block or state.interrupted or state.waiting)
    # What was stopped because the first trials failed alike is not among those.
    trials = state.finished if reason is Reason.ALIKE else len(state.trials)
    detail = conclusion[1] if conclusion else detail
    if reason in (Reason.TIME, Reason.COST) and not state.has_measured and not detail:
        detail = causes_of(state)
    result = ending(reason, finite=finite, unfinished=unfinished, trials=trials, measured=state.has_measured, detail=detail, used=used)
    return replace(result, exit_code=EXIT_BUDGET) if conclusion is not None and not conclusion[0] else result
