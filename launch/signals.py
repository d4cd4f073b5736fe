"""Ctrl-C and TERM: once winds down, twice stops at once; USR1: ends and leaves what runs to the next controller.

What the caller had ignored (`nohup`) stays ignored.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence
from types import FrameType


@contextlib.contextmanager
def caught(
    handle: Callable[[int, FrameType | None], object],
    numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
) -> Iterator[None]:
    """Inside the block INT, TERM and HUP, or other signals, call `handle`, but for those that are ignored when it begins.

    Outside the main thread, where signals cannot be caught, it does nothing.
    """
    earlier = {}
    try:
        for number in numbers:
            if signal.getsignal(number) is not signal.SIG_IGN:
                earlier[number] = signal.signal(number, handle)
    except ValueError:
        pass
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def winding_down(wind_down: Callable[[], None], say: Callable[[str], None], detach: Callable[[], None]) -> Iterator[None]:
    """Inside the block the first INT, TERM or HUP calls `wind_down`, the second raises KeyboardInterrupt, USR1 calls `detach`."""
    seen = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        if seen > 1:
            raise KeyboardInterrupt
        say(f"{signal.Signals(number).name}: winding down; once more stops at once")
        wind_down()

    def leave(number: int, frame: FrameType | None) -> None:
        say(f"{signal.Signals(number).name}: ends; jobs that outlive this program run on, for whoever resumes")
        detach()

    with caught(handle), caught(leave, (signal.SIGUSR1,)):
        yield
