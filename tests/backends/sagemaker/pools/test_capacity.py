"""Limits that quota errors teach, and the order of fallback types."""

from __future__ import annotations

import pytest

from backends.sagemaker.aws.lookups import Quota
from backends.sagemaker.pools.capacity import CapacityHistory, ConcurrencyLimits, jobs_within_quota

M5, C5, G5 = "ml.m5.large", "ml.c5.large", "ml.g5.xlarge"


def test_a_refusal_closes_above_what_was_in_flight_and_for_that_type_alone():
    limits = ConcurrencyLimits()
    until = limits.record_refusal(M5, 3, 1000.0, "quota Q is 3")
    assert until == 1030.0
    assert limits.blocked_until(M5, 3, 1001.0) == (1030.0, "quota Q is 3")
    assert limits.blocked_until(M5, 2, 1001.0) is None
    assert limits.blocked_until(C5, 3, 1001.0) is None
    assert limits.blocked_until(M5, 3, 1030.0) is None


def test_waits_double_up_to_ten_minutes():
    limits, now, waits = ConcurrencyLimits(), 0.0, []
    for _ in range(7):
        until = limits.record_refusal(M5, 2, now, "q")
        waits.append(until - now)
        now = until
    assert waits == [30.0, 60.0, 120.0, 240.0, 480.0, 600.0, 600.0]


def test_jobs_that_are_refused_together_are_one_sign():
    limits = ConcurrencyLimits()
    assert [limits.record_refusal(M5, in_flight, 1000.0, "q") for in_flight in (4, 3, 2)] == [1030.0] * 3
    assert limits.blocked_until(M5, 2, 1000.0) == (1030.0, "q")


def test_after_the_wait_one_job_goes_alone_to_see():
    limits = ConcurrencyLimits()
    limits.record_refusal(M5, 2, 1000.0, "q")
    assert limits.blocked_until(M5, 2, 1031.0) is None
    limits.record_attempt(M5, 2, 1031.0)
    assert limits.blocked_until(M5, 3, 1031.0) == (1061.0, "q")
    assert limits.blocked_until(M5, 1, 1031.0) is None
    limits.record_acceptance(M5, 3)
    assert limits.blocked_until(M5, 3, 1032.0) is None


def test_a_try_is_one_from_the_very_end_of_the_wait_on_and_only_at_the_limit():
    limits = ConcurrencyLimits()
    limits.record_refusal(M5, 2, 1000.0, "q")
    limits.record_attempt(M5, 2, 1029.9)
    limits.record_attempt(M5, 1, 1030.0)
    assert limits.blocked_until(M5, 3, 1030.0) is None
    limits.record_attempt(M5, 2, 1030.0)
    assert limits.blocked_until(M5, 3, 1030.0) == (1060.0, "q")
    assert limits.blocked_until(M5, 3, 1060.0) is None


def test_a_type_that_was_never_refused_is_tried_and_accepted_without_a_trace():
    limits = ConcurrencyLimits()
    limits.record_attempt(M5, 5, 0.0)
    limits.record_acceptance(M5, 5)
    assert limits.blocked_until(M5, 5, 0.0) is None


def test_more_than_the_limit_in_flight_lifts_it_and_no_fewer():
    limits = ConcurrencyLimits()
    limits.record_refusal(M5, 3, 0.0, "q")
    limits.record_acceptance(M5, 3)
    assert limits.blocked_until(M5, 3, 1.0) is not None
    limits.record_acceptance(M5, 4)
    assert limits.blocked_until(M5, 9, 1.0) is None


def test_the_wanted_type_then_fallbacks_in_order_then_what_lacked_longest_ago():
    history = CapacityHistory([C5, G5])
    assert history.choose(M5, 0.0) == M5
    history.record_shortage(M5, 0.0)
    assert history.choose(M5, 1.0) == C5
    history.record_shortage(C5, 1.0)
    assert history.choose(M5, 2.0) == G5
    history.record_shortage(G5, 2.0)
    assert history.choose(M5, 3.0) == M5
    history.record_shortage(M5, 3.0)
    assert history.choose(M5, 4.0) == C5
    assert history.choose(M5, 1801.0) == C5
    assert history.choose(M5, 1803.0) == M5


def test_half_an_hour_after_a_shortage_a_type_is_asked_for_again():
    history = CapacityHistory([C5])
    history.record_shortage(M5, 100.0)
    assert history.choose(M5, 1899.9) == C5
    assert history.choose(M5, 1900.0) == M5
    history.record_shortage(C5, 200.0)
    history.record_shortage(M5, 300.0)
    assert history.choose(M5, 2000.0) == C5


def test_half_an_hour_after_a_shortage_a_type_is_fallen_back_to_again():
    history = CapacityHistory([C5, G5])
    history.record_shortage(C5, 100.0)
    history.record_shortage(M5, 1000.0)
    assert history.choose(M5, 1899.9) == G5
    assert history.choose(M5, 1900.0) == C5


def test_a_type_that_is_excluded_is_not_fallen_back_to_and_all_others_are():
    history = CapacityHistory([C5, G5])
    history.exclude(C5)
    history.record_shortage(M5, 0.0)
    assert history.choose(M5, 1.0) == G5
    history.exclude(G5)
    assert history.choose(M5, 2.0) == M5


def test_fallbacks_without_quota_are_passed_over_and_nobody_asks_for_quotas_without_need():
    history, looked_up = CapacityHistory([C5, M5, G5]), []

    def usable(name):
        looked_up.append(name)
        return name != C5

    assert history.choose(M5, 0.0, usable) == M5
    assert looked_up == []
    history.record_shortage(M5, 0.0)
    assert history.choose(M5, 1.0, usable) == G5
    assert looked_up == [C5, G5]


def test_without_fallbacks_the_wanted_type_stays():
    history = CapacityHistory([])
    history.record_shortage(M5, 0.0)
    assert history.choose(M5, 0.0) == M5


@pytest.mark.parametrize(("limit", "count", "jobs"), [(5, 1, 5), (5, 2, 2), (1, 2, 0), (0, 1, 0)])
def test_a_quota_of_instances_is_a_number_of_jobs(limit, count, jobs):
    assert jobs_within_quota(Quota("q", limit), count, 99) == jobs


def test_an_unknown_quota_is_no_limit():
    assert jobs_within_quota(None, 1, 99) == 99
