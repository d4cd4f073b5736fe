"""When and why an experiment is over, and the exit code that says so. Pure."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from benchmarking.budget import Limit
from definitions.errors import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES, EXIT_INTERRUPTED, EXIT_USAGE


class Reason(enum.StrEnum):
    """Why an experiment ended."""

    EXHAUSTED = "exhausted"
    NOTHING_VALID = "nothing_valid"
    TRIALS = "max_num_trials"
    TIME = "max_wallclock_time"
    COST = "max_cost"
    FAILURES = "max_failures"
    ALIKE = "all_fail_alike"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Ending:
    """How an experiment ended: the reason, one sentence for people, and the exit code."""

    reason: Reason
    message: str
    exit_code: int


def limit_reason(limit: Limit) -> Reason:
    """Return the reason that goes with a reached limit."""
    return Reason(str(limit))


def ending(reason: Reason, *, finite: bool, unfinished: bool, trials: int, detail: str = "") -> Ending:
    """Return the ending for a reason.

    Args:
        reason: why nothing more is started.
        finite: whether the user asked for a whole list.
        unfinished: whether any of it is left, or a started trial was cut short.
        trials: trials started.
        detail: what is special about this case, e.g. the common cause of failures.
    """
    cut_short = EXIT_BUDGET if (finite and unfinished) or trials == 0 else EXIT_DONE
    suffix = f": {detail}" if detail else ""
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
        case Reason.INTERRUPTED:
            return Ending(reason, f"interrupted after {trials} trials{suffix}", EXIT_INTERRUPTED)
