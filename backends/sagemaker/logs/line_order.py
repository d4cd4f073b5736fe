"""Puts lines that come late and out of order into the order in which they were printed. No I/O."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

_LEAST_LATE_S, _MOST_LATE_S = 2.0, 30.0


@dataclass(frozen=True, order=True)
class Line:
    """One line.

    Args:
        at_ms: when it was printed; `number`: which one it was of all that came.
        since: tells lives of the host apart.
        text: without its end.
        came_at: when it came, by this machine's clock.
    """

    at_ms: int
    number: int
    since: int
    text: str
    came_at: float


class LineOrder:
    """Holds each line back until one that was printed before it, and was as late as any so far, would have been seen."""

    def __init__(self) -> None:
        self._held: list[Line] = []
        # The first lines cannot tell how late others will be.
        self._late_s = _LEAST_LATE_S

    def add(self, line: Line, late_s: float) -> None:
        """Take a line that the service showed so many seconds after it was printed."""
        self._late_s = max(self._late_s, min(late_s, _MOST_LATE_S))
        bisect.insort(self._held, line)

    def ripe(self, looked_at: float) -> list[Line]:
        """Return, in their order, the lines that are certain, and those printed before one of them.

        Args:
            looked_at: when it began that was looked for new lines last, and all that was found then has been added.
        """
        last = max((place for place, line in enumerate(self._held) if line.came_at + self._late_s <= looked_at), default=-1)
        found, self._held = self._held[: last + 1], self._held[last + 1 :]
        return found

    def rest(self) -> list[Line]:
        """Return all that are held, in their order."""
        found, self._held = self._held, []
        return found
