"""What is asked of a comparison: aggregates, baselines and objectives by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.comparison.question import AGGREGATES, ComparisonQuestion, baseline_of, has_baseline, objective_of
from definitions.errors import UserError
from tests.benchmarking.comparison.made_runs import run


def test_aggregates_of_five_seeds():
    values = [1.0, 2.0, 3.0, 4.0, 100.0]
    # Of 1.25 values cut off at each end the first and a quarter of the second go.
    assert {name: of(values) for name, of in AGGREGATES.items()} == {
        "iqm": pytest.approx((0.75 * 2.0 + 3.0 + 0.75 * 4.0) / 2.5),
        "mean": 22.0,
        "median": 3.0,
    }


def test_the_baseline_is_random_search_where_it_took_part_else_the_first():
    assert [baseline_of(methods, "") for methods in (["TPE", "RS"], ["TPE", "BO"])] == ["RS", "TPE"]
    assert baseline_of(["workers=1", "workers=2"], "2") == "workers=2"
    with pytest.raises(UserError, match="--baseline TBE: it has no experiment here"):
        baseline_of(["TPE", "RS"], "TBE")
    assert [has_baseline([run("TPE", 0, [1.0])], asked) for asked in ("", "TPE", "RS")] == [True, True, False]


def test_the_first_objective_is_meant_where_none_is_named():
    one = run("RS", 0, [1.0])
    assert [objective_of(one, asked) for asked in ("", "acc")] == ["loss", "acc"]
    assert objective_of(replace(one, objectives={"acc": "max", "loss": "min"}), "") == "acc"
    with pytest.raises(UserError, match=r"it has loss, acc\n +did you mean 'loss'"):
        objective_of(one, "los")


def test_a_study_that_was_extended_is_judged_more_strictly():
    assert [ComparisonQuestion(looks=looks).judged_level for looks in range(3)] == [0.05, 0.05 / 6, 0.05 / 12]
