"""Time as money: prices, billing units, start-up that is billed."""

import numpy as np
import pytest

from benchmarking.forecasting.model.billing import Billing, billable_draws, cost_draws


def test_own_prices_come_first_and_what_is_not_known_is_not_nothing():
    billing = Billing("us-east-1", prices={"ml.m5.large": 9.0})
    assert billing.usd_per_hour("ml.m5.large") == 9.0
    assert billing.usd_per_hour("ml.m5.xlarge") == pytest.approx(0.23)
    assert billing.usd_per_hour("ml.zz9.xlarge") is None
    assert billing.usd_per_hour("") is None
    assert Billing("us-east-1", spot=True).usd_per_hour("ml.m5.xlarge") is None
    assert Billing("eu-central-1").usd_per_hour("ml.m5.xlarge") is None  # no price of another region in its place


def test_bills_differ_from_time_by_start_up_or_long_units():
    assert not Billing("us-east-1").says_more
    assert not Billing("us-east-1", unit_s=1.0).says_more
    assert Billing("us-east-1", unit_s=1.5).says_more
    assert Billing("us-east-1", startup_s=0.5).says_more


def bill(seconds, instance_type="ml.m5.large", startup_s=0.0, **rule):
    return billable_draws(np.array([seconds]), Billing("us-east-1", **rule), instance_type, startup_s).tolist()[0]


def test_every_unit_that_is_begun_is_billed():
    assert (bill(60.0), bill(60.2), bill(60.2, unit_s=60.0), bill(120.0, unit_s=60.0)) == (60.0, 61.0, 120.0, 120.0)


def test_start_up_is_billed_as_the_rule_says_else_as_it_was_measured():
    assert bill(60.0, startup_s=30.5) == 91.0
    assert bill(60.0, startup_s=30.5, **{"unit_s": 60.0}) == 120.0
    assert billable_draws(np.array([60.0]), Billing("us-east-1", startup_s=10.0), "ml.m5.large", 30.0).tolist() == [70.0]


def test_a_share_of_this_machine_is_billed_for_its_own_time_alone():
    assert bill(60.25, "local.1cpu", startup_s=30.0, unit_s=60.0) == 60.25


def test_dollars_are_hours_times_price_times_instances():
    assert cost_draws(np.array([1800.0, 7200.0]), 0.5, 3).tolist() == [0.75, 3.0]
