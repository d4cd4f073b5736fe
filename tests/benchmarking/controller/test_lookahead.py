"""Which trial may start first, what stays as it was, and how the loop uses it."""

from __future__ import annotations

import random
from collections import Counter, deque

import pytest

from backends.capabilities import Capabilities
from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.lookahead import LOOK_AHEAD, next_entries, take_out, wanted_ahead
from benchmarking.controller.repeat_order import ordered
from tests.benchmarking.experiments import FakeJobs, FakeTable, Killed, MemoryJournal, definition, tuner

MANY = 10_000


def entries(queue, order="default", repeats=1, left=MANY, most=8, overtaken=0):
    return list(next_entries(deque(queue), order=order, repeats=repeats, left=left, most=most, overtaken=overtaken))


def test_the_next_few_evaluations_may_start_first():
    assert entries([(n, 0) for n in range(3, 20)], most=4) == [(3, 0), (4, 0), (5, 0), (6, 0)]


def test_who_was_overtaken_so_often_has_to_start():
    assert entries([(3, 0), (7, 0), (8, 0)], most=4, overtaken=3) == [(3, 0), (7, 0), (8, 0)]
    assert entries([(3, 0), (7, 0), (8, 0)], most=4, overtaken=4) == [(3, 0)]


def test_only_what_would_be_started_anyhow():
    assert entries([(n, 0) for n in range(10)], left=2) == [(0, 0), (1, 0)]


def test_repeats_follow_each_other_by_default():
    queue = ordered([0, 1, 2], 2, "default", 0)
    assert entries(queue, repeats=2) == [(0, 0), (1, 0), (2, 0)]
    assert entries(queue[1:], repeats=2) == [(0, 1)]


def test_an_evaluation_that_is_not_measured_in_full_does_not_overtake():
    queue = ordered([0, 1, 2], 2, "default", 0)
    assert entries(queue, repeats=2, left=5) == [(0, 0), (1, 0)]


def test_an_interleaved_order_keeps_its_rounds():
    queue = ordered([0, 1, 2], 2, "interleave", 0)
    assert entries(queue, "interleave", repeats=2) == [(0, 0), (1, 0), (2, 0)]
    assert entries(queue[2:], "interleave", repeats=2) == [(2, 0)]
    assert entries(queue[3:], "interleave", repeats=2) == [(0, 1), (1, 1), (2, 1)]


def test_a_random_order_is_kept():
    assert entries([(4, 0), (2, 1), (3, 0)], "random", repeats=2) == [(4, 0)]


def test_taking_out_brings_the_other_repeats_to_the_front_where_they_follow_each_other():
    queue, overtaken = deque(ordered([0, 1, 2], 3, "default", 0)), Counter()
    take_out(queue, (1, 0), "default", overtaken)
    assert list(queue)[:4] == [(1, 1), (1, 2), (0, 0), (0, 1)]
    assert overtaken == {(0, 0): 1}
    queue, overtaken = deque(ordered([0, 1, 2], 2, "interleave", 0)), Counter()
    take_out(queue, (1, 0), "interleave", overtaken)
    assert list(queue) == [(0, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
    with pytest.raises(ValueError, match="deque"):
        take_out(queue, (1, 0), "interleave", overtaken)
    take_out(queue, (0, 0), "interleave", overtaken)
    assert overtaken == {}


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("order", ["default", "interleave"])
@pytest.mark.parametrize("left", [29, 30, 90])
def test_whatever_is_chosen_the_same_is_evaluated_and_nobody_is_overtaken_more_than_eight_times(order, repeats, left):
    for seed in range(20):
        rng = random.Random(seed)
        queue = deque(ordered(list(range(30)), repeats, order, 0))
        by_turn = list(queue)[:left]
        taken: list[tuple[int, int]] = []
        overtaken: Counter[tuple[int, int]] = Counter()
        while queue and len(taken) < left:
            limits = {"left": left - len(taken), "overtaken": overtaken[queue[0]]}
            # The last of those that may is the worst for all others.
            entry = rng.choice(list(next_entries(queue, order=order, repeats=repeats, **limits))[-2:])
            take_out(queue, entry, order, overtaken)
            taken.append(entry)
        assert Counter(taken) == Counter(by_turn)
        if order == "interleave":
            assert [repeat for _, repeat in taken] == [repeat for _, repeat in by_turn]
        for place, (evaluation, repeat) in enumerate(taken):
            overtaken_by = {other for other, again in taken[:place] if other > evaluation and again == repeat}
            assert len(overtaken_by) <= LOOK_AHEAD


def test_how_far_ahead_is_asked():
    assert wanted_ahead([(0, 0)] * 7, repeats=1, left=MANY)
    assert not wanted_ahead([(0, 0)] * 8, repeats=1, left=MANY)
    assert not wanted_ahead([(0, 0)] * 3, repeats=1, left=3)
    assert wanted_ahead([(0, 0)] * 23, repeats=3, left=MANY)


class TypedJobs(FakeJobs):
    def deploy_key(self, configuration):
        return ""

    def instances(self, configuration):
        return configuration["instance_type"], 1


class Keeping(SimulatedBackend):
    """Simulated jobs; instances of type b are always idle, those of a never."""

    capabilities = Capabilities(virtual_time=True, checkpoints=True, warm_pools=True)
    asked = 0

    def idle(self, instance_type, instance_count, key=""):
        self.asked += 1
        return int(instance_type == "ml.b")


SPACE = {"x": {"randint": [0, 99]}, "instance_type": {"choice": ["ml.a", "ml.b"]}}


def run(journal=None, backend=Keeping, method="RS", **changes):
    journal = journal or MemoryJournal()
    benchmark = definition(**{"space": SPACE, "budget": {"max_num_trials": 12}, **changes})
    made = backend(FakeTable(), seed=0)
    one = tuner(benchmark, journal, backend=made, jobs=TypedJobs(), n_workers=2, method=method)
    one.run()
    return one.state, journal, made


def types(state):
    return [trial.configuration["instance_type"][-1] for trial in state.trials.values()]


def measured(state):
    return Counter((str(trial.configuration), trial.repeat) for trial in state.trials.values())


@pytest.mark.parametrize("changes", [{}, {"repeats": 2}, {"repeats": 2, "order": "interleave"}, {"repeats": 2, "order": "random"}])
def test_the_loop_starts_what_finds_warm_instances_and_evaluates_the_same(changes):
    warm, _, _ = run(**changes)
    cold, _, made = run(backend=SimulatedBackend, **changes)
    assert measured(warm) == measured(cold)
    assert len(warm.trials) == 12
    changed = changes.get("order") != "random"
    assert (types(warm) != types(cold)) is changed
    if not changes:
        # As many of b as there were among the first eight come first.
        first = types(cold)[:LOOK_AHEAD].count("b")
        assert set(types(warm)[:first]) == {"b"}
    assert not hasattr(made, "asked")


def test_a_method_that_learns_from_results_is_not_asked_ahead():
    _, journal, made = run(method="REA")
    assert made.asked == 0
    kinds = [kind for _, _, kind, _ in journal.rows if kind in ("suggest", "start")]
    assert kinds == ["suggest", "start"] * 12


def test_a_list_is_finished():
    trials = [{"x": n, "instance_type": "ml.b" if n % 3 else "ml.a"} for n in range(9)]
    state, _, _ = run(space={}, trials=trials, budget={}, method="LISTED")
    assert Counter(types(state)) == {"b": 6, "a": 3}
    assert state.exhausted
    assert not state.queue


def test_a_resume_starts_the_same_in_the_same_order_wherever_the_controller_died():
    whole, journal, _ = run()
    order = [trial.configuration for trial in whole.trials.values()]
    for limit in range(3, len(journal.rows), 7):
        half = MemoryJournal(limit=limit)
        with pytest.raises(Killed):
            run(half)
        state, _, _ = run(MemoryJournal(half.rows))
        started = [trial.configuration for trial in state.trials.values()]
        assert Counter(str(sorted(one.items())) for one in started) == Counter(str(sorted(one.items())) for one in order)
        before = sum(kind == "start" for _, _, kind, _ in half.rows)
        assert started[:before] == order[:before]


def test_what_cannot_be_paid_or_is_not_taken_now_does_not_hold_up_the_one_whose_turn_it_is():
    class Dear(TypedJobs):
        def price(self, configuration):
            return (1e9 if configuration["instance_type"] == "ml.b" else 3.6), 1

    trials = [{"x": n, "instance_type": "ml.b" if n == 1 else "ml.a"} for n in range(3)]
    journal = MemoryJournal()
    benchmark = definition(space={}, trials=trials, budget={"max_cost": 5.0})
    one = tuner(benchmark, journal, backend=Keeping(FakeTable(), seed=0), jobs=Dear(), n_workers=1, method="LISTED")
    ending = one.run()
    assert types(one.state) == ["a"]
    assert str(ending.reason) == "max_cost"
