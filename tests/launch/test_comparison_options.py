"""What is asked of a comparison, and what a study cannot answer at its end."""

from __future__ import annotations

import pytest

from benchmarking.comparison.runs import Axis
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from launch.comparison_options import check_options, question_of

DIGITS = BenchmarkDefinition(name="digits", script="d.py", space={"lr": {"uniform": [0, 1]}}, objectives={"accuracy": "max"})
GBM = BenchmarkDefinition(
    name="gbm", script="g.py", space={"lr": {"uniform": [0, 1]}, "trees": {"choice": [1, 2]}}, objectives={"error": "min"}
)


def check(**options):
    check_options(options, {"digits": DIGITS, "gbm": GBM}, ["RS", "TPE"])


def test_options_by_name():
    found = question_of({"x": "cost", "at": 2.5, "threshold": "2%", "by": ["lr"], "levels": "any", "expect_seeds": 4})
    assert (found.axis, found.at, found.threshold, found.by, found.any_level, found.expect_seeds) == (
        Axis.COST,
        2.5,
        0.02,
        ("lr",),
        True,
        4,
    )
    assert (question_of({}).threshold, question_of({}).aggregate, question_of({}).by) == (0.01, "mean", ("method",))
    for wrong in ({"at": 0.0}, {"at": float("inf")}, {"expect_seeds": 0}, {"threshold": "one"}):
        with pytest.raises(UserError):
            question_of(wrong)


def test_one_benchmark_at_least_has_to_have_each_key():
    check(by=["lr", "tag"], facet_by=["benchmark", "workers"])
    check(by=["lr"], baseline="0.1")
    check(by=["trees"])
    with pytest.raises(UserError, match=r"(?s)compare\.by: nothing has a key 'treees'.*did you mean 'trees'"):
        check(by=["treees"])
    with pytest.raises(UserError, match=r"(?s)compare\.facet_by: nothing has a key 'instance'.*configurations lr, trees"):
        check(facet_by=["instance"])


def test_an_objective_of_one_benchmark_is_enough_and_a_baseline_is_a_method():
    check(objective="error", baseline="TPE")
    with pytest.raises(UserError, match=r"(?s)compare\.objective: there is no 'errors'.*did you mean 'error'"):
        check(objective="errors")
    with pytest.raises(UserError, match=r"compare\.baseline: there is no 'BO'"):
        check(baseline="BO")
