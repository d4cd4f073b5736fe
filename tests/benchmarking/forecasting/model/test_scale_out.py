"""Ernest's terms: what they find, and how sure they are."""

import math

import numpy as np
import pytest

from benchmarking.forecasting.model.scale_out import coefficients, scale_out_draws, terms

MACHINES = np.array([1.0, 2.0, 4.0, 8.0])


def test_the_terms_are_serial_divided_tree_and_all_to_one():
    assert terms([4]).tolist() == [pytest.approx([1.0, 0.25, math.log(4), 4.0])]


def test_non_negative_coefficients_are_found():
    assert coefficients(MACHINES, 10 + 100 / MACHINES + 2 * MACHINES).tolist() == pytest.approx([10, 100, 0, 2], abs=1e-6)
    # Faster than divided: no term explains it, and none may be negative.
    assert min(coefficients(MACHINES, 100 / MACHINES**1.5)) >= 0


def test_the_interval_widens_with_the_distance_from_what_was_measured():
    seconds = 10 + 100 / MACHINES
    near, far = (np.log(scale_out_draws(MACHINES, seconds, count, 4000, np.random.default_rng(0))) for count in (8, 64))
    assert np.median(near) == pytest.approx(math.log(22.5), abs=0.05)
    assert np.median(far) == pytest.approx(math.log(11.6), abs=0.25)
    # Three doublings beyond, each 0.18 to the scale of Student's t of 3 degrees of freedom, whose quartile is 0.765; coefficients add some.
    low, high = np.quantile(far, (0.25, 0.75))
    assert 0.765 * 3 * 0.18 < (high - low) / 2 < 0.6
    low, high = np.quantile(near, (0.25, 0.75))
    assert (high - low) / 2 < 0.03


def spread(target, seconds, size=20_000):
    """Return half of the width between the quartiles, on the log scale."""
    draws = np.log(scale_out_draws(MACHINES, seconds, target, size, np.random.default_rng(1)))
    low, high = np.quantile(draws, (0.25, 0.75))
    return (high - low) / 2


def test_scatter_around_the_law_widens_the_interval():
    exact = 10 + 100 / MACHINES
    assert spread(4, exact * np.array([1.2, 0.85, 1.15, 0.9])) > 4 * spread(4, exact)


def test_fewer_machines_than_were_measured_are_as_far_as_more():
    measured = np.array([4.0, 8.0, 16.0, 32.0])
    draws = {
        target: np.log(scale_out_draws(measured, 10 + 100 / measured, target, 20_000, np.random.default_rng(0))) for target in (1, 128)
    }
    widths = {target: float(np.subtract(*np.quantile(values, (0.75, 0.25)))) for target, values in draws.items()}
    # Two doublings on either side: the scale of Student's t is 0.36, its upper quartile 0.765.
    assert widths[1] == pytest.approx(2 * 0.765 * 0.36, rel=0.15)
    assert widths[128] == pytest.approx(2 * 0.765 * 0.36, rel=0.15)


def test_the_centre_is_that_of_the_fit_and_not_of_its_bootstrap():
    seconds = 10 + 100 / MACHINES
    assert np.median(scale_out_draws(MACHINES, seconds, 4, 20_000, np.random.default_rng(2))) == pytest.approx(35.0, rel=0.01)


class Generator:
    """A generator that notes what it is asked for, and draws the middle of everything."""

    def __init__(self):
        self.scales, self.freedoms, self.choices = [], [], []

    def normal(self, mean, deviation, size):
        self.scales.append((mean, float(deviation), size))
        return np.zeros(size)

    def integers(self, low, high, size):
        self.choices.append((low, high, size))
        return np.zeros(size, dtype=int)

    def standard_t(self, freedom, size):
        self.freedoms.append(freedom)
        return np.ones(size)


@pytest.mark.parametrize(
    ("machines", "freedom"),
    [
        # Of the four terms three count, and no more than there are numbers of instances; one degree stays at least.
        ([1, 2, 4, 8, 16], 2),
        ([1, 1, 4, 4], 2),
        ([1, 4], 1),
    ],
)
def test_the_scatter_of_a_perfect_fit_is_that_of_its_prior(machines, freedom):
    measured, generator = np.array(machines, dtype=float), Generator()
    draws = scale_out_draws(measured, 10 + 100 / measured, 2, 3, generator)
    # Two degrees of freedom of prior at 3 %, in as many as are left and these two.
    sd = math.sqrt(2 * 0.03**2 / (freedom + 2))
    assert generator.scales == [(0, pytest.approx(sd, rel=1e-6), len(machines))] * 60
    assert (generator.choices, generator.freedoms) == ([(0, 60, 3)], [freedom + 2])
    # Between what was measured the form of the law adds nothing.
    assert np.log(draws / float(terms([2])[0] @ coefficients(measured, 10 + 100 / measured))).tolist() == pytest.approx([sd] * 3, rel=1e-3)


def test_residuals_add_to_the_scatter_by_their_squares():
    measured, generator = np.array([1.0, 1.0, 4.0, 4.0]), Generator()
    seconds = np.array([110.0 * 1.1, 110.0 / 1.1, 35.0 * 1.1, 35.0 / 1.1])
    scale_out_draws(measured, seconds, 4, 1, generator)
    residual = np.log(seconds / (terms(measured) @ coefficients(measured, seconds)))
    assert float((residual**2).sum()) == pytest.approx(4 * math.log(1.1) ** 2, rel=0.05)
    assert generator.scales[0][1] == pytest.approx(math.sqrt((float((residual**2).sum()) + 2 * 0.03**2) / 4), rel=1e-9)
