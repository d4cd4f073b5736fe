"""The growth law: what it finds, how sure it is, and what configurations teach each other."""

import math

import numpy as np
import pytest

from benchmarking.forecasting.model.growth_prior import GrowthPrior, grid
from benchmarking.forecasting.model.noise import noise_prior
from benchmarking.forecasting.model.power_law import fit
from benchmarking.forecasting.model.priors import exponents_of

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


def test_the_constant_share_is_that_of_the_largest_size():
    # 5 s of a total of 5 + 1000 x 0.1.
    growth = fit(X, 5.0 + 1000 * X, GrowthPrior(exponents_of("linear"), offset="any"))
    assert growth.constant_share() == pytest.approx(5 / 105, abs=0.02)
