import pytest

from benchmarking.controller.budget import Limit, affordable, cost_usd, may_add, most_trials, reached
from definitions.schema import Budget


def test_three_failures_are_tolerated_and_the_fourth_is_not():
    budget = Budget(max_failures=3)
    assert [reached(budget, failures=n, elapsed_s=0.0) for n in (0, 3, 4, 5)] == [None, None, Limit.FAILURES, Limit.FAILURES]


def test_no_failure_is_tolerated_where_none_is_allowed():
    assert reached(Budget(max_failures=0), failures=1, elapsed_s=0.0) is Limit.FAILURES


def test_time_is_over_at_the_limit_itself():
    budget = Budget(max_wallclock_time=60.0)
    assert reached(budget, failures=0, elapsed_s=59.999) is None
    assert reached(budget, failures=0, elapsed_s=60.0) is Limit.TIME
    # 0.1 + 0.2 style rounding of clock differences must not cost another turn of the loop
    assert reached(budget, failures=0, elapsed_s=59.9999999) is Limit.TIME
    assert reached(budget, failures=0, elapsed_s=60.0 - 1e-6) is Limit.TIME
    assert reached(Budget(), failures=0, elapsed_s=1e12) is None


def test_failures_are_named_before_time():
    assert reached(Budget(max_failures=0, max_wallclock_time=1.0), failures=1, elapsed_s=2.0) is Limit.FAILURES


def test_number_of_trials():
    assert [may_add(Budget(max_num_trials=2), n) for n in (0, 1, 2, 3)] == [None, None, Limit.TRIALS, Limit.TRIALS]
    assert may_add(Budget(), 10**9) is None


def test_trials_that_were_killed_by_hand_do_not_count_up_to_as_many_as_were_asked_for():
    assert [most_trials(Budget(max_num_trials=3), killed) for killed in (0, 1, 3, 9)] == [3, 4, 6, 6]
    assert most_trials(Budget(), 5) is None
    assert [may_add(Budget(max_num_trials=2), 2, killed) for killed in (0, 1)] == [Limit.TRIALS, None]


def test_four_jobs_of_30_cents_never_share_a_dollar():
    budget = Budget(max_cost=1.00)
    in_flight, reserved = 0, 0.0
    while affordable(budget, spent_usd=0.0, reserved_usd=reserved, worst_usd=0.30):
        in_flight, reserved = in_flight + 1, reserved + 0.30
    assert in_flight == 3
    # what closed for less than its worst case makes room again: 3 x 0.20 spent leave 0.40
    assert affordable(budget, spent_usd=0.60, reserved_usd=0.0, worst_usd=0.30)
    assert not affordable(budget, spent_usd=0.60, reserved_usd=0.30, worst_usd=0.30)


def test_a_cap_is_used_up_to_the_last_cent_despite_rounding():
    reserved = sum([0.1] * 9)  # 0.8999999999999999
    assert affordable(Budget(max_cost=1.0), spent_usd=0.0, reserved_usd=reserved + 1e-12, worst_usd=0.1)
    assert not affordable(Budget(max_cost=1.0), spent_usd=0.0, reserved_usd=0.9, worst_usd=0.1001)


def test_an_unknown_price_fits_only_where_there_is_no_cap():
    assert not affordable(Budget(max_cost=1e9), spent_usd=0.0, reserved_usd=0.0, worst_usd=None)
    assert affordable(Budget(), spent_usd=0.0, reserved_usd=0.0, worst_usd=None)


def test_cost_is_hours_by_price_by_instances():
    assert cost_usd(1800.0, 1.006, 2) == pytest.approx(1.006, rel=1e-15)
    assert cost_usd(90.0, 0.736, 1) == pytest.approx(0.0184, rel=1e-12)
    assert cost_usd(0.0, 5.0, 3) == 0.0
    assert cost_usd(10.0, None, 1) is None
