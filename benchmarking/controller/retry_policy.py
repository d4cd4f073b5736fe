"""What happens when a job is closed: the table of causes, as pure functions."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from backends.failures import Cause, Outcome, signature
from benchmarking.analysis.missing_metrics import missing


class TrialStatus(enum.StrEnum):
    """Where a trial stands."""

    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    INFEASIBLE = "infeasible"
    DIVERGED = "diverged"
    STOPPED = "stopped"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"

    @property
    def is_final(self) -> bool:
        """Whether nothing more will be run for the trial."""
        return self in _FINAL

    @property
    def is_failure(self) -> bool:
        """Whether the trial is over, and was neither completed nor stopped by anybody."""
        return self in _FAILURES


_FINAL = frozenset({TrialStatus.COMPLETED, TrialStatus.FAILED, TrialStatus.INFEASIBLE, TrialStatus.DIVERGED, TrialStatus.STOPPED})


_FAILURES = frozenset({TrialStatus.FAILED, TrialStatus.INFEASIBLE, TrialStatus.DIVERGED})


@dataclass(frozen=True)
class RetryRule:
    """How one cause is treated.

    Args:
        status: the trial's status when it is not retried.
        counts: whether that counts against `max_failures`.
        retries: how often the cause is retried; None without limit.
        backoff_s: wait before the first retry; doubled for each further one, up to ten minutes.
    """

    status: TrialStatus
    counts: bool
    retries: int | None = 0
    backoff_s: float = 0.0


RETRY_RULES: Mapping[Cause, RetryRule] = {
    Cause.SCRIPT_ERROR: RetryRule(TrialStatus.FAILED, counts=True),
    Cause.NO_METRICS: RetryRule(TrialStatus.FAILED, counts=True),
    Cause.TIME_OUT: RetryRule(TrialStatus.FAILED, counts=True),
    Cause.BAD_REQUEST: RetryRule(TrialStatus.FAILED, counts=True),
    Cause.OUT_OF_MEMORY: RetryRule(TrialStatus.INFEASIBLE, counts=False),
    Cause.DIVERGED: RetryRule(TrialStatus.DIVERGED, counts=False),
    Cause.THROTTLED: RetryRule(TrialStatus.FAILED, counts=False, retries=None, backoff_s=1.0),
    Cause.QUOTA: RetryRule(TrialStatus.FAILED, counts=False, retries=None, backoff_s=10.0),
    Cause.CREDENTIALS: RetryRule(TrialStatus.FAILED, counts=False, retries=None, backoff_s=15.0),
    Cause.CAPACITY: RetryRule(TrialStatus.FAILED, counts=True, retries=5, backoff_s=30.0),
    Cause.SPOT: RetryRule(TrialStatus.FAILED, counts=True, retries=10, backoff_s=5.0),
    Cause.SERVICE_ERROR: RetryRule(TrialStatus.FAILED, counts=True, retries=3, backoff_s=10.0),
    Cause.LOST: RetryRule(TrialStatus.FAILED, counts=True, retries=1),
    # No fault of the trial, unless it is one that takes the controller with it each time.
    Cause.CONTROLLER: RetryRule(TrialStatus.FAILED, counts=True, retries=10),
    Cause.SCHEDULER: RetryRule(TrialStatus.STOPPED, counts=False),
    Cause.PREFIX: RetryRule(TrialStatus.COMPLETED, counts=False),
    Cause.PAUSED: RetryRule(TrialStatus.PAUSED, counts=False),
    Cause.OUTSIDE: RetryRule(TrialStatus.STOPPED, counts=False),
    Cause.BUDGET: RetryRule(TrialStatus.INTERRUPTED, counts=False),
    Cause.ALIKE: RetryRule(TrialStatus.INTERRUPTED, counts=False),
    Cause.DISK_FULL: RetryRule(TrialStatus.INTERRUPTED, counts=False),
    Cause.INTERRUPTED: RetryRule(TrialStatus.INTERRUPTED, counts=False),
    Cause.ALONE: RetryRule(TrialStatus.INTERRUPTED, counts=False),
}

_OF_THE_SCRIPT = (Cause.SCRIPT_ERROR, Cause.NO_METRICS, Cause.TIME_OUT, Cause.BAD_REQUEST)

_LONGEST_BACKOFF_S = 600.0


@dataclass(frozen=True)
class Settlement:
    """What becomes of a trial after one of its jobs.

    Args:
        status: the trial's new status; `WAITING` means it is retried.
        counts: whether it counts against `max_failures`.
        retry_in_s: seconds until the retry; None where there is none.
    """

    status: TrialStatus
    counts: bool = False
    retry_in_s: float | None = None


def settle(outcome: Outcome, cause: Cause | None, earlier: int, *, never: bool = False) -> Settlement:
    """Decide what becomes of a trial whose job was closed.

    Args:
        outcome: how the job ended.
        cause: why it was not simply completed; None where it was.
        earlier: how many earlier jobs of the trial ended for the same cause.
        never: the back-end refused the job for good: it is not retried whatever the cause, and counts.
    """
    if cause is None:
        return Settlement(TrialStatus.COMPLETED if outcome is Outcome.COMPLETED else TrialStatus.FAILED, counts=outcome is Outcome.FAILED)
    rule = RETRY_RULES[cause]
    if never:
        return Settlement(rule.status, counts=True)
    if rule.retries is None or earlier < rule.retries:
        return Settlement(TrialStatus.WAITING, retry_in_s=min(rule.backoff_s * 2**earlier, _LONGEST_BACKOFF_S))
    return Settlement(rule.status, counts=rule.counts)


def as_number(value: Any) -> float | None:
    """Return a metric as a number, also where it was reported as a numeric string; None where it is no number at all."""
    if type(value) is float:
        return value  # nearly all are: asked of every objective of every report
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def objective_problem(objectives: Sequence[str], last: Mapping[str, Any]) -> tuple[Cause, str] | None:
    """Return why a completed trial's last values are no result: an objective that is missing, or not finite.

    Args:
        objectives: names of the objectives that the script reports.
        last: the last value reported under each name.
    """
    for name in objectives:
        value = as_number(last.get(name))
        if value is None:
            if last.get(name) is not None:
                return Cause.NO_METRICS, f"objective {name!r} is no number: {last[name]!r}"
            return Cause.NO_METRICS, missing(name, [key for key in last if key != name])
        if not math.isfinite(value):
            return Cause.DIVERGED, f"{name} = {value}"
    return None


class Failure(NamedTuple):
    """Why a trial failed; `place` is the file and the function in which an exception was raised, empty where it is not known."""

    cause: Cause
    message: str
    place: str = ""


def common_cause(failures: Sequence[Failure], finished: int, n_workers: int) -> str | None:
    """Return what the first failures have in common, where it is plain that the script is at fault; else None.

    Args:
        failures: of the failed trials, in order.
        finished: trials that ended in any way.
        n_workers: trials that run at once; as many, but at least two, must fail alike before anything else ended.
    """
    wanted = max(2, n_workers)
    if len(failures) < wanted or finished != len(failures) or failures[0].cause not in _OF_THE_SCRIPT:
        return None
    alike = {signature(*failure) for failure in failures}
    return failures[0].message or str(failures[0].cause) if len(alike) == 1 else None
