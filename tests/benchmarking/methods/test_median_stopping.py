"""Median stopping: what is stopped, from where on, and what is let finish."""

from __future__ import annotations

import statistics

import pytest

from benchmarking.controller.method import Decision, Evaluation
from benchmarking.methods.registry import build_method
from tests.benchmarking.methods.method_experiments import benchmark


def test_median_stopping_stops_what_is_worse_than_the_median_of_running_averages():
    method = build_method("MSR", benchmark(), 0, {}, region="us-east-1")
    for trial in range(20):
        method.on_trial_add(Evaluation(trial, {}))
    decisions = []
    averages = []
    for trial, value in enumerate([5, 1, 4, 2, 8, 3, 9, 0, 7, 6]):
        for level in (1, 2):
            decision = method.on_trial_result(Evaluation(trial, {}), {"loss": float(value + 2 * level), "epoch": level})
        averages.append(value + 3.0)
        smaller = sum(other < averages[-1] for other in averages)
        assert decision == (Decision.STOP if len(averages) >= 5 and smaller / len(averages) > 0.5 else Decision.CONTINUE)
        decisions.append(decision)
    assert decisions.count(Decision.STOP) == 4
    assert statistics.median(averages) == 7.5


def test_median_stopping_begins_at_its_grace_period():
    method = build_method("MSR", benchmark(), 0, {"grace_period": 2, "grace_population": 2}, region="us-east-1")
    for number in range(3):
        method.on_trial_add(Evaluation(number, {}))
    for level, expected in ((1, Decision.CONTINUE), (2, Decision.STOP)):
        for number in range(2):
            method.on_trial_result(Evaluation(number, {}), {"loss": float(number), "epoch": level})
        assert method.on_trial_result(Evaluation(2, {}), {"loss": 9.0, "epoch": level}) is expected


@pytest.mark.parametrize(("running_average", "decision"), [(True, Decision.STOP), (False, Decision.CONTINUE)])
def test_median_stopping_compares_a_mean_or_the_value_itself(running_average, decision):
    """The last one's level 1 was never told: its mean 7 is that of one report, and more than 5 and 6; 7 is less than 9 and 10."""
    method = build_method("MSR", benchmark(), 0, {"grace_population": 3, "running_average": running_average}, region="us-east-1")
    for number, losses in enumerate(({1: 1.0, 2: 9.0}, {1: 2.0, 2: 10.0})):
        for level, loss in losses.items():
            assert method.on_trial_result(Evaluation(number, {}), {"loss": loss, "epoch": level}) is Decision.CONTINUE
    assert method.on_trial_result(Evaluation(2, {}), {"loss": 7.0, "epoch": 2}) is decision


def test_median_stopping_lets_what_is_at_the_full_level_finish():
    method = build_method("MSR", benchmark(), 0, {"grace_population": 1}, region="us-east-1")
    for loss in (1.0, 2.0, 3.0):
        assert method.on_trial_result(Evaluation(int(loss), {}), {"loss": loss, "epoch": 9}) is Decision.CONTINUE
    assert method.on_trial_result(Evaluation(4, {}), {"loss": 1.0, "epoch": 8}) is Decision.CONTINUE
    assert method.on_trial_result(Evaluation(5, {}), {"loss": 2.0, "epoch": 8}) is Decision.CONTINUE  # 1 of 2 is less: the median
    assert method.on_trial_result(Evaluation(6, {}), {"loss": 3.0, "epoch": 8}) is Decision.STOP
