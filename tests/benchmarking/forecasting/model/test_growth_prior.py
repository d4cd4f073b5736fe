"""What is believed of a growth before it is measured: the exponents of each family, and the constant share by kind of quantity."""

import math

import numpy as np
import pytest

from benchmarking.forecasting.model.growth_prior import drift_of, exponent_log_prior, grid, share_log_prior
from benchmarking.forecasting.model.priors import FAMILIES


def moments(log_prior):
    """Return mean and standard deviation of the exponent under a log prior on the grid."""
    points, _ = grid()
    weights = np.exp(log_prior)
    weights /= weights.sum()
    mean = float((weights * points).sum())
    return mean, math.sqrt(float((weights * (points - mean) ** 2).sum()))


# Mean and standard deviation of each mixture as it is cut off at 0 and 3.
MOMENTS = {
    "": (1.0583, 0.3042),
    "constant": (0.0405, 0.137),
    "epochs": (1.0, 0.05),
    "linear": (1.0, 0.0566),
    "trees": (1.011, 0.1149),
    "sort": (1.084, 0.0764),
    "iterative": (1.025, 0.1835),
    "clustering": (1.025, 0.1835),
    "neighbours": (1.91, 0.2451),
    "kernel": (1.9974, 0.2646),
    "gaussian_process": (2.7286, 0.2901),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_exponents_of_a_family(family):
    assert moments(exponent_log_prior(FAMILIES[family])) == pytest.approx(MOMENTS[family], abs=6e-5)


def test_the_grid_reaches_from_no_growth_to_cubic_and_from_no_constant_part_to_nearly_all():
    points, shares = grid()
    assert (points[0], points[40], points[-1], len(points)) == (0.0, pytest.approx(1.0), 3.0, 121)
    assert (shares[0], shares[1], shares[-1], len(shares)) == (0.0, pytest.approx(0.01798, rel=1e-3), pytest.approx(0.9985, rel=1e-4), 28)


def test_a_component_narrower_than_the_grid_keeps_its_weight():
    points, _ = grid()
    weights = np.exp(exponent_log_prior(((0.9, 1.0, 0.001), (0.1, 2.0, 0.2))))
    assert weights[points < 1.5].sum() == pytest.approx(0.9, abs=0.001)


def shares_of(*arguments):
    weights = np.exp(share_log_prior(*arguments))
    assert weights.sum() == pytest.approx(1.0)
    _, shares = grid()
    return weights, shares


@pytest.mark.parametrize("offset", ["any", "most", 0.3])
def test_the_weight_of_no_constant_part_is_what_was_asked_for(offset):
    assert shares_of(0.3, offset)[0][0] == pytest.approx(0.3)


def test_a_base_load_is_likely_most_of_what_is_there_and_a_total_may_hold_any_share():
    mean = {offset: float((weights * shares).sum()) for offset in ("any", "most") for weights, shares in [shares_of(0.0, offset)]}
    # Integrals over the grid's range: a share that is even has mean 0.508, one that is even on the logit 0.617.
    assert mean["any"] == pytest.approx(2 / 3 * 0.508 + 1 / 3 * 0.617, abs=0.004)
    # The density s of weight 0.498 has mean 0.666, what is even on the logit weighs 0.02 x 10.5.
    assert mean["most"] == pytest.approx((0.498 * 0.666 + 0.21 * 0.617) / (0.498 + 0.21), abs=0.004)


def test_a_suggested_share_is_believed_four_times_of_five():
    weights, shares = shares_of(0.0, 0.25)
    near = np.abs(np.log(shares[1:] / (1 - shares[1:])) - math.log(1 / 3)) < 1.4  # two standard deviations on the logit
    assert weights[1:][near].sum() == pytest.approx(0.8 * 0.954 + 0.2 * 0.5, abs=0.03)
    assert shares[weights.argmax()] == pytest.approx(0.25, abs=0.05)


def test_a_share_at_the_ends_is_held_within_them():
    assert share_log_prior(0.1, 0.0).tolist() == share_log_prior(0.1, 0.005).tolist()
    assert share_log_prior(0.1, 1.0).tolist() == share_log_prior(0.1, 0.995).tolist()


@pytest.mark.parametrize(("typical_s", "none", "median_share"), [(0.1, 0.12, 0.227), (1.0, 0.1955, 0.079), (100.0, 0.926, 0.0)])
def test_a_timed_phase_warms_up_for_a_tenth_of_a_second(typical_s, none, median_share):
    """The log of the share is normal, of sd 2 around a tenth of a second over the typical time, and cut off at the grid's ends."""
    weights, shares = shares_of(0.6, "seconds", math.log(typical_s))
    assert weights[0] == pytest.approx(none, abs=0.001)
    assert shares[np.searchsorted(np.cumsum(weights), 0.5)] == pytest.approx(median_share, abs=0.015)


def test_drift_is_that_of_short_runs_until_they_last_seconds():
    assert drift_of(0.0) == pytest.approx(0.215)
    assert drift_of(0.25) == pytest.approx(0.115)
    assert drift_of(100.0) == pytest.approx(0.0155, abs=1e-5)
