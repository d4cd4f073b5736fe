"""Slow methods: they think in a process of their own, delay nothing, survive its death, and are not asked again on resume."""

from __future__ import annotations

import functools
import os
import sys
import threading
import time

import pytest

from backends.capabilities import Capabilities
from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.method_adapter import MethodError
from benchmarking.methods import proposals
from benchmarking.methods.searchers.base import Observation, SearcherSpec
from benchmarking.methods.searchers.process import ChildProcess, InProcess
from definitions.schema import Budget
from definitions.space import SearchSpace
from definitions.valid import parse_rule
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.methods.method_experiments import Curves, benchmark, experiment

pytestmark = pytest.mark.slow

SPACE = SearchSpace.parse({"b": {"uniform": [0, 1]}, "a": {"choice": ["u", "v", None]}, "c": 3})
SPEC = SearcherSpec("GP", SPACE, 7, {"candidates": 50, "max_points": 100}, (parse_rule("b < 0.9"),), None)
SLOW = """
import json, sys, time
sys.stdin.readline()
for line in sys.stdin:
    time.sleep(0.6)
    print(json.dumps({"proposals": []}), flush=True)
"""


def observations(count):
    source = SPEC.source(0)
    return [Observation(k, point, (point["b"] - 0.3) ** 2) for k, point in enumerate(SPEC.candidates(source, count))]


def wait_until(condition, seconds=100.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class RealTime(SimulatedBackend):
    """The simulated back-end on the real clock, `speed` virtual seconds a second."""

    capabilities = Capabilities(virtual_time=False, checkpoints=True)

    def __init__(self, table, speed=50.0, **options):
        super().__init__(table, **options)
        self.speed, self.begun, self.woken, self.waits = speed, time.monotonic(), threading.Event(), 0

    def now(self):
        self._now = max(self._now, (time.monotonic() - self.begun) * self.speed)
        return self._now

    def wake(self):
        self.woken.set()

    def wait(self, timeout_s):
        self.waits += 1
        due = [entry[0] for entry in self._agenda[:1]] + ([] if timeout_s is None else [self.now() + timeout_s])
        if due:
            self.woken.wait(max(0.0, (min(due) - self.now()) / self.speed))
            self.woken.clear()
        self.now()
        return super().wait(0.0)


def test_a_spec_comes_through_as_it_was():
    assert SearcherSpec.from_json(SPEC.to_json()).to_json() == SPEC.to_json()
    assert list(SearcherSpec.from_json(SPEC.to_json()).space.domains) == ["b", "a", "c"]


def test_thinking_apart_gives_what_thinking_here_gives():
    here, woken = InProcess(SPEC), threading.Event()
    apart = ChildProcess(SPEC, woken.set)
    try:
        for observation in observations(12):
            here.observe(observation)
            apart.observe(observation)
        assert apart.ready(12, []) is False
        assert apart.busy
        assert woken.wait(60)
        # Its thread has ended: whoever asks now whether there will be an answer must not hear that there is none.
        for thread in threading.enumerate():
            if thread.name == "searcher":
                thread.join()
        assert apart.busy
        assert apart.ready(12, [])
        found = apart.answer(12, [])
        assert not apart.busy
        assert found == here.answer(12, [])
        assert all(point["b"] < 0.9 for point in found)
    finally:
        apart.close()


def test_a_killed_child_is_replaced_by_one_that_knows_everything():
    here, apart = InProcess(SPEC), ChildProcess(SPEC, lambda: None)
    try:
        for number, observation in enumerate(observations(10)):
            here.observe(observation)
            apart.observe(observation)
            if number == 5:
                assert apart.answer(number, []) == here.answer(number, [])
                os.kill(apart.process_id, 9)
        assert apart.answer(10, []) == here.answer(10, [])
        assert apart.restarts == 1
    finally:
        apart.close()


def test_a_child_that_is_killed_in_the_midst_of_a_thought_is_replaced():
    apart = ChildProcess(SPEC, lambda: None)
    try:
        for observation in observations(8):
            apart.observe(observation)
        apart.ready(8, [])
        wait_until(lambda: apart.process_id is not None)
        os.kill(apart.process_id, 9)
        assert len(apart.answer(8, [])) > 0
        assert apart.restarts == 1
    finally:
        apart.close()


def test_a_child_that_dies_again_and_again_is_an_error_with_its_last_words():
    made = functools.partial(ChildProcess, command=(sys.executable, "-c", "import sys; sys.exit('no module named cleverness')"))
    original, proposals.ChildProcess = proposals.ChildProcess, made
    try:
        journal = MemoryJournal()
        with pytest.raises(
            MethodError, match=r"method BO failed in suggest[\s\S]*ended 3 times[\s\S]*no module named cleverness"
        ) as caught:
            experiment(benchmark(), journal, "BO", backend=RealTime(Curves())).run()
    finally:
        proposals.ChildProcess = original
    assert caught.value.exit_code == 1
    assert sum(row[2] == "settle" for row in journal.rows) >= 5  # what was measured is kept


def test_a_child_ends_when_its_controller_is_gone():
    apart = ChildProcess(SPEC, lambda: None)
    for observation in observations(6):
        apart.observe(observation)
    apart.answer(6, [])
    child = apart._child  # noqa: SLF001 (a controller's death is the end of this pipe)
    child.stdin.close()
    assert child.wait(90) == 0
    apart.close()


def test_a_slow_method_delays_neither_reports_nor_stops(monkeypatch):
    monkeypatch.setattr(proposals, "ChildProcess", functools.partial(ChildProcess, command=(sys.executable, "-c", SLOW)))
    journal, backend = MemoryJournal(), RealTime(Curves(full=9), speed=40.0)
    thinking, late, methods = [], [], []

    def watch(record, state):
        if methods[0].is_computing:
            thinking.append(record.kind)
        if record.kind in ("reported", "closed"):
            late.append((backend.now() - record.at) / backend.speed)

    experiment(
        benchmark(budget=Budget(max_num_trials=10)),
        journal,
        "ASHA_BORE",
        arguments={"init_random": 2},
        backend=backend,
        n_workers=3,
        wrap=lambda method: methods.append(method) or method,
        observers=(watch,),
    ).run()
    assert {"reported", "tell", "stop"} <= set(thinking)
    assert sorted(late)[len(late) * 9 // 10] < 0.3  # a thought takes 0.6 s


def test_the_loop_sleeps_while_a_method_thinks_and_nothing_runs(monkeypatch):
    monkeypatch.setattr(proposals, "ChildProcess", functools.partial(ChildProcess, command=(sys.executable, "-c", SLOW)))
    backend = RealTime(Curves(full=2), speed=1000.0)
    fidelity = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 2}
    run = experiment(
        benchmark(budget=Budget(max_num_trials=5), fidelity=fidelity), MemoryJournal(), "BO", arguments={"init_random": 2}, backend=backend
    )
    assert run.run().reason == "max_num_trials"
    assert backend.waits < 100


def test_resume_tells_instead_of_asking(monkeypatch):
    asked = []
    answer = InProcess.answer
    monkeypatch.setattr(InProcess, "answer", lambda self, number, pending: asked.append(number) or answer(self, number, pending))
    journal = MemoryJournal()
    experiment(benchmark(), journal, "BO").run()
    assert asked == [6, 7, 8, 9, 10, 11]  # five must be over before, and three run at once
    asked.clear()
    again = MemoryJournal(journal.rows)
    experiment(benchmark(), again, "BO").run()
    assert asked == []
    assert again.rows == journal.rows
