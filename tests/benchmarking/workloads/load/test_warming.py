"""Targets are called until each has answered rightly; a caller that says what it is told stands for the endpoint."""

from __future__ import annotations

import asyncio

import pytest

from backends.failures import Cause, classify_exit
from benchmarking.workloads.load.calls import CallEnd
from benchmarking.workloads.load.warming import warm_up


class SaidCaller:
    """Ends the calls of each target as its list says, and then rightly."""

    payloads = 1

    def __init__(self, ends):
        self.ends = {target: [*kinds] for target, kinds in ends.items()}
        self.calls = []

    def call(self, target, payload, done):
        self.calls.append(target)
        kinds = self.ends.get(target) or [""]
        done(CallEnd(kinds.pop(0), 0.0, is_cold=len(self.calls) == 1))

    def sweep(self):
        pass


def test_a_target_that_loads_for_longer_than_an_answer_may_take_is_called_again():
    caller = SaidCaller({1: ["late", "not_ready"]})
    found = asyncio.run(warm_up(caller, 3, 60.0))
    assert caller.calls == [0, 1, 1, 1, 2]
    assert (found.calls, found.repeated, found.cold) == (5, 2, 1)


def test_what_answers_wrongly_is_no_target_that_loads():
    with pytest.raises(SystemExit, match="target 1: its first call ended as status_500"):
        asyncio.run(warm_up(SaidCaller({1: ["status_500"]}), 2, 60.0))


def test_a_model_that_no_room_can_be_made_for_is_told_as_a_lack_of_memory():
    with pytest.raises(SystemExit) as ended:
        asyncio.run(warm_up(SaidCaller({1: ["model_too_large"]}), 2, 60.0))
    assert classify_exit(1, [str(ended.value)]) == (Cause.OUT_OF_MEMORY, "MemoryError: target 1: its first call ended as model_too_large")


def test_a_target_that_is_late_for_good_ends_the_load():
    with pytest.raises(SystemExit, match="its first call ended as late"):
        asyncio.run(warm_up(SaidCaller({0: ["late"] * 9}), 1, 0.0))
