"""A clock that runs faster than life, for an emulator and the back-end that asks it: what they wait for comes sooner."""

from __future__ import annotations

import time
from collections.abc import Callable


class FastClock:
    """UTC seconds since the epoch that go by faster than real ones. Jobs are real processes and run in real time.

    Args:
        speed: seconds of this clock for each real one.
        start: what it shows first; now where None.
    """

    def __init__(self, speed: float, start: float | None = None) -> None:
        self.speed = speed
        self._began, self._start = time.monotonic(), time.time() if start is None else start

    @property
    def real_s(self) -> float:
        """Real seconds per second of this clock."""
        return 1.0 / self.speed

    def now(self) -> float:
        """Return the current time."""
        return self._start + (time.monotonic() - self._began) * self.speed

    def real_wait_s(self, moment: float) -> float:
        """Return the real seconds until `moment`, at least 0."""
        return max(0.0, (moment - self.now()) / self.speed)

    def subscribe(self, moved: Callable[[], None]) -> None:
        """Do nothing: it moves by itself."""
