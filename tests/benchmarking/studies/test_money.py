"""How the money of a study is shared: equal parts that stay, and never more than the limit."""

from __future__ import annotations

import math

import pytest

from benchmarking.studies.money import equal_shares, groups, with_shares
from benchmarking.studies.record import PlannedExperiment, StudyFlags
from definitions.errors import UserError


def planned(number, share=None, benchmark="toy"):
    return PlannedExperiment(benchmark, "RS", number, 7, "h", hears_levels=False, repeats=1, share_usd=share)


def test_all_get_the_same_part():
    assert equal_shares(1.0, [0.0, 0.0, 0.0, 0.0]) == [0.25] * 4
    assert equal_shares(1.0, [0.1, 0.25, 0.0, 0.0]) == [0.25] * 4


def test_who_spent_more_than_its_part_keeps_that_and_the_others_share_what_is_left():
    assert equal_shares(1.0, [0.7, 0.0, 0.0]) == [0.7, pytest.approx(0.15), pytest.approx(0.15)]
    # 0.26 is above a part only once 0.7 is taken away.
    assert equal_shares(1.0, [0.7, 0.26, 0.0]) == [0.7, 0.26, pytest.approx(0.04)]
    assert equal_shares(1.0, [1.2, 0.0]) == [1.2, 0.0]


@pytest.mark.parametrize("spent", [[0.0] * 7, [0.3, 0.2, 0.0], [0.9, 0.05, 0.05, 0.0]])
def test_shares_never_exceed_the_limit(spent):
    assert math.fsum(equal_shares(1.0, spent)) <= 1.0 + 1e-12


def test_an_extension_leaves_the_shares_as_they_are_or_is_refused_with_what_it_needs():
    there = [planned(0, 0.5), planned(1, 0.5)]
    assert with_shares(there, 1.0, [0.0, 0.0], "max_cost") == [0.5, 0.5]
    with pytest.raises(UserError, match=r"max_cost = \$1 for 3 experiments\n  2 of them have a fixed share of \$0.5 each") as refused:
        with_shares([*there, planned(2)], 1.0, [0.0] * 3, "max_cost")
    assert "give --max_cost 1.5 or more" in str(refused.value)
    with pytest.raises(UserError, match=r"max_cost = \$1.25 for 3 experiments and \$0.25 beside\n") as refused:
        with_shares([*there, planned(2)], 1.0, [0.0] * 3, "max_cost", aside_usd=0.25)
    assert "give --max_cost 1.75 or more" in str(refused.value)
    assert with_shares([*there, planned(2)], 1.5, [0.0] * 3, "max_cost") == [0.5] * 3
    assert with_shares([*there, planned(2)], 3.0, [0.0] * 3, "max_cost") == [1.0] * 3
    assert with_shares(there, None, [0.0, 0.0], "max_cost") == [None, None]


def test_a_limit_of_the_study_is_for_all_and_one_of_a_benchmark_for_its_own():
    both = [planned(0), planned(0, benchmark="other"), planned(1)]
    assert groups(StudyFlags("local", max_cost=1.0), both) == [both]
    assert groups(StudyFlags("local"), both) == [[both[0], both[2]], [both[1]]]
