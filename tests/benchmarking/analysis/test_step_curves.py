"""Best-so-far curves, by hand."""

from __future__ import annotations

import math

import pytest

from benchmarking.analysis.step_curves import best_so_far, censored_median

CURVE = best_so_far([(4.0, 2.0), (1.0, 5.0), (2.0, 6.0), (4.0, 3.0)], "min", 10.0)


def test_it_steps_where_something_better_was_known_and_is_undefined_before_the_first_and_after_the_end():
    assert (CURVE.at, CURVE.values) == ((1.0, 4.0), (5.0, 2.0))
    assert [CURVE(x) for x in (0.9, 1.0, 3.9, 4.0, 10.0, 10.1)] == [None, 5.0, 5.0, 2.0, 2.0, None]


def test_where_more_is_better_it_rises():
    rising = best_so_far([(1.0, 0.5), (2.0, 0.4), (3.0, 0.9)], "max", 5.0)
    assert (rising.at, rising.values) == ((1.0, 3.0), (0.5, 0.9))
    assert rising.reached(0.8, "max") == 3.0


def test_a_target_is_reached_or_never():
    assert CURVE.reached(5.0, "min") == 1.0
    assert CURVE.reached(4.9, "min") == 4.0
    assert CURVE.reached(1.9, "min") is None


def test_mean_regret_is_the_area_over_the_best_divided_by_its_length():
    # From 1 to 4 it is 4 above 1, from 4 to 7 it is 1 above.
    assert CURVE.mean_regret(1.0, 7.0) == pytest.approx((3 * 4.0 + 3 * 1.0) / 6)
    assert CURVE.mean_regret(1.0, 3.0) == pytest.approx(4.0)
    assert CURVE.mean_regret(1.0, 1.0) is None
    assert CURVE.mean_regret(1.0, 11.0) is None


def test_what_is_not_finite_is_no_result():
    found = best_so_far([(1.0, math.nan), (2.0, -math.inf), (3.0, 4.0)], "min", 3.0)
    assert (found.at, found.values) == ((3.0,), (4.0,))
    empty = best_so_far([], "min", 3.0)
    assert (empty(1.0), empty.mean_regret(0.0, 3.0)) == (None, None)


def test_a_result_known_after_the_end_prolongs_it():
    assert best_so_far([(5.0, 1.0)], "min", 4.0)(5.0) == 1.0


def test_a_wait_that_is_not_over_counts_as_longer_than_all_that_were():
    assert censored_median([3.0, None, 1.0]) == 3.0
    assert censored_median([3.0, 1.0, 2.0, None]) == 2.5
    assert censored_median([3.0, None]) is None
    assert censored_median([]) is None
