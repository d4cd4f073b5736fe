"""What becomes of a controller in a job: after its process ended, when the job is told to end, when the job's time is nearly up. Pure."""

from __future__ import annotations

import enum
import signal
from dataclasses import dataclass, replace

from definitions.errors import (
    EXIT_BUDGET,
    EXIT_CLOUD,
    EXIT_DETACHED,
    EXIT_DONE,
    EXIT_FAILURES,
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_TAKEN_OVER,
    EXIT_USAGE,
)

FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 300.0
"""Seconds before the first restart of a row, and the most before a later one: each wait is four times the one before it."""
MARGIN_S, MARGIN_SHARE = 300.0, 0.2
"""Seconds before its job's limit at which a controller hands over, and the most that this may be of the limit."""
AT_LIMIT_S = 5.0
"""Seconds around the limit within which TERM is the service's doing, as the job's time is over."""

_RUN_OVER = frozenset({EXIT_DONE, EXIT_FAILURES, EXIT_BUDGET})
_KILLED = "by SIGKILL: killed from outside, or for want of memory"


class Then(enum.StrEnum):
    """What a supervisor does next."""

    END = "end"
    AGAIN = "again"
    FAIL = "fail"
    HAND_OVER = "hand over"
    LEAVE = "leave"


class Asked(enum.StrEnum):
    """What the supervisor has asked its controller to do."""

    NOTHING = ""
    WIND_DOWN = "wind down"
    DETACH = "detach"
    HAND_OVER = "hand over"


@dataclass(frozen=True)
class Restarts:
    """Restarts of the controller's process since a trial was last finished.

    Args:
        most: restarts without a finished trial in between.
        used: of those, how many there were.
        finished: trials that were finished at the last look.
        total: restarts of all the job's generation.
    """

    most: int
    used: int = 0
    finished: int = 0
    total: int = 0

    def looked(self, finished: int) -> Restarts:
        """Return what is left after a look at the journals: a trial that was finished meanwhile makes all restarts free again."""
        return replace(self, used=0, finished=finished) if finished > self.finished else self

    @property
    def is_spent(self) -> bool:
        """Whether the process must not be started again."""
        return self.used >= self.most

    @property
    def wait_s(self) -> float:
        """Seconds before the next restart."""
        return float(min(LONGEST_WAIT_S, FIRST_WAIT_S * 4**self.used))

    def again(self) -> Restarts:
        """Return what is left after one restart."""
        return replace(self, used=self.used + 1, total=self.total + 1)


@dataclass(frozen=True)
class Step:
    """What comes next, and why in words; `wait_s` is how long a restart waits."""

    then: Then
    why: str
    wait_s: float = 0.0


def after_end(code: int, asked: Asked, restarts: Restarts, said: str = "") -> Step:
    """Return what comes after the end of the controller's process.

    Args:
        code: its exit code; negative for a signal.
        asked: what it had been asked to do.
        restarts: as they stand, after a look at what is finished.
        said: the last that it said of a failure; empty for nothing.
    """
    # What was said of an end that was asked for is no reason of it.
    why = words_of(code, "" if code in _RUN_OVER or code == EXIT_INTERRUPTED else said)
    if code == EXIT_TAKEN_OVER:
        return Step(Then.LEAVE, "another controller is at work on this run: this one ends and touches nothing")
    if code in _RUN_OVER:
        return Step(Then.END, why)
    if asked is Asked.HAND_OVER:
        # However it ended: what it wrote is in S3, and its successor begins with that.
        return Step(Then.HAND_OVER, "its job's time is nearly up" if code == EXIT_DETACHED else f"its job's time is nearly up, and {why}")
    if asked in (Asked.DETACH, Asked.WIND_DOWN) or code == EXIT_INTERRUPTED:
        return Step(Then.END, why)
    if code == EXIT_USAGE:
        # What is refused now is refused again.
        return Step(Then.FAIL, why)
    if restarts.is_spent:
        count = f"{restarts.used} restart{'' if restarts.used == 1 else 's'} without a finished trial" if restarts.most else "no restarts"
        return Step(Then.FAIL, f"{count}: {why}")
    return Step(Then.AGAIN, why, restarts.wait_s)


def words_of(code: int, said: str = "") -> str:
    """Return in words how a controller's process ended.

    Args:
        code: its exit code; negative for a signal.
        said: the last that it said of a failure; empty for nothing.
    """
    if code < 0:
        words = f"the controller was ended {_KILLED if code == -signal.SIGKILL else f'by {_signal_name(-code)}'}"
    else:
        known = {
            EXIT_DONE: "the run is done",
            EXIT_FAULT: "a fault of ours ended the controller",
            EXIT_USAGE: "the run is refused",
            EXIT_FAILURES: "the run ended: its failure budget is spent, or nothing was measured",
            EXIT_BUDGET: "the run ended: its budget is spent",
            EXIT_CLOUD: "the cloud refused what the controller needs",
            EXIT_INTERRUPTED: "the run was stopped",
            EXIT_DETACHED: "the controller let its trials run on and ended",
        }
        words = known.get(code, f"the controller ended with exit code {code}")
    if not said or code == EXIT_DETACHED:
        return words
    # Whoever is killed has not said why.
    return f"{words} (it said last: {said})" if code < 0 else f"{words}: {said}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def margin_s(max_run_s: float) -> float:
    """Return how many seconds before its job's limit a controller hands over."""
    return min(MARGIN_S, MARGIN_SHARE * max_run_s)


def hands_over_in_s(max_run_s: float, used_s: float) -> float:
    """Return in how many seconds a controller hands over; 0 where that is due.

    Args:
        max_run_s: limit of its job, over all lives on all instances that it was given.
        used_s: seconds of it that are used.
    """
    return max(0.0, max_run_s - used_s - margin_s(max_run_s))


def on_term(status: str | None, *, is_marked: bool, left_s: float) -> Asked:
    """Return what is asked of the controller where its job is told to end.

    Args:
        status: of the job as the service tells it; None where it did not answer in time.
        is_marked: whether somebody left a mark that the run is to stop.
        left_s: seconds until the job's limit, below 0 after it.
    """
    if is_marked:
        return Asked.WIND_DOWN
    # The service shows a job as stopping, too, that has used up its time.
    return Asked.WIND_DOWN if status == "Stopping" and left_s > AT_LIMIT_S else Asked.DETACH
