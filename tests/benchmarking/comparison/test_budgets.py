"""The budget at which runs are compared, and whose end sets it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.comparison.budgets import FirstToEnd, amount, common_budget, done_by
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis
from definitions.errors import UserError
from tests.benchmarking.comparison.made_runs import run

FIVE = [5.0, 4.0, 3.0, 2.0, 1.0]


def of_lengths(*lengths):
    return [run("RS", number, [1.0] * length) for number, length in enumerate(lengths)]


def test_whose_end_cuts_others_short_is_named_however_little_that_is():
    assert common_budget(of_lengths(20, 20, 20), ComparisonQuestion()).first_to_end is None
    # A twentieth is where trials happen to end.
    assert common_budget(of_lengths(20, 21), ComparisonQuestion()).first_to_end is None
    assert common_budget(of_lengths(10, 11, 13), ComparisonQuestion()).first_to_end == FirstToEnd(
        "b x RS x seed 0 of t", "done", 0, 2, 12.0
    )
    found = common_budget(of_lengths(3, 40, 3, 60, 50), ComparisonQuestion())
    assert (found.at, found.first_to_end) == (3.0, FirstToEnd("b x RS x seed 0 of t", "done", 1, 3, 50.0))
    assert common_budget(of_lengths(3, 40), ComparisonQuestion(at=30.0)).first_to_end is None


def test_runs_without_a_result_set_no_budget():
    assert common_budget([*of_lengths(4, 4), run("TPE", 0, [])], ComparisonQuestion()).at == 4.0
    assert common_budget([run("TPE", 0, [])], ComparisonQuestion()).at == 0.0


def test_a_budget_that_nobody_reached_is_refused_with_who_came_how_far():
    with pytest.raises(UserError) as caught:
        common_budget(of_lengths(4, 9), ComparisonQuestion(at=1e9))
    assert caught.value.asked == "--at 1e+09: no run of b went that far"
    assert caught.value.fact == "b x RS x seed 1 of t went furthest, 9 trials; all reached 4 trials"
    # What some have reached can be compared among them.
    assert common_budget(of_lengths(4, 9), ComparisonQuestion(at=9.0)).at == 9.0


def test_what_was_done_counts_levels_and_ends_at_the_budget():
    one = run("ASHA", 0, FIVE, full=[False, False, True, True, True])
    one = replace(
        one, measurements=[each._replace(evaluation=index // 2, level=float(index)) for index, each in enumerate(one.measurements)]
    )
    budget = common_budget([one], ComparisonQuestion(at=4.0))
    assert {level for level, _ in done_by(one, budget, any_level=False).configurations} == {3.0}
    assert {level for level, _ in done_by(one, budget, any_level=True).configurations} == {1.0, 3.0}
    assert done_by(one, common_budget([one], ComparisonQuestion(at=2.0)), any_level=False).configurations == frozenset()


def test_the_same_configurations_under_other_settings_are_not_the_same():
    budget = common_budget([run("RS", 0, FIVE)], ComparisonQuestion())
    first = done_by(run("RS", 0, FIVE), budget, any_level=False)
    assert first.is_same(done_by(run("TPE", 0, FIVE[::-1]), budget, any_level=False))
    changes = [{"tag": "u"}, {"backend": "sagemaker"}, {"facts": {"script": "v2"}}, {"facts": {"workers": "4"}}, {"measurements": ()}]
    others = [done_by(replace(run("TPE", 0, FIVE), **change), budget, any_level=False) for change in changes]
    assert [first.is_same(other) for other in [*others, None]] == [False] * 6
    # Two that did nothing did not do the same.
    assert not others[-1].is_same(others[-1])


def test_places_in_words():
    assert [amount(1.0, Axis.TRIALS), amount(20.0, Axis.TRIALS), amount(3.0, Axis.LEVEL)] == ["1 trial", "20 trials", "level 3"]
    seconds = (12.34, 59.9, 60.4, 300.0)
    assert [amount(one, Axis.WALLCLOCK) for one in seconds] == ["12.3 s", "59.9 s", "60 s", "5 min 0 s"]
    assert [amount(0.02, Axis.COST, kind) for kind in ("", "real", "nominal")] == ["$0.020", "$0.020", "$0.020 (nominal)"]
