"""How a response is sent where the store is to be slow, or to break off: after a delay, at a rate, in part."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

PIECE_S = 0.02
"""How much is sent at once under a rate, in seconds of it."""
_LEAST_BYTES = 1024


class SharedRate:
    """A rate that all connections have together: each takes its turn on one line.

    Args:
        bytes_per_s: of all together.
        clock: monotonic seconds.
    """

    def __init__(self, bytes_per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.bytes_per_s, self._clock = bytes_per_s, clock
        self._lock = threading.Lock()
        self._free_at_s = 0.0

    def wait_s(self, size: int) -> float:
        """Return how long the caller has to wait until so many bytes of its own are through, and take their place on the line."""
        with self._lock:
            now_s = self._clock()
            self._free_at_s = max(self._free_at_s, now_s) + size / self.bytes_per_s
            return self._free_at_s - now_s


@dataclass(frozen=True)
class Transfer:
    """How one response is sent.

    Args:
        delay_s: before its first byte.
        rates: that it shares with others; `bytes_per_s`: of this connection, 0 for no limit.
        cut: share of the body after which it ends, too early; None for all of it.
        is_reset: whether that is a reset of the connection, not its end.
    """

    delay_s: float = 0.0
    bytes_per_s: float = 0.0
    rates: Sequence[SharedRate] = ()
    cut: float | None = None
    is_reset: bool = False

    def sent_bytes(self, length: int) -> int:
        """Return how much of a body is sent."""
        return length if self.cut is None else min(int(length * self.cut), max(length - 1, 0))

    def pieces(self, length: int) -> Iterator[tuple[int, float]]:
        """Yield size and least duration in seconds of each piece in which so many bytes are sent; the latter as it is asked for."""
        slowest = min([one for one in (self.bytes_per_s, *(rate.bytes_per_s for rate in self.rates)) if one], default=0.0)
        most = max(int(slowest * PIECE_S), _LEAST_BYTES) if slowest else length
        while length > 0:
            size = min(most, length)
            length -= size
            alone_s = size / self.bytes_per_s if self.bytes_per_s else 0.0
            yield size, max([alone_s, *(rate.wait_s(size) for rate in self.rates)])
