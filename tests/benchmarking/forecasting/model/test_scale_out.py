"""Ernest's terms: what they find, and canaries of one number of instances as those of another."""

import math

import numpy as np
import pytest

from benchmarking.forecasting import Canary, CanaryTable
from benchmarking.forecasting.model.instances import on_instances
from benchmarking.forecasting.model.scale_out import coefficients, scale_out_draws, terms
from definitions.errors import UserError

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


def test_canaries_are_scaled_outside_their_start_up():
    runs = [Canary("job", 0.1, instance_count=m, startup_s=5.0, train_s=100 / m, total_s=5.0 + 100 / m) for m in (1, 2)]
    table = on_instances(CanaryTable(tuple(runs)), 4)
    (scaled,) = table.canaries
    assert (scaled.instance_count, scaled.startup_s) == (4, 5.0)
    assert scaled.train_s == pytest.approx(25, rel=0.01)
    assert scaled.total_s == pytest.approx(30, rel=0.01)
    assert "from 1, 2 to 4 instances" in table.notes["job"][0]


def test_a_number_that_was_measured_keeps_its_own_runs_and_one_number_alone_is_refused():
    runs = [Canary("job", 0.1, instance_count=m, total_s=100.0 + m) for m in (1, 2)]
    assert on_instances(CanaryTable(tuple(runs)), 2).canaries == (runs[1],)
    with pytest.raises(UserError, match="measured on 1 only"):
        on_instances(CanaryTable((runs[0],)), 2)
