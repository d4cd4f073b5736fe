"""Paces: burst, rate, back-off, recovery; all numbers of one clock."""

from __future__ import annotations

import random

import pytest

from backends.sagemaker.aws.rate_limiter import RATES, Rate, RateLimiter


def limiter(per_s=2.0, burst=4, most_per_s=8.0, seed=0):
    return RateLimiter(random.Random(seed), {"X": Rate(per_s, burst, most_per_s)})


def passed(pace, start, end, operation="X", step_s=0.01):
    """Return the times at which calls pass that are made as soon as they may."""
    found, now = [], start
    while now <= end:
        if pace.ready_at(operation, now) <= now:
            pace.take(operation, now)
            found.append(now)
        else:
            now += step_s
    return found


def test_a_burst_and_then_the_rate():
    times = passed(limiter(), 0.0, 5.0)
    assert times[:4] == [0.0] * 4
    assert len(times) == 4 + 10
    assert times[4] == pytest.approx(0.5, abs=0.02)


def test_listing_is_at_most_once_a_second_whatever_succeeds():
    pace, now = RateLimiter(random.Random(0)), 0.0
    for _ in range(60):
        now = pace.ready_at("ListTrainingJobs", now)
        pace.take("ListTrainingJobs", now)
        pace.succeeded("ListTrainingJobs", now)
    assert now == pytest.approx(59.0, abs=1e-6)


def test_no_pace_ever_passes_the_lists_quota():
    assert RATES["ListTrainingJobs"].most_per_s <= 1.0


def within(pace, operation, start, seconds):
    """Return how many calls of an operation pass within some seconds, none of them heard of."""
    count, at = 0, pace.ready_at(operation, start)
    while at <= start + seconds:
        pace.take(operation, at)
        count, at = count + 1, pace.ready_at(operation, at)
    return count


@pytest.mark.parametrize(
    ("operation", "at_first", "at_most"),
    [
        ("CreateTrainingJob", 5 + 50, 250),
        ("StopTrainingJob", 10 + 50, 250),
        ("UpdateTrainingJob", 5 + 50, 100),
        ("DescribeTrainingJob", 10 + 100, 500),
        ("ListTrainingJobs", 1 + 10, 10),
        ("FilterLogEvents", 5 + 50, 250),
        ("GetLogEvents", 5 + 50, 100),
        ("DescribeLogStreams", 5 + 50, 100),
        ("SomeOther", 5 + 50, 250),
    ],
)
def test_how_many_calls_pass_in_the_first_ten_seconds_and_in_ten_once_all_went_well(operation, at_first, at_most):
    assert within(RateLimiter(random.Random(0)), operation, 0.0, 10.0) == at_first
    pace, now = RateLimiter(random.Random(0)), 0.0
    for _ in range(3000):
        now = pace.ready_at(operation, now)
        pace.take(operation, now)
        pace.succeeded(operation, now)
    assert within(pace, operation, now, 10.0) == pytest.approx(at_most, abs=1)


def test_throttled_halves_the_rate_and_closes_for_a_second_at_most_at_first():
    pace = limiter()
    pace.take("X", 0.0)
    pace.throttled("X", 0.0)
    assert 0.5 <= pace.ready_at("X", 0.0) <= 1.0
    opened = pace.ready_at("X", 0.0)
    assert len(passed(pace, opened, opened + 4.0)) == pytest.approx(5, abs=1)


def test_calls_that_were_on_their_way_together_are_one_sign():
    once, often = limiter(), limiter()
    once.throttled("X", 0.0)
    for _ in range(8):
        often.throttled("X", 0.0)
    assert once.ready_at("X", 0.0) == often.ready_at("X", 0.0)


def test_backoff_doubles_up_to_thirty_seconds_with_jitter_in_the_upper_half():
    pace, now, waits = limiter(), 0.0, []
    for _ in range(9):
        pace.throttled("X", now)
        opened = pace.ready_at("X", now)
        waits.append(opened - now)
        now = opened
    for number, wait_s in enumerate(waits[:5]):
        assert 0.5 * 2.0**number <= wait_s <= 2.0**number
    assert all(15.0 <= wait_s <= 30.0 for wait_s in waits[6:])


def test_jitter_differs_between_controllers_and_not_between_runs():
    def first(seed):
        pace = limiter(seed=seed)
        pace.throttled("X", 0.0)
        return pace.ready_at("X", 0.0)

    assert first(1) == first(1) != first(2)


def test_the_rate_recovers_by_one_call_a_second_each_second_and_no_further_than_allowed():
    pace, now = limiter(per_s=2.0, burst=1, most_per_s=4.0), 0.0
    for _ in range(200):
        now = pace.ready_at("X", now)
        pace.take("X", now)
        pace.succeeded("X", now)
    before = now
    for _ in range(40):
        now = pace.ready_at("X", now)
        pace.take("X", now)
    assert 40 / (now - before) == pytest.approx(4.0, rel=0.02)


def test_a_call_that_passes_lets_the_rate_rise_by_its_share_of_a_second():
    pace = limiter(per_s=2.0, burst=1, most_per_s=8.0)
    pace.take("X", 0.0)
    pace.succeeded("X", 0.0)
    assert pace.ready_at("X", 0.0) == pytest.approx(1 / 2.5)
    pace.succeeded("X", 0.0)
    assert pace.ready_at("X", 0.0) == pytest.approx(1 / 2.9)


def test_one_operation_does_not_slow_another():
    pace = RateLimiter(random.Random(0), {"X": Rate(1.0, 1, 1.0), "Y": Rate(1.0, 1, 1.0)})
    pace.throttled("X", 0.0)
    assert pace.ready_at("Y", 0.0) == 0.0


def test_a_rate_never_falls_to_nothing():
    pace, now = limiter(), 0.0
    for _ in range(50):
        pace.throttled("X", now)
        now = pace.ready_at("X", now)
    pace.take("X", now)
    assert pace.ready_at("X", now) - now <= 10.0 + 1e-6
