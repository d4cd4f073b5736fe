"""What is spent, and what is reserved: with roundings, without prices, and each thing once. Kept instances: also test_warm_usage.py."""

from __future__ import annotations

import pytest

from backends.events import Retained
from benchmarking.controller.money import Money
from benchmarking.controller.rows import JobState
from benchmarking.controller.warm_usage import KeptPool


def job(worst_usd):
    return JobState("j", 0, 1, 0.0, None, worst_usd)


def kept(billable_s=None):
    return Retained("j", 7.0, "ml.a", 2, billable_s=billable_s)


def test_what_is_begun_is_reserved_until_it_is_over():
    money = Money()
    money.reserve(0.1)
    money.reserve(0.2)
    money.reserve(None)
    money.release(0.1, is_last=False)
    assert money.reserved_usd == pytest.approx(0.2)
    assert money.reserved_usd != 0.2  # a sum in binary fractions
    money.release(0.2, is_last=True)
    assert money.reserved_usd == 0.0
    money.pay(0.25)
    money.pay(None)
    assert money.spent_usd == 0.25


def test_the_last_job_leaves_what_kept_instances_may_cost():
    money = Money()
    one = job(3.0)
    money.reserve(3.0)
    assert money.keep(kept(), one, 2.0)
    assert (money.reserved_usd, one.worst_usd) == (3.0, 1.0)  # moved, not added
    assert money.pools == {"j": KeptPool("ml.a", 2, 7.0, 2.0)}
    money.release(one.worst_usd, is_last=True)
    assert money.reserved_usd == 2.0
    assert money.let_go(kept(billable_s=20.0), 0.5, is_last=True)
    assert (money.reserved_usd, money.spent_usd, money.retained_usd, money.retained_s) == (0.0, 0.5, 0.5, 20.0)


@pytest.mark.parametrize(("worst_usd", "job_usd", "reserved_usd"), [(5.0, 3.0, 5.0), (None, 3.0, 3.0), (5.0, None, 5.0)])
def test_of_a_jobs_worst_case_as_much_is_moved_as_it_has(worst_usd, job_usd, reserved_usd):
    money = Money()
    money.reserve(job_usd)
    money.keep(kept(), job(job_usd), worst_usd)
    assert money.reserved_usd == reserved_usd


def test_instances_are_counted_once():
    money = Money()
    assert money.keep(kept(), None, 2.0)
    assert not money.keep(kept(), None, 2.0)
    assert money.reserved_usd == 2.0
    assert money.let_go(kept(billable_s=1.0), 0.5, is_last=False)
    assert not money.let_go(kept(billable_s=1.0), 0.5, is_last=False)
    booked = job(1.0)
    booked.pool_booked = True
    assert not money.keep(kept(), booked, 2.0)
    assert (money.spent_usd, money.retained_s, money.pools, booked.worst_usd) == (0.5, 1.0, {}, 1.0)


def test_once_a_price_was_not_known_nobody_knows_what_kept_instances_cost():
    money = Money()
    for cost_usd in (None, 0.5):
        money.keep(kept(), None, None)
        money.let_go(kept(billable_s=4.0), cost_usd, is_last=True)
    assert (money.retained_usd, money.retained_s, money.spent_usd) == (None, 8.0, 0.5)


def test_a_running_jobs_own_forecast_takes_the_place_of_its_worst_case():
    money = Money()
    one, other = job(3.0), job(None)
    money.reserve(3.0)
    money.bound(one, 1.0)
    money.bound(other, 0.5)
    assert (money.reserved_usd, one.worst_usd, other.worst_usd) == (1.5, 1.0, 0.5)


def test_an_engines_bill_takes_the_place_of_its_worst_case():
    money = Money()
    money.engine("e1", 2.0)
    money.engine("e2", 1.0)
    assert money.spent_usd == 3.0
    money.engine("e1", 0.5)
    money.engine("e2", None)
    assert money.spent_usd == 0.5
