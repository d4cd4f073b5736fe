"""Ceilings by quota errors, and the order of fallback types."""

from __future__ import annotations

import pytest

from backends.sagemaker.admin.checks import Quota
from backends.sagemaker.pools.capacity import CapacityBook, Ceilings, room_of

M5, C5, G5 = "ml.m5.large", "ml.c5.large", "ml.g5.xlarge"


def test_a_refusal_closes_above_what_was_in_flight_and_for_that_type_alone():
    ceilings = Ceilings()
    until = ceilings.refused(M5, 3, 1000.0, "quota Q is 3")
    assert until == 1030.0
    assert ceilings.closed_until(M5, 3, 1001.0) == (1030.0, "quota Q is 3")
    assert ceilings.closed_until(M5, 2, 1001.0) is None
    assert ceilings.closed_until(C5, 3, 1001.0) is None
    assert ceilings.closed_until(M5, 3, 1030.0) is None


def test_waits_double_up_to_ten_minutes():
    ceilings, now, waits = Ceilings(), 0.0, []
    for _ in range(7):
        until = ceilings.refused(M5, 2, now, "q")
        waits.append(until - now)
        now = until
    assert waits == [30.0, 60.0, 120.0, 240.0, 480.0, 600.0, 600.0]


def test_jobs_that_are_refused_together_are_one_sign():
    ceilings = Ceilings()
    assert [ceilings.refused(M5, in_flight, 1000.0, "q") for in_flight in (4, 3, 2)] == [1030.0] * 3
    assert ceilings.closed_until(M5, 2, 1000.0) == (1030.0, "q")


def test_after_the_wait_one_job_goes_alone_to_see():
    ceilings = Ceilings()
    ceilings.refused(M5, 2, 1000.0, "q")
    assert ceilings.closed_until(M5, 2, 1031.0) is None
    ceilings.trying(M5, 2, 1031.0)
    assert ceilings.closed_until(M5, 3, 1031.0) == (1061.0, "q")
    assert ceilings.closed_until(M5, 1, 1031.0) is None
    ceilings.accepted(M5, 3)
    assert ceilings.closed_until(M5, 3, 1032.0) is None


def test_more_than_the_ceiling_in_flight_lifts_it_and_no_fewer():
    ceilings = Ceilings()
    ceilings.refused(M5, 3, 0.0, "q")
    ceilings.accepted(M5, 3)
    assert ceilings.closed_until(M5, 3, 1.0) is not None
    ceilings.accepted(M5, 4)
    assert ceilings.closed_until(M5, 9, 1.0) is None


def test_the_wanted_type_then_fallbacks_in_order_then_what_lacked_longest_ago():
    book = CapacityBook([C5, G5])
    assert book.choose(M5, 0.0) == M5
    book.lacked(M5, 0.0)
    assert book.choose(M5, 1.0) == C5
    book.lacked(C5, 1.0)
    assert book.choose(M5, 2.0) == G5
    book.lacked(G5, 2.0)
    assert book.choose(M5, 3.0) == M5
    book.lacked(M5, 3.0)
    assert book.choose(M5, 4.0) == C5
    assert book.choose(M5, 1801.0) == C5
    assert book.choose(M5, 1803.0) == M5


def test_without_fallbacks_the_wanted_type_stays():
    book = CapacityBook([])
    book.lacked(M5, 0.0)
    assert book.choose(M5, 0.0) == M5


@pytest.mark.parametrize(("limit", "count", "jobs"), [(5, 1, 5), (5, 2, 2), (1, 2, 0), (0, 1, 0)])
def test_a_quota_of_instances_is_a_number_of_jobs(limit, count, jobs):
    assert room_of(Quota("q", limit), count, 99) == jobs


def test_an_unknown_quota_is_no_limit():
    assert room_of(None, 1, 99) == 99
