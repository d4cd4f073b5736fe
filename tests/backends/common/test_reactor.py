"""One place to wait for descriptors, times and a wake-up."""

import os
import selectors

import pytest

from backends.common.reactor import Reactor


class Clock:
    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def reactor(clock):
    made = Reactor(clock)
    yield made
    made.close()


def test_what_is_due_is_called_in_order_of_its_time_and_then_of_its_asking(reactor, clock):
    called = []
    for when, name in ((2.0, "b"), (1.0, "a"), (2.0, "c"), (3.0, "later")):
        reactor.at(when, lambda name=name: called.append(name))
    clock.time = 2.0
    assert reactor.turn(0.0) is False
    assert called == ["a", "b", "c"]


def test_a_call_is_made_once_and_a_cancelled_one_never(reactor, clock):
    called = []
    first, second = reactor.at(1.0, lambda: called.append(1)), reactor.at(1.0, lambda: called.append(2))
    assert (first.pending, second.pending) == (True, True)
    first.cancel()
    clock.time = 1.0
    reactor.turn(0.0)
    reactor.turn(0.0)
    assert called == [2]
    assert (first.pending, second.pending) == (False, False)
    second.fire()
    assert called == [2]


def test_a_call_that_schedules_itself_at_once_waits_for_the_next_turn(reactor, clock):
    called = []

    def again():
        called.append(1)
        if len(called) < 5:
            clock.time += 1e-6
            reactor.at(clock.time, again)

    reactor.at(0.0, again)
    reactor.turn(0.0)
    assert called == [1]
    reactor.turn(clock.time)
    assert called == [1, 1]


def test_a_readable_descriptor_calls_until_it_is_forgotten(reactor):
    reading, writing = os.pipe()
    called = []
    reactor.watch(reading, lambda: called.append(1))
    reactor.turn(0.0)
    assert called == []
    os.write(writing, b"x")
    reactor.turn(None)
    assert called == [1]
    reactor.unwatch(reading)
    reactor.turn(0.0)
    assert called == [1]
    os.close(reading)
    os.close(writing)


def test_a_call_that_forgets_another_descriptor_spares_it(reactor):
    pipes = [os.pipe() for _ in range(2)]
    called = []

    def forget(own, other):
        called.append(own)
        reactor.unwatch(other)

    (first, one), (second, two) = pipes
    reactor.watch(first, lambda: forget(first, second))
    reactor.watch(second, lambda: forget(second, first))
    os.write(one, b"x")
    os.write(two, b"x")
    reactor.turn(None)
    assert len(called) == 1
    for pair in pipes:
        for descriptor in pair:
            os.close(descriptor)


def test_a_wake_up_ends_one_turn_however_often_it_was_asked_for(reactor):
    reactor.wake()
    reactor.wake()
    assert reactor.turn(None) is True
    assert reactor.turn(0.0) is False


class Watched(selectors.SelectSelector):
    """Writes down how long it is to wait, and does not wait."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def select(self, timeout=None):
        self.waits.append(timeout)
        return []


def test_a_wait_ends_at_the_first_time_that_was_not_cancelled(clock):
    selector = Watched()
    reactor = Reactor(clock, selector)
    reactor.at(1.0, lambda: None).cancel()
    reactor.at(5.0, lambda: None)
    reactor.turn(9.0)
    reactor.turn(3.0)
    clock.time = 6.0
    reactor.turn(9.0)
    reactor.turn(None)
    assert selector.waits == [5.0, 3.0, 0.0, None]
    reactor.close()


def test_a_wake_up_after_the_end_does_no_harm(clock):
    made = Reactor(clock)
    made.close()
    made.wake()
