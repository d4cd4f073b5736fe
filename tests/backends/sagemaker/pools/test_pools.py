"""Warm pools on paper: which are idle, to whom one is due, how long one is worth its price, what is told of its end."""

from __future__ import annotations

import datetime
import math

from backends.events import Retained
from backends.sagemaker.pools.pools import MatchKey, PoolTracker

A, B, A2 = MatchKey("ml.a", 1), MatchKey("ml.b", 1), MatchKey("ml.a", 2)
EPOCH = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def described(job, starting_s=None, status="Available", **more):
    found = {"TrainingJobName": job, "WarmPoolStatus": {"Status": status, **more} if status else {}}
    if starting_s is not None:
        until = EPOCH + datetime.timedelta(seconds=starting_s)
        found["SecondaryStatusTransitions"] = [{"Status": "Starting", "StartTime": EPOCH, "EndTime": until}]
    return found


def pools(*jobs, key=A, at=100.0, starting_s=8.0):
    found = PoolTracker(600.0)
    for number, job in enumerate(jobs):
        list(found.ended(described(job, starting_s), key, at + number))
    return found


def test_what_is_kept_is_told_when_the_job_has_ended_and_once():
    found = PoolTracker(600.0)
    assert list(found.ended(described("a"), A, 100.0)) == [Retained("a", 100.0, "ml.a", 1, worst_s=600.0)]
    assert list(found.ended(described("a"), A, 101.0)) == []
    assert (found.idle(A), found.idle(B), found.idle(A2)) == (1, 0, 0)


def test_a_job_that_leaves_no_pool_is_not_told_of():
    found = PoolTracker(600.0)
    assert list(found.ended(described("a", status=""), A, 1.0)) == []
    assert list(found.ended(described("b", status="Terminated"), A, 1.0)) == []
    assert list(found.ended(described("c", status="Terminated", ResourceRetainedBillableTimeInSeconds=0), A, 1.0)) == []
    assert found.next_at(1.0) == math.inf


def test_a_pool_that_was_reused_before_its_job_was_looked_at_is_told_of_with_its_end():
    found = PoolTracker(600.0)
    status = {"ResourceRetainedBillableTimeInSeconds": 3, "ReusedByJob": "b"}
    kept, gone = found.ended(described("a", status="Reused", **status), A, 100.0)
    assert (kept.billable_s, gone.billable_s, gone.reused_by) == (None, 3.0, "b")
    assert found.was_warm("b")


def test_each_submitted_job_takes_one_pool_off_the_idle_ones_the_longest_waiting_first():
    found = pools("a", "b")
    found.submitted("c", A)
    found.submitted("d", B)
    assert found.idle(A) == 1
    assert {pool.job: pool.reserved_for for pool in found.open} == {"a": "c", "b": ""}
    found.submitted("e", A)
    found.submitted("f", A)
    assert (found.idle(A), [pool.reserved_for for pool in found.open]) == (0, ["c", "e"])


def test_where_jobs_get_each_others_pools_none_is_counted_twice():
    found = pools("a", "b", "x")
    found.submitted("c", A)
    found.submitted("d", A)
    list(found.status_seen("b", {"Status": "Reused", "ReusedByJob": "c"}, 110.0))
    assert {pool.job: pool.reserved_for for pool in found.open} == {"a": "d", "x": ""}
    list(found.status_seen("x", {"Status": "Reused", "ReusedByJob": "d"}, 110.0))
    assert (found.idle(A), [pool.reserved_for for pool in found.open]) == (1, [""])


def test_a_pool_is_idle_again_once_its_job_is_known_to_have_begun_elsewhere():
    found = pools("a")
    found.submitted("c", A)
    list(found.status_seen("a", {"Status": "Available"}, 110.0, lambda job: False))
    assert found.idle(A) == 0
    list(found.status_seen("a", {"Status": "Available"}, 111.0, lambda job: job == "c"))
    assert found.idle(A) == 1


def test_a_pool_whose_job_is_over_is_looked_at_once_and_for_all():
    found = pools("a")
    found.submitted("c", A)
    found.doubt_unused(lambda job: False, 110.0)
    assert found.to_look_at(110.0) == []
    found.doubt_unused(lambda job: True, 110.0)
    assert [pool.job for pool in found.to_look_at(110.0)] == ["a"]
    found.doubt_unused(lambda job: True, 110.5)
    assert found.to_look_at(110.5) == []
    list(found.status_seen("a", {"Status": "Available"}, 111.0))
    assert found.idle(A) == 1
    assert found.to_look_at(150.0) == []


def test_a_pool_is_held_as_long_as_a_cold_start_takes():
    found = PoolTracker(600.0)
    for job, starting_s in (("a", 8.0), ("b", 100.0), ("c", 10.0)):
        list(found.ended(described(job, starting_s), A, 100.0))
    assert found.next_at(100.0) == 110.0
    assert found.to_release(109.9, wanted=True) == []
    assert len(found.to_release(110.0, wanted=True)) == 3
    found.submitted("d", A)
    assert len(found.to_release(110.0, wanted=True)) == 2


def test_nothing_is_given_up_before_a_cold_start_was_seen():
    found = pools("a", starting_s=None)
    assert found.to_release(699.0, wanted=True) == []
    assert found.next_at(699.0) == 705.0
    assert len(found.to_release(100.0, wanted=False)) == 1


def test_a_warm_start_that_is_not_known_as_such_yet_does_not_count_as_a_cold_one():
    found = pools("a", starting_s=200.0)
    found.submitted("b", A)
    list(found.ended(described("b", 1.0), A, 120.0))
    # Were b's second a cold start, the median would be about 100 s.
    assert found.to_release(315.0, wanted=True) == []
    list(found.status_seen("a", {"Status": "Reused", "ReusedByJob": "b"}, 120.0))
    assert found.to_release(319.0, wanted=True) == []
    assert [pool.job for pool in found.to_release(320.0, wanted=True)] == ["b"]


def test_instant_cold_starts_do_not_give_pools_up_at_once():
    assert pools("a", starting_s=0.0).to_release(100.9, wanted=True) == []


def test_the_end_of_a_pool_is_told_once_with_what_the_service_bills():
    found = pools("a", "b", "c")
    (end,) = found.status_seen("a", {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": 42}, 150.0)
    assert (end.billable_s, end.reused_by) == (42.0, "")
    assert list(found.status_seen("a", {"Status": "Terminated"}, 151.0)) == []
    (end,) = found.status_seen("b", {"Status": "Reused", "ReusedByJob": "foreign"}, 150.0)
    assert (end.billable_s, end.reused_by) == (49.0, "foreign")
    (end,) = found.job_vanished("c", 2000.0)
    assert end.billable_s == 600.0


def test_a_pool_that_was_known_goes_on_from_when_it_began_to_wait():
    found = PoolTracker(600.0)
    found.adopt("a", A, 50.0)
    assert list(found.ended(described("a"), A, 100.0)) == []
    (end,) = found.job_vanished("a", 100.0)
    assert end.billable_s == 50.0


def test_pools_of_the_same_type_that_a_job_cannot_have_are_in_its_way():
    found = pools("a", key=A2)
    list(found.ended(described("b"), B, 100.0))
    list(found.ended(described("c"), A, 100.0))
    list(found.ended(described("d"), A2, 101.0))
    found.submitted("e", A2)
    assert [pool.job for pool in found.in_the_way(A)] == ["d"]


def test_pools_that_a_starting_job_may_have_got_are_looked_at_every_five_seconds_at_most():
    found = pools("a", "b")
    assert [pool.job for pool in found.to_look_at(110.0, A, "c")] == ["a", "b"]
    assert found.to_look_at(114.9, A, "c") == []
    assert [pool.job for pool in found.to_look_at(115.0, A, "c")] == ["a", "b"]
    assert found.to_look_at(130.0, B, "d") == []
    found.submitted("e", A)
    assert [pool.job for pool in found.to_look_at(130.0, A, "e")] == ["a"]


def test_a_pool_that_is_free_again_waits_for_its_time_to_be_over_and_can_be_doubted_anew():
    found = pools("a")
    found.submitted("c", A)
    found.doubt_unused(lambda job: True, 110.0)
    list(found.status_seen("a", {"Status": "Available"}, 111.0))
    assert [(pool.next_look_at, pool.is_doubtful) for pool in found.open] == [(705.0, False)]
    found.submitted("d", A)
    found.doubt_unused(lambda job: True, 120.0)
    assert [pool.job for pool in found.to_look_at(120.0)] == ["a"]


def test_a_release_that_was_asked_for_is_looked_after_at_once_and_not_asked_for_again():
    found = pools("a", "b")
    found.release_was_requested("a", 103.0)
    found.release_was_requested("gone", 103.0)
    assert [pool.job for pool in found.to_look_at(103.0)] == ["a"]
    assert [pool.job for pool in found.to_release(103.0, wanted=False)] == ["b"]
    assert found.idle(A) == 1
