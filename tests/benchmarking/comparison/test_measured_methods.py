"""What methods came to at a common budget, before anything is decided."""

from __future__ import annotations

import pytest

from benchmarking.analysis.effects import Scale
from benchmarking.comparison.measured_methods import lead_over, measure_methods
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis
from tests.benchmarking.comparison.made_runs import run

RUNS = [run("TPE", 0, [4.0, 2.0, 1.0]), run("TPE", 1, [4.0, 3.0]), run("RS", 0, [5.0, 4.0]), run("RS", 1, [3.0, 6.0])]


def test_values_at_the_budget_and_when_the_target_was_reached():
    found = measure_methods(RUNS, ComparisonQuestion(axis=Axis.WALLCLOCK))
    assert (found.order, found.budget.at, found.target) == (["RS", "TPE"], 20.0, 3.5)
    assert found.finals == {"TPE": {0: 2.0, 1: 3.0}, "RS": {0: 4.0, 1: 3.0}}
    assert {method: found.reach(method) for method in found.order} == {"RS": {0: None, 1: 10.0}, "TPE": {0: 20.0, 1: 20.0}}
    # Who never did counts with the budget: 20 s against 20, and 10 against 20.
    assert found.waits("TPE", 0.95).size == pytest.approx(0.5**0.5)
    # The best known value may lie beyond the budget.
    assert found.best == (1.0, "TPE, seed 0")
    assert found.leads["TPE"].size == pytest.approx((4 / 2 * 3 / 3) ** 0.5)


def test_pairs_that_had_done_the_same_are_counted():
    found = measure_methods([*RUNS, run("BO", 0, [5.0, 4.0]), run("BO", 1, [3.0, 5.0])], ComparisonQuestion())
    assert {method: lead.same for method, lead in found.leads.items()} == {"TPE": 0, "BO": 1}
    # In another order it is the same.
    found = measure_methods([*RUNS, run("BO", 0, [4.0, 5.0]), run("BO", 1, [6.0, 3.0])], ComparisonQuestion())
    assert found.leads["BO"].same == 2


def test_seeds_in_common_are_pairs_and_without_any_there_are_two_samples():
    def between(mine, theirs):
        found = lead_over(mine, theirs, ({}, {}), "min", scale=Scale.DIFFERENCE, confidence=0.95)
        return found.paired, found.counts, found.lead

    assert between({0: 1.0, 1: 2.0, 2: 9.0}, {0: 2.0, 1: 4.0}) == (True, (2, 2), 1.5)
    assert between({0: 1.0, 1: 2.0, 2: 3.0}, {5: 2.0, 6: 4.0}) == (False, (3, 2), 1.0)
    assert between({0: 1.0}, {5: 2.0, 6: 4.0}) == (True, (0, 0), None)
