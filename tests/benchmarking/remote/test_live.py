"""How an experiment stands is said at most every half minute, what is latest wins, and nothing of it holds the experiment up."""

from __future__ import annotations

import json

from benchmarking.remote.live import LiveWords
from benchmarking.remote.shipping import ShippingPace
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.remote.remote_lab import EXPERIMENT, ONE, Clock

OTHER = "demo/ASHA-sagemaker-0"


class State:
    def __init__(self):
        self.sequence = 0


class Bench:
    """Words on a clock that is set; `describe` says how many records there are."""

    def __init__(self, describe=lambda spec, state: {"said": state.sequence}):
        self.store, self.clock, self.started = MemoryStore(), Clock(), []
        self.words = LiveWords(self.store, ONE, describe, lambda: 5000.0, self.clock.pace, self.started.append)

    def record(self, observer, state, count=1):
        for _ in range(count):
            state.sequence += 1
            observer(None, state)

    def turn(self, rounds=1):
        left = iter([*[False] * rounds, True])
        self.words.run(lambda: next(left))

    def said(self, experiment=EXPERIMENT):
        found = self.store.get(f"{experiment}/live.json")
        return None if found is None else json.loads(found.body)


def test_the_first_word_comes_at_once_and_the_next_half_a_minute_later_with_all_that_happened():
    bench, state = Bench(), State()
    observe = bench.words.observer(EXPERIMENT, None)
    assert len(bench.started) == 1
    bench.record(observe, state)
    bench.turn()
    assert bench.said() == {"schema_version": 1, "at": 5000.0, "controller": "1", "generation": 1, "records": 1, "said": 1}
    assert bench.clock.waits == [None]
    bench.record(observe, state, 100)
    bench.clock.now += 10.0
    bench.turn()
    assert bench.said()["records"] == 1
    assert bench.clock.waits == [None, 20.0]
    bench.turn()
    assert bench.said()["records"] == 101
    assert bench.store.calls["put"] == 2


def test_nothing_is_said_while_nothing_happens():
    bench, state = Bench(), State()
    bench.record(bench.words.observer(EXPERIMENT, None), state)
    bench.turn(3)
    assert bench.store.calls["put"] == 1
    assert bench.clock.waits == [None] * 3


def test_each_experiment_has_its_own_half_minute():
    bench, one, two = Bench(), State(), State()
    first, second = bench.words.observer(EXPERIMENT, None), bench.words.observer(OTHER, None)
    assert len(bench.started) == 1
    bench.record(first, one)
    bench.turn()
    bench.clock.now += 5.0
    bench.record(second, two, 3)
    bench.record(first, one)
    bench.turn()
    assert (bench.said()["records"], bench.said(OTHER)["records"], bench.clock.waits[-1]) == (1, 3, 25.0)


def test_the_last_word_waits_for_nothing_and_no_word_follows_it():
    bench, state = Bench(), State()
    observe = bench.words.observer(EXPERIMENT, None)
    bench.record(observe, state)
    bench.turn()
    bench.record(observe, state)
    bench.words.last(EXPERIMENT)
    assert bench.said()["records"] == 2
    bench.record(observe, state)
    bench.turn()
    assert bench.said()["records"] == 2
    bench.words.last("never begun")


def test_what_cannot_be_said_is_said_later():
    def grows(spec, state):
        if state.sequence == 2 and len(calls) < 3:
            calls.append(state.sequence)
            raise RuntimeError("dictionary changed size during iteration")
        if state.sequence == 3:
            raise ValueError("a fault of ours")
        return {}

    calls = []
    bench, state = Bench(grows), State()
    observe = bench.words.observer(EXPERIMENT, None)
    bench.store.failing = lambda operation, key: "refused"
    bench.record(observe, state)
    bench.turn()
    bench.store.failing = lambda operation, key: ""
    for expected in (2, 2, 4):
        bench.clock.now += 30.0
        bench.record(observe, state)
        bench.turn()
        assert bench.said()["records"] == expected
    assert len(calls) == 3


def test_whoever_waits_is_woken_by_what_is_new_alone():
    woken, state = [], State()

    def wait(event, seconds):
        woken.append((seconds, event.is_set()))

    words = LiveWords(MemoryStore(), ONE, lambda spec, state: {}, lambda: 5000.0, ShippingPace(lambda: 1000.0, wait), lambda thread: None)
    words.observer(EXPERIMENT, None)(None, state)
    rounds = iter([False, False, True])
    words.run(lambda: next(rounds))
    assert woken == [(None, False)] * 2
