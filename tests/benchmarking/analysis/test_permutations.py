"""Exact tests against scipy's, and Holm's correction against worked numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarking.analysis.permutations import holm, least_relabelling_p, least_sign_flip_p, relabelling_p, sign_flip_p


def _mean(values, axis):
    return np.mean(values, axis=axis)


@pytest.mark.parametrize("values", [[1.2, 0.3, -0.4, 2.0, 0.9], [0.5, 0.5, 0.5, -0.1], [-3.0, 1.0, -2.0, -4.0, -0.5, -1.5]])
def test_sign_flips_agree_with_scipys_exact_permutations(values):
    expected = stats.permutation_test((np.array(values),), _mean, permutation_type="samples", n_resamples=np.inf)
    # scipy doubles the smaller tail; the distribution is symmetric, so that is the share of both tails.
    assert sign_flip_p(values) == pytest.approx(expected.pvalue)


def test_five_pairs_cannot_reach_five_per_cent_and_six_can():
    assert sign_flip_p([1.0, 2.0, 3.0, 4.0, 5.0]) == least_sign_flip_p(5) == 0.0625
    assert sign_flip_p([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == least_sign_flip_p(6) == 0.03125
    assert least_sign_flip_p(0) == 1.0


def test_pairs_without_a_difference_say_nothing():
    assert sign_flip_p([0.0, 0.0]) == 1.0
    assert sign_flip_p([1.0, 2.0, 0.0]) == sign_flip_p([1.0, 2.0]) == 0.5


def test_many_pairs_are_drawn_and_come_near_the_normal_answer():
    values = np.random.default_rng(1).normal(0.4, 1.0, 30)
    expected = stats.ttest_1samp(values, 0.0).pvalue
    assert sign_flip_p(values.tolist()) == pytest.approx(expected, abs=0.01)
    assert sign_flip_p([1.0] * 40) == pytest.approx(1 / 50_001)
    # Of 13 equal pairs two patterns of 8,192 are as far off; the number is no multiple of the eight signs that are drawn together.
    assert sign_flip_p([1.0] * 13) == pytest.approx(2 / 8_192, abs=1e-4)


def test_relabelling_agrees_with_scipys_exact_permutations():
    first, second = [1.0, 2.0, 4.5, 3.0], [5.0, 6.0, 4.0]
    expected = stats.permutation_test(
        (np.array(first), np.array(second)), lambda a, b, axis: abs(np.mean(a, axis) - np.mean(b, axis)),
        alternative="greater", n_resamples=np.inf,
    )  # fmt: skip
    assert relabelling_p(first, second) == pytest.approx(expected.pvalue)


def test_the_least_p_value_of_two_samples_is_one_labelling_or_with_equal_sizes_two():
    assert relabelling_p([1.0, 2.0, 3.0], [10.0, 11.0, 12.0]) == pytest.approx(least_relabelling_p(3, 3)) == 2 / 20
    assert relabelling_p([1.0, 2.0, 3.0], [10.0, 11.0]) == pytest.approx(least_relabelling_p(3, 2)) == 1 / 10
    assert relabelling_p([1.0, 2.0, 3.0], [10.0]) == pytest.approx(least_relabelling_p(3, 1)) == least_relabelling_p(1, 3) == 1 / 4
    assert least_relabelling_p(1, 1) == 1.0
    assert relabelling_p([], [1.0]) == relabelling_p([1.0], []) == least_relabelling_p(0, 3) == 1.0


def test_many_labellings_are_drawn():
    generator = np.random.default_rng(5)
    first, second = generator.normal(0.0, 1.0, 20), generator.normal(0.8, 1.0, 20)
    assert math.comb(40, 20) > 20_000
    assert relabelling_p(first.tolist(), second.tolist()) == pytest.approx(stats.ttest_ind(first, second).pvalue, abs=0.01)


def test_holm_multiplies_the_smallest_most_and_never_judges_a_larger_one_more_mildly():
    # 0.01 * 4, 0.02 * 3, 0.02 * 2 -> no less than the one before, 0.9 * 1.
    assert holm([0.02, 0.01, 0.9, 0.02]) == pytest.approx([0.06, 0.04, 0.9, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
