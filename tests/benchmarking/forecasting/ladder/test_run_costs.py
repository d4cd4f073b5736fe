"""What the next run of a race costs: by the data, and of beginnings by what was measured of them."""

import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.ladder.race_status import RaceSettings
from benchmarking.forecasting.ladder.run_costs import expected_usd, is_quiet, spent_usd, usd_per_second
from benchmarking.forecasting.model.billing import Billing
from tests.benchmarking.forecasting.prefix_runs import prefix

SETTINGS = RaceSettings(billing=Billing("us-east-1", prices={"x": 3.6}, startup_s=10.0))


def test_a_small_job_costs_its_start_up_and_its_share_of_the_data():
    group = [Canary("a", 0.01, startup_s=5.0, total_s=7.0, instance_type="x", instance_count=2)]
    assert usd_per_second(group[0], SETTINGS) == pytest.approx(0.002)
    assert expected_usd(group, 0.03, SETTINGS) == pytest.approx((10 + 5 + 6) * 0.002)
    assert spent_usd({"a": group}, SETTINGS) == pytest.approx((10 + 7) * 0.002)


def test_a_further_prefix_runs_twice_as_long_and_a_small_job_by_what_the_prefix_told():
    group = [prefix([0.1] * 60, 1000.0, instance_type="x")]
    assert expected_usd(group, 1.0, SETTINGS) == pytest.approx((10 + 2 * 8) * 0.001)
    # 2 s until the loop, and a hundredth of its 100 s.
    assert expected_usd(group, 0.01, SETTINGS) == pytest.approx((10 + 2 + 1) * 0.001, rel=0.01)


def test_what_other_programs_take_is_no_price_of_knowing_more():
    # Two thirds of the time others had the processor.
    busy = [prefix([0.3] * 60, 1000.0, startup_s=6.0, instance_type="x", delays=lambda done: (6.0 + 0.3 * done) * 2 / 3)]
    assert is_quiet(busy)
    assert not is_quiet([prefix([0.1] * 60, 1000.0)])
    assert expected_usd(busy, 1.0, SETTINGS) == pytest.approx((10 + 2 * 24) * 0.001)
    assert expected_usd(busy, 1.0, SETTINGS, quiet=True) == pytest.approx((10 + 2 * 8) * 0.001)
    assert expected_usd(busy, 0.01, SETTINGS, quiet=True) == pytest.approx((10 + 2 + 1) * 0.001, rel=0.02)
