"""The Gaussian process: its gradient and its predictions."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarking.methods.searchers.gaussian_process import GaussianProcess


def test_gaussian_process_gradient_and_predictions():
    source = np.random.default_rng(0)
    inputs = source.random((40, 3))
    targets = np.sin(5 * inputs[:, 0]) + inputs[:, 1] ** 2
    process = GaussianProcess(inputs, targets)
    at = process.hyperparameters + 0.1
    _, gradient = process.cost(at)
    for k in range(len(at)):
        step = 1e-5 * np.eye(len(at))[k]
        assert gradient[k] == pytest.approx((process.cost(at + step)[0] - process.cost(at - step)[0]) / 2e-5, abs=1e-4)
    there = source.random((200, 3))
    mean, deviation = process.predict(there)
    wrong = mean - (np.sin(5 * there[:, 0]) + there[:, 1] ** 2)
    assert np.sqrt((wrong**2).mean()) < 0.1
    assert (abs(wrong) < 3 * deviation).mean() > 0.9
    believed, narrower = process.with_believed(there[:1]).predict(there[:1])
    assert believed == pytest.approx(mean[:1], abs=0.02)
    assert narrower[0] <= deviation[0]


def test_where_the_covariance_is_none_for_want_of_digits_the_cost_is_high_and_flat():
    process = GaussianProcess(np.zeros((5, 2)), np.arange(5.0))
    # Five inputs that are one, a signal of e^80 and no noise: the kernel has rank one for all that a double can tell.
    at = np.array([0.0, 0.0, 80.0, -80.0])
    cost, gradient = process.cost(at)
    assert cost == 1e10
    assert gradient.tolist() == [0.0] * 4
