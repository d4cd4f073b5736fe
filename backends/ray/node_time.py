"""What a node's clock has to do with the controller's. Pure."""

from __future__ import annotations

import math


class NodeTime:
    """Turns times of a node's clock into the controller's, however far apart the two are.

    A message tells the sender's time and arrives some time later, so that the difference of the clocks is at most that of the two moments;
    the least one seen is the nearest to it.
    """

    def __init__(self) -> None:
        self._difference_s = math.inf

    def heard(self, sent_at: float, received_at: float) -> None:
        """Note a message: when it was sent by the node's clock, and when it was received by the controller's."""
        self._difference_s = min(self._difference_s, received_at - sent_at)

    def here(self, at: float) -> float:
        """Return a moment of the node's clock in the controller's time."""
        return at + self._difference_s if math.isfinite(self._difference_s) else at
