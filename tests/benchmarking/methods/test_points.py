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
