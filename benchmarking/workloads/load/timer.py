"""Wakes an event loop at an instant, to some ten microseconds: asyncio's own timers are rounded up to whole milliseconds by epoll."""

from __future__ import annotations

import asyncio
import ctypes
import os
import time
from collections.abc import Callable

_ABSOLUTE = 1  # TFD_TIMER_ABSTIME
_NONBLOCK, _CLOEXEC = os.O_NONBLOCK, os.O_CLOEXEC
_MONOTONIC = time.CLOCK_MONOTONIC


class _Interval(ctypes.Structure):
    _fields_ = (("every_s", ctypes.c_long), ("every_ns", ctypes.c_long), ("at_s", ctypes.c_long), ("at_ns", ctypes.c_long))


class PreciseTimer:
    """One alarm on the monotonic clock: Linux' timerfd, and where there is none the loop's own timer.

    Args:
        loop: that is woken.
        call: what is called then.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
        self._loop, self._call = loop, call
        self._handle: asyncio.TimerHandle | None = None
        self._fd = -1
        try:
            self._library = ctypes.CDLL(None, use_errno=True)
            self._fd = self._library.timerfd_create(_MONOTONIC, _NONBLOCK | _CLOEXEC)
        except (AttributeError, OSError):
            self._fd = -1
        if self._fd >= 0:
            loop.add_reader(self._fd, self._rings)

    @property
    def is_precise(self) -> bool:
        """Whether the system's own timer is used."""
        return self._fd >= 0

    def set(self, at_s: float) -> None:
        """Ring at this time of `time.monotonic`, or at once where it is over; an alarm set before is forgotten."""
        if self._fd < 0:
            self._unset()
            self._handle = self._loop.call_at(at_s, self._call)
            return
        at_ns = max(1, int(at_s * 1e9))
        value = _Interval(0, 0, at_ns // 1_000_000_000, at_ns % 1_000_000_000)
        self._library.timerfd_settime(self._fd, _ABSOLUTE, ctypes.byref(value), None)

    def close(self) -> None:
        """Ring no more."""
        self._unset()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _unset(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _rings(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            return  # it was set anew since
        self._call()
