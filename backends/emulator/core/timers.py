"""Timers that belong together and are cancelled together."""

from __future__ import annotations

from collections.abc import Callable

from backends.emulator.core.event_loop import EventLoop, TimerHandle


class TimerGroup:
    """Timers of one owner; to be used in the loop's thread, or holding its lock."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._handles: list[TimerHandle] = []

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call once, after so many seconds of the clock."""
        self._handles.append(self._loop.call_later(seconds, call))

    def call_every(self, seconds: float, call: Callable[[], None]) -> None:
        """Call again and again, so many seconds after the last call has returned."""

        def again() -> None:
            handles = self._handles
            call()
            # Unless the call has cancelled the group.
            if self._handles is handles:
                handles[place] = self._loop.call_later(seconds, again)

        place = len(self._handles)
        self._handles.append(self._loop.call_later(seconds, again))

    def cancel(self) -> None:
        """Forget all timers that there are."""
        for handle in self._handles:
            handle.cancel()
        self._handles = []
