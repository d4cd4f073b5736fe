"""Intervals against scipy, against all samples written out, and by how often they hold what they should."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from benchmarking.analysis.intervals import difference_interval, mean_interval, mean_intervals, standard_deviation


def test_up_to_four_distinct_values_it_is_students_t():
    values = [1.0, 2.0, 4.0, 4.0, 1.0]
    found = mean_interval(values)
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert found is not None
    assert found.how == "Student's t"
    assert (found.low, found.high) == pytest.approx((low, high))


def test_from_five_distinct_values_it_is_the_studentised_bootstrap_over_every_sample():
    values = np.array([0.3, 1.1, 1.9, 2.0, 7.5])
    mean, error = values.mean(), stats.sem(values)
    ratios = []
    for drawn in itertools.product(values, repeat=5):
        sample = np.array(drawn)
        spread = 0.0 if len(set(drawn)) == 1 else stats.sem(sample)
        ratios.append((sample.mean() - mean) / spread if spread else math.copysign(math.inf, sample.mean() - mean))
    low, high = np.quantile(ratios, [0.025, 0.975], method="inverted_cdf")
    found = mean_interval(values.tolist())
    assert found is not None
    assert found.how == "studentised bootstrap"
    assert (found.low, found.high) == pytest.approx((mean - high * error, mean - low * error))
    # The long tail is above, so the interval reaches further there; Student's would be symmetric.
    assert found.high - mean > mean - found.low


def test_an_interval_holds_the_mean_as_often_as_it_says():
    generator = np.random.default_rng(7)
    for n in (5, 8):
        for draw, mean, least in (
            (lambda n: generator.normal(size=n), 0.0, 0.93),
            (lambda n: generator.lognormal(size=n), math.exp(0.5), 0.88),
        ):
            held = [not found.excludes(mean) for _ in range(1000) if (found := mean_interval(draw(n).tolist()))]
            # Three standard errors of a share of 1,000.
            assert len(held) == 1000
            assert least - 0.02 <= np.mean(held) <= 0.975


def test_two_samples_with_few_values_are_compared_by_welch():
    first, second = [5.0, 6.0, 7.5], [1.0, 2.5, 2.0, 1.5]
    found = difference_interval(first, second)
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    assert found is not None
    assert found.how == "Welch's t"
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_two_samples_without_any_spread_differ_by_exactly_that():
    found = difference_interval([2.0, 2.0], [1.0, 1.0, 1.0])
    assert found is not None
    assert (found.low, found.high) == (1.0, 1.0)


def test_two_samples_cover_their_difference():
    generator = np.random.default_rng(3)
    held = []
    for _ in range(300):
        found = difference_interval(generator.normal(3.0, 1.0, 8).tolist(), generator.normal(1.0, 2.0, 8).tolist())
        assert found is not None
        assert found.how == "studentised bootstrap"
        held.append(not found.excludes(2.0))
    assert 0.91 <= np.mean(held) <= 0.99


def test_more_values_than_can_be_gone_through_give_the_same_interval_each_time():
    values = np.random.default_rng(0).normal(size=15).tolist()
    found = mean_interval(values)
    assert found == mean_interval(values)
    low, high = stats.t.interval(0.95, 14, loc=np.mean(values), scale=stats.sem(values))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15)


def test_a_level_beyond_what_so_few_values_can_say_falls_back_to_students_t():
    # One sample in 625 has one value alone and is infinitely far off: at 99.9 % that is the quantile.
    found = mean_interval([1.0, 2.0, 3.0, 4.0, 5.5], 0.999)
    assert found is not None
    assert found.how == "Student's t"


@pytest.mark.parametrize("values", [[], [3.0]])
def test_one_value_has_no_interval(values):
    assert mean_interval(values) is None
    assert difference_interval(values, [1.0, 2.0]) is None
    assert standard_deviation(values) == 0.0


def test_equal_values_have_an_interval_of_no_width():
    found = mean_interval([2.0, 2.0, 2.0])
    assert found is not None
    assert (found.low, found.high) == (2.0, 2.0)
    assert found.is_within(2.0)
    assert not found.is_within(1.9)
    # A constant metric is a tie, also with a threshold of nothing.
    nothing = mean_interval([0.0, 0.0])
    assert nothing is not None
    assert nothing.is_within(0.0)


def test_many_samples_at_once_have_the_intervals_of_each_whatever_their_sizes():
    drawn = np.random.default_rng(4).lognormal(size=(6, 30)).tolist()
    samples = [*drawn, drawn[0][:7], [1.0, 2.0, 2.0], [5.0], [], drawn[1][:7], [3.0] * 30]
    together = mean_intervals(samples, 0.9)
    assert [one is None for one in together] == [False] * 8 + [True, True, False, False]
    for values, one in zip(samples, together, strict=True):
        alone = mean_interval(values, 0.9)
        assert (alone is None) == (one is None)
        if alone is not None:
            assert (one.low, one.high, one.how) == (pytest.approx(alone.low), pytest.approx(alone.high), alone.how)
