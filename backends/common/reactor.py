"""Waits for descriptors, for points in time, and for a wake-up, all in one place."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import selectors
from collections.abc import Callable


class ScheduledCall:
    """A call at a point in time; `cancel` forgets it."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    @property
    def pending(self) -> bool:
        """Whether the call is still to come."""
        return self._call is not None

    def cancel(self) -> None:
        """Drop the call."""
        self._call = None

    def fire(self) -> None:
        """Call once."""
        call, self._call = self._call, None
        if call is not None:
            call()


class Reactor:
    """One selector and a heap of timers.

    Args:
        now: the clock that timers go by, in seconds.
        selector: what waits; closed with the reactor.
    """

    def __init__(self, now: Callable[[], float], selector: selectors.BaseSelector | None = None) -> None:
        self._now = now
        self._selector = selector or selectors.DefaultSelector()
        self._timers: list[tuple[float, int, ScheduledCall]] = []
        self._numbers = itertools.count()
        self._woken = False
        self._wake_end, self._waker = os.pipe()
        for descriptor in (self._wake_end, self._waker):
            os.set_blocking(descriptor, False)
        self.watch(self._wake_end, self._on_wake)

    def watch(self, descriptor: int, call: Callable[[], None]) -> None:
        """Call whenever the descriptor is readable."""
        self._selector.register(descriptor, selectors.EVENT_READ, call)

    def unwatch(self, descriptor: int) -> None:
        """Forget a descriptor, before it is closed."""
        self._selector.unregister(descriptor)

    def at(self, when: float, call: Callable[[], None]) -> ScheduledCall:
        """Call once when the clock has reached `when`."""
        timer = ScheduledCall(call)
        heapq.heappush(self._timers, (when, next(self._numbers), timer))
        return timer

    def wake(self) -> None:
        """Make the current or the next turn return early; safe in signal handlers and other threads."""
        with contextlib.suppress(OSError):
            os.write(self._waker, b"w")

    def turn(self, until: float | None) -> bool:
        """Wait for the first thing to happen, at most until a point in time, and make the calls; return whether it was woken."""
        # Cancelled timers stay in the heap until they are on top; they must not cut the wait short.
        while self._timers and not self._timers[0][2].pending:
            heapq.heappop(self._timers)
        ends = [when for when in (until, self._timers[0][0] if self._timers else None) if when is not None]
        timeout_s = max(0.0, min(ends) - self._now()) if ends else None
        for key, _ in self._selector.select(timeout_s):
            # A call may have unwatched another descriptor of this batch.
            if self._selector.get_map().get(key.fd) is key:
                key.data()
        # One reading of the clock for all timers, so that one that schedules itself again at once cannot keep the turn going.
        now = self._now()
        while self._timers and self._timers[0][0] <= now:
            heapq.heappop(self._timers)[2].fire()
        woken, self._woken = self._woken, False
        return woken

    def close(self) -> None:
        """Release the descriptors that the reactor itself holds."""
        self._selector.close()
        os.close(self._wake_end)
        # Unset before it is closed: a signal handler that wakes in between must not write to whatever gets the number next.
        self._waker, waker = -1, self._waker
        os.close(waker)

    def _on_wake(self) -> None:
        self._woken = True
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_end, 4096)
