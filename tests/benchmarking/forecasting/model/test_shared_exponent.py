"""What configurations of one code teach each other."""

import numpy as np

from benchmarking.forecasting.model.growth_prior import GrowthPrior
from benchmarking.forecasting.model.power_law import fit
from benchmarking.forecasting.model.priors import exponents_of
from benchmarking.forecasting.model.shared_exponent import share_exponents

X = np.array([0.01, 0.01, 0.03, 0.03, 0.1])


def measured(exponent, noise=0.02, seed=0, k=100.0):
    return k * X**exponent * np.exp(np.random.default_rng(seed).normal(0, noise, len(X)))


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
