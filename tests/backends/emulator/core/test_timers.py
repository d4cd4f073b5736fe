from __future__ import annotations

import threading

import pytest

from backends.emulator import ManualClock
from backends.emulator.core.event_loop import EventLoop
from backends.emulator.core.timers import TimerGroup


@pytest.fixture
def clock():
    return ManualClock(0.0)


@pytest.fixture
def loop(clock):
    running = EventLoop(clock, 1)
    running.start()
    yield running
    running.close()


def settle(loop):
    """Wait until the loop has done all that is due."""
    for _ in range(3):
        done = threading.Event()
        loop.call_soon(done.set)
        assert done.wait(90)


def test_timers_strike_once_or_again_and_again_until_they_are_cancelled(clock, loop):
    struck = []
    timers = TimerGroup(loop)
    with loop.lock:
        timers.call_later(5, lambda: struck.append(("once", clock.now())))
        timers.call_every(2, lambda: struck.append(("again", clock.now())))
    for _ in range(7):
        clock.advance(1)
        settle(loop)
    assert struck == [("again", 2), ("again", 4), ("once", 5), ("again", 6)]
    with loop.lock:
        timers.cancel()
    clock.advance(100)
    settle(loop)
    assert len(struck) == 4


def test_a_call_that_cancels_its_group_is_the_last(clock, loop):
    struck = []
    timers = TimerGroup(loop)

    def last():
        struck.append(clock.now())
        timers.cancel()
        timers.call_later(3, lambda: struck.append(-clock.now()))

    with loop.lock:
        timers.call_every(1, last)
    for _ in range(6):
        clock.advance(1)
        settle(loop)
    assert struck == [1, -4]
