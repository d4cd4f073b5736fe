"""The emulator's clock: the system's, or one that a test moves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Seconds since the epoch, never going back, and how long to wait for a moment."""

    def now(self) -> float:
        """Return the current time."""

    def real_wait_s(self, moment: float) -> float | None:
        """Return how many real seconds to wait until `moment`; None where only `subscribe`'s call tells."""

    def subscribe(self, moved: Callable[[], None]) -> None:
        """Have `moved` called, from any thread, when the clock was moved by hand."""


class SystemClock:
    """UTC of the system, carried on by the monotonic clock, so that a step of the system's clock moves nothing."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Return the current time."""
        return time.monotonic() + self._offset

    def real_wait_s(self, moment: float) -> float | None:
        """Return the seconds until `moment`, at least 0."""
        return max(0.0, moment - self.now())

    def subscribe(self, moved: Callable[[], None]) -> None:
        """Do nothing: it moves by itself."""


class ManualClock:
    """A clock that stands still until `advance` moves it; processes that run do so in real time.

    Args:
        start: seconds since the epoch.
    """

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self._lock = threading.Lock()
        self._subscribers: list[Callable[[], None]] = []

    def now(self) -> float:
        """Return the current time."""
        with self._lock:
            return self._now

    def real_wait_s(self, moment: float) -> float | None:
        """Return 0 where the moment has come, else None."""
        return 0.0 if moment <= self.now() else None

    def subscribe(self, moved: Callable[[], None]) -> None:
        """Have `moved` called after each `advance`."""
        with self._lock:
            self._subscribers.append(moved)

    def advance(self, seconds: float) -> None:
        """Move forward; raises ValueError for a negative step."""
        if seconds < 0:
            raise ValueError(f"the clock cannot go back by {-seconds} s")
        with self._lock:
            self._now += seconds
            subscribers = list(self._subscribers)
        for moved in subscribers:
            moved()
