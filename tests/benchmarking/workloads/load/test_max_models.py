import asyncio
from collections import OrderedDict

import pytest

from benchmarking.workloads.load.max_models import ResidencySearch, TargetCall


class Lru:
    """A server that has room for some copies; the least recently used one goes."""

    def __init__(self, room, breaks_at=None, tells=True):
        self.room, self.loaded, self.breaks_at, self.calls, self.tells = room, OrderedDict(), breaks_at, 0, tells

    async def call(self, target):
        self.calls += 1
        if self.breaks_at is not None and target >= self.breaks_at:
            return TargetCall("no_memory", False, 0.1)
        is_cold = target not in self.loaded
        self.loaded[target] = None
        self.loaded.move_to_end(target)
        while len(self.loaded) > self.room:
            self.loaded.popitem(last=False)
        return TargetCall("", is_cold if self.tells else None, 0.5 if is_cold else 0.01)


def found(server, copies):
    search = ResidencySearch(copies, server.call)
    return asyncio.run(search.run()), search


@pytest.mark.parametrize("room", [1, 2, 3, 7, 8, 9, 31, 32])
def test_the_number_that_stays_loaded(room):
    server = Lru(room)
    number, search = found(server, 32)
    assert number == room
    assert len(server.loaded) == room
    assert ("had been unloaded" in search.why) == (room < 32)


@pytest.mark.parametrize("copies", [1, 5, 1000])
def test_where_all_fit_all_are_counted(copies):
    assert found(Lru(10_000), copies)[0] == copies


def test_a_load_that_is_refused_is_the_end_too():
    number, search = found(Lru(100, breaks_at=6), 32)
    assert number == 6
    assert "no_memory" in search.why


def test_one_that_does_not_load_at_all_is_none():
    assert found(Lru(100, breaks_at=0), 8)[0] == 0


@pytest.mark.parametrize("room", [1, 3, 8, 30])
def test_an_endpoint_that_does_not_say_what_was_cold_is_told_by_its_times(room):
    number, search = found(Lru(room, tells=False), 32)
    assert number == room
    assert search.is_guessed
    assert not found(Lru(room), 32)[1].is_guessed


def test_a_delay_of_some_milliseconds_is_no_load():
    """Copies that were loaded before: a first call of 0.3 ms, and one of 4 ms on a client whose core is busy."""
    calls = []

    class Loaded:
        async def call(self, target):
            calls.append(target)
            return TargetCall("", None, 0.004 if len(calls) % 5 == 2 else 0.0003)

    assert found(Loaded(), 4)[0] == 4
