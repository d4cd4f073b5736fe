"""Ends that may be their node's: kept back until the node has outlived them. Pure.

A node that is shut down or taken away ends its scripts first, so that each looks as if somebody had ended it by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backends.events import Closed
from backends.failures import Cause

HOLD_S = 6.0
"""Seconds in which a machine that is shut down ends the processes of Ray together with the scripts."""
LOOK_S = 0.5


@dataclass(frozen=True)
class HeldEnd:
    """How a part of a job ended on a node, to be told when the node has answered at `until` or later."""

    node: str
    rank: int
    closed: Closed
    until: float


class HeldEnds:
    """Those of one experiment."""

    def __init__(self) -> None:
        self._held: list[HeldEnd] = []

    def holds(self, node: str, rank: int, closed: Closed, now: float) -> bool:
        """Keep an end back where somebody outside seems to have made it; return whether that is so."""
        if closed.cause is not Cause.OUTSIDE:
            return False
        self._held.append(HeldEnd(node, rank, closed, now + HOLD_S))
        return True

    def due(self, answered_at: Mapping[str, float]) -> list[HeldEnd]:
        """Return those whose nodes have outlived them, given when each node has last answered."""
        found = [one for one in self._held if one.until <= answered_at.get(one.node, 0.0)]
        self._held = [one for one in self._held if one not in found]
        return found

    def forget(self, node: str) -> None:
        """Drop those of a node that is gone: its jobs are lost."""
        self._held = [one for one in self._held if one.node != node]

    def next_look(self, now: float) -> float | None:
        """Return when to look again; None where nothing is held."""
        return max(now + LOOK_S, min(one.until for one in self._held)) if self._held else None
