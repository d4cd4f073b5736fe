"""Quantiles of draws, and what widths count as."""

import numpy as np
import pytest

from benchmarking.forecasting.model.result import Status, graver, quantiles, status_of_width


def test_quantiles_are_those_of_numpy():
    draws = np.random.default_rng(0).lognormal(0, 1, 999)
    assert quantiles(draws) == pytest.approx(tuple(np.quantile(draws, (0.5, 0.1, 0.9, 0.05, 0.95))))


def test_a_stretch_widens_around_the_median_on_the_log_scale():
    draws = np.exp(np.linspace(-1, 1, 2001))
    median, lo80, hi80, lo90, hi90 = quantiles(draws, 2.0)
    assert (median, lo80, hi80) == (pytest.approx(1.0), pytest.approx(np.exp(-1.6)), pytest.approx(np.exp(1.6)))
    assert (lo90, hi90) == (pytest.approx(np.exp(-1.8)), pytest.approx(np.exp(1.8)))


@pytest.mark.parametrize(
    ("lo80", "hi80", "scale", "status"),
    [
        (80.0, 120.0, None, Status.OK),  # a factor of 1.22 either way
        (70.0, 120.0, None, Status.WIDE),  # 1.31
        (50.0, 120.0, None, Status.NOT_DECIDED),  # 1.55
        (0.0, 1.0, None, Status.NOT_DECIDED),
        (40.0, 60.0, 100.0, Status.OK),
        (30.0, 60.0, 100.0, Status.WIDE),
        (20.0, 80.0, 100.0, Status.NOT_DECIDED),
    ],
)
def test_what_widths_count_as(lo80, hi80, scale, status):
    assert status_of_width(lo80, hi80, scale) is status


def test_what_does_not_fit_is_gravest():
    assert graver(Status.DOES_NOT_FIT, Status.NOT_DECIDED) is Status.DOES_NOT_FIT
    assert graver(Status.OK, Status.WIDE) is Status.WIDE
