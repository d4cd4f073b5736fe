"""The user's own points come first."""

from __future__ import annotations

import pytest

from benchmarking.methods.registry import build_method
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.schema import Budget
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.methods.method_experiments import benchmark, experiment


@pytest.mark.parametrize("method", ["RS", "ASHA", "BO", "REA", "MSR", "PBT"])
def test_points_come_first_and_in_full(method):
    points = [{"lr": 0.5, "width": 7, "act": "tanh"}, {"lr": 0.5}, {"lr": 0.5, "width": 7, "act": "tanh"}]
    run = experiment(benchmark(budget=Budget(max_num_trials=5)), MemoryJournal(), method, arguments={"points_to_evaluate": points})
    run.run()
    found = [evaluation.configuration for evaluation in run.state.evaluations.values()]
    assert found[:2] == [points[0], {"lr": 0.5, "width": 33, "act": "tanh"}]
    assert len({configuration_id(one) for one in found}) == len(found)


@pytest.mark.parametrize(
    ("point", "says"),
    [
        ({"lr": 5.0}, "points_to_evaluate.0.: lr = 5.0 is out of range"),
        ({"with": 3}, "did you mean 'width'"),
        ({"lr": 0.9}, "ruled out by"),
    ],
)
def test_points_that_cannot_be_are_told_before_the_start(point, says):
    with pytest.raises(UserError, match=says):
        build_method("BO", benchmark(valid=("lr < 0.8",)), 0, {"points_to_evaluate": [point]}, region="us-east-1")


def begun(method, count=3, **arguments):
    run = experiment(benchmark(budget=Budget(max_num_trials=count)), MemoryJournal(), method, arguments=arguments)
    run.run()
    return [evaluation.configuration for evaluation in run.state.evaluations.values()]


@pytest.mark.parametrize("method", ["TPE", "BO", "REA", "BORE", "CQR", "ASHA", "MSR", "PBT", "MOBSTER"])
def test_all_methods_of_a_seed_begin_with_the_first_draws_of_random_search(method):
    first = begun("RS", shared_start=3)
    assert first == begun("RS")
    assert len({configuration_id(one) for one in first}) == 3
    assert begun(method, shared_start=3) == first


def test_without_a_shared_start_searchers_draw_their_own():
    assert begun("TPE") != begun("RS")
    assert begun("BO") != begun("RS")


@pytest.mark.parametrize("method", ["RS", "BO"])
def test_the_shared_start_comes_behind_the_users_points_which_are_none_of_it(method):
    first, second, third, _ = begun("RS", 4)
    assert begun(method, 4, points_to_evaluate=[second], shared_start=2)[:3] == [second, first, third]


def test_what_a_rule_forbids_is_not_in_a_shared_start():
    definition = benchmark(valid=("width > 40",), budget=Budget(max_num_trials=3))
    found = {}
    for method in ("RS", "TPE"):
        run = experiment(definition, MemoryJournal(), method, arguments={"shared_start": 3})
        run.run()
        found[method] = [evaluation.configuration for evaluation in run.state.evaluations.values()]
    assert found["RS"] == found["TPE"]
    assert min(one["width"] for one in found["RS"]) > 40
    forbidden = benchmark(valid=("width > 1000",))
    assert build_method("BO", forbidden, 0, {"shared_start": 3}, region="us-east-1") is not None  # it comes to an end


def test_a_finite_space_gives_what_it_has():
    definition = benchmark(space={"lr": {"choice": [0.1, 0.2]}})
    method = build_method("BO", definition, 0, {"shared_start": 5}, region="us-east-1")
    assert sorted(method.suggest().configuration["lr"] for _ in range(2)) == [0.1, 0.2]
    assert method.suggest() is None


def test_who_draws_nothing_cannot_share_a_start():
    for method in ("GRID", "CANARY"):
        with pytest.raises(UserError, match=f"method {method}: shared_start\\n  it does not begin with configurations that are drawn"):
            build_method(method, benchmark(), 0, {"shared_start": 3}, region="us-east-1")
    assert build_method("GRID", benchmark(), 0, {"shared_start": 0}, region="us-east-1").suggest() is not None
    with pytest.raises(UserError, match="shared_start = -1\n  it must be a whole number from 0 up"):
        build_method("RS", benchmark(), 0, {"shared_start": -1}, region="us-east-1")
