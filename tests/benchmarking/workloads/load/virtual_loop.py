"""An event loop of asyncio whose clock goes on only when nothing is left to do: no wait takes time, and no machine is too slow for it."""

from __future__ import annotations

import asyncio
import selectors
from contextlib import contextmanager


class _VirtualSelector(selectors.DefaultSelector):
    """Waits for nothing: its time passes at once."""

    now_s = 0.0

    def select(self, timeout=None):
        assert timeout is not None, "the loop waits for what never comes"
        self.now_s += max(0.0, timeout)
        return super().select(0)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self):
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)

    def time(self):
        return self._virtual.now_s


@contextmanager
def virtual_loop():
    """A loop that begins at 0 s."""
    loop = _VirtualLoop()
    try:
        yield loop
    finally:
        loop.close()
