"""How long the loop may wait for the next event: until the first moment at which something else is due. Pure."""

from __future__ import annotations

from collections.abc import Callable

from benchmarking.controller.prefixes import first_over
from benchmarking.controller.state import ExperimentState

TICK_S = 1e-6
"""Times closer than this are equal: the resolution of a float that holds seconds since the epoch is 2.4e-7."""

_COMPUTING_S = 60.0
"""Longest wait for a method that computes while nothing runs; its answer ends it early."""


def limit_at(state: ExperimentState, limit_s: float | None, downtime_s: float) -> float | None:
    """Return when the limit of time is reached; None where there is none, nothing has run yet, or its clock stands still.

    Args:
        state: of the experiment.
        limit_s: seconds that it may run.
        downtime_s: seconds since the first job's start in which no controller was at work.
    """
    if limit_s is None or state.first_start is None or state.waits.is_waiting:
        return None
    return state.first_start[1] + downtime_s + state.waits.seconds() + limit_s


def timeout_s(
    state: ExperimentState,
    now: Callable[[], float],
    *,
    stopping: bool,
    limit_at: float | None,
    is_computing: bool,
    release_until: float | None,
    looked_at: float | None = None,
) -> float | None:
    """Return the seconds until something is due although nothing happens; None where nothing ever is.

    Args:
        state: of the experiment; its refusals that hold until a moment and its trials that wait for one are due then.
        now: the back-end's clock, in seconds; asked only where something is due.
        stopping: whether everything is being stopped, so that neither retries nor the limit of time matter.
        limit_at: when the limit of time is reached; None where there is none.
        is_computing: whether the method computes its next suggestion elsewhere.
        release_until: when the wait for kept instances is given up; None where there is no such wait.
        looked_at: when it was last tried to start something: what has come due since ends the wait at once. None for now.
    """
    over = first_over(state.trials, state.jobs, state.prefixes) if state.prefixes else None
    if limit_at is None and release_until is None and over is None and not (state.waiting or state.doors or is_computing):
        return None  # for most events: the rest costs as much as all else that is done for a report
    at = now()
    seen = (at if looked_at is None else min(looked_at, at)) + TICK_S
    due = [until for until in state.doors.until.values() if until > seen]
    if not stopping:
        due += [retry_at for retry_at, _ in state.waiting[:1] if retry_at > seen]
        due += [] if limit_at is None else [limit_at]
    if over is not None:
        due.append(over[0])
    if is_computing:
        due.append(at + _COMPUTING_S)
    if release_until is not None and not state.jobs:
        due.append(release_until)
    return max(0.0, min(due) - at) if due else None
