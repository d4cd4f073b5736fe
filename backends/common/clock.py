"""A clock that tells UTC and only moves forward, whatever is done to the wall clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

elapsed_s: Callable[[], float] = partial(time.clock_gettime, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic
"""Returns seconds of a clock that never steps and, where the system has one, goes on while the machine sleeps."""


class SteadyClock:
    """UTC seconds since the epoch, read from the wall clock once and carried on by a clock that never steps.

    Args:
        wall: seconds since the epoch; asked once.
        elapsed: seconds since any fixed moment.
    """

    def __init__(self, wall: Callable[[], float] = time.time, elapsed: Callable[[], float] = elapsed_s) -> None:
        self._elapsed = elapsed
        self._offset = wall() - elapsed()

    def __call__(self) -> float:
        """Return the time."""
        return self._offset + self._elapsed()
