"""The growth law: what it finds, how sure it is, and what configurations teach each other."""

import math

import numpy as np
import pytest

from benchmarking.forecasting.model.power_law import (
    GrowthPrior,
    drift_of,
    fit,
    grid,
    noise_prior,
    sample_together,
    share_exponents,
    within_levels,
)
from benchmarking.forecasting.model.priors import exponents_of
from definitions.errors import UserError

X = np.array([0.01, 0.01, 0.03, 0.03, 0.1])


def measured(exponent, noise=0.02, seed=0, k=100.0):
    return k * X**exponent * np.exp(np.random.default_rng(seed).normal(0, noise, len(X)))


@pytest.mark.parametrize("exponent", [0.85, 1.0, 1.15, 2.0])
def test_a_power_is_found_and_its_full_size_lies_in_the_interval(exponent):
    growth = fit(X, measured(exponent), GrowthPrior(exponents_of("")))
    mean, sd = growth.exponent()
    assert abs(mean - exponent) < 0.06
    assert sd < 0.15
    low, median, high = np.quantile(growth.sample(1.0, 4000, np.random.default_rng(0)), (0.05, 0.5, 0.95))
    assert low < 100 < high
    assert abs(median / 100 - 1) < 0.2


def test_a_constant_part_is_told_from_a_smaller_exponent():
    y = 5.0 + 1000 * X
    growth = fit(X, y, GrowthPrior(exponents_of("linear"), offset="any"))
    assert np.median(growth.sample(1.0, 4000, np.random.default_rng(0))) == pytest.approx(1005, rel=0.05)


def test_configurations_of_one_code_narrow_each_others_exponent():
    prior = GrowthPrior(exponents_of(""))
    members = [fit(X, measured(1.15, 0.05, seed), prior) for seed in range(6)]
    shared = share_exponents(members)
    assert np.mean([one.exponent()[1] for one in shared]) < 0.75 * np.mean([one.exponent()[1] for one in members])
    assert all(abs(one.exponent()[0] - 1.15) < 0.08 for one in shared)


def test_configurations_that_disagree_keep_their_own_exponent():
    prior = GrowthPrior(exponents_of(""))
    linear, square = share_exponents([fit(X, measured(1.0), prior), fit(X, measured(2.0), prior)])
    assert abs(linear.exponent()[0] - 1.0) < 0.06
    assert abs(square.exponent()[0] - 2.0) < 0.1


def test_what_is_common_cancels_in_a_comparison():
    x = np.array([0.01, 0.01, 0.03])
    prior = GrowthPrior(exponents_of("iterative"))
    members = [fit(x, k * x, prior) for k in (100.0, 120.0)]
    a, b = sample_together(members, 1.0, 2000, np.random.default_rng(0))
    apart = [one.sample(1.0, 2000, np.random.default_rng(seed), noise=False) for seed, one in enumerate(members)]
    assert np.std(np.log(a / b)) < 0.85 * np.std(np.log(apart[0] / apart[1]))


def test_noise_is_learnt_from_the_repeats_of_others():
    assert within_levels(np.array([1, 1, 2]), np.exp(np.array([0.1, 0.3, 5.0]))) == (pytest.approx(0.02), 1)
    noisy, quiet = noise_prior(others=[(8 * 0.3**2, 8)]), noise_prior(others=[(8 * 0.01**2, 8)])
    assert noisy.b / noisy.a > 10 * quiet.b / quiet.a
    assert noise_prior().a == quiet.a - 4


def test_an_unknown_family_is_answered_with_the_nearest_one():
    with pytest.raises(UserError, match="did you mean 'trees'"):
        exponents_of("tree")


def test_draws_repeat_with_their_seed_and_follow_the_full_size():
    growth = fit(X, measured(1.0), GrowthPrior(exponents_of("linear")))
    first, again = (growth.sample(1.0, 500, np.random.default_rng(7)) for _ in range(2))
    assert (first == again).all()
    assert np.median(growth.sample(0.1, 2000, np.random.default_rng(1))) == pytest.approx(10, rel=0.06)
    assert math.isfinite(growth.noise_sd())


def test_equal_sizes_are_fitted_like_runs_one_by_one():
    # By the definition: residuals of every run from the law of one cell, with K at its best.
    y, prior = measured(1.1, 0.1), GrowthPrior(exponents_of(""))
    growth = fit(X, y, prior)
    points, shares = grid()
    for c, s in ((44, 0), (40, 12), (80, 27)):
        law = np.log(shares[s] + (1 - shares[s]) * (X / growth.x0) ** points[c])
        residual = np.log(y) - law
        assert growth.b[c, s] == pytest.approx(noise_prior().b + 0.5 * ((residual - residual.mean()) ** 2).sum(), rel=1e-9)
        assert growth.centre - growth.log_basis[c * len(shares) + s] == pytest.approx(residual.mean(), rel=1e-9)


def test_drift_is_that_of_short_runs_until_they_last_seconds():
    assert drift_of(0.02) > 0.15
    assert drift_of(0.25) == pytest.approx(0.115)
    assert drift_of(100.0) < 0.016
