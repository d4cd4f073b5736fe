"""When to say how far something is: after a second, and then ever less often."""

from __future__ import annotations

import time
from collections.abc import Callable

_FIRST_S, _LONGEST_S = 1.0, 30.0


class Pace:
    """Tells when the next line is due: a second after the start, then after twice as long each time, half a minute at most.

    Args:
        clock: gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._interval_s = _FIRST_S
        self._due_at = clock() + _FIRST_S

    def is_due(self) -> bool:
        """Return whether a line is due now; the next one is later then."""
        now = self._clock()
        if now < self._due_at:
            return False
        self._interval_s = min(2 * self._interval_s, _LONGEST_S)
        self._due_at = now + self._interval_s
        return True
