"""The noise of measurements, and what repeats teach of it."""

import numpy as np
import pytest

from benchmarking.forecasting.model.noise import noise_prior, within_levels


def test_noise_is_learnt_from_the_repeats_of_others():
    assert within_levels(np.array([1, 1, 2]), np.exp(np.array([0.1, 0.3, 5.0]))) == (pytest.approx(0.02), 1)
    noisy, quiet = noise_prior(others=[(8 * 0.3**2, 8)]), noise_prior(others=[(8 * 0.01**2, 8)])
    assert noisy.b / noisy.a > 10 * quiet.b / quiet.a
    assert noise_prior().a == quiet.a - 4


def test_others_count_as_eight_degrees_of_freedom_at_most():
    prior = noise_prior(others=[(0.3, 4), (0.9, 16)])
    assert (prior.a, prior.b) == (pytest.approx(2.5 + 4), pytest.approx(3.5 * 0.04**2 + 0.5 * 8 * 1.2 / 20))
    few = noise_prior(others=[(0.3, 4)])
    assert (few.a, few.b) == (pytest.approx(2.5 + 2), pytest.approx(3.5 * 0.04**2 + 0.15))
