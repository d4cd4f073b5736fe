"""Calls on threads: order, repetition, pauses, and what may have taken effect; on a clock that runs when nothing else does."""

from __future__ import annotations

import itertools
import random
import threading

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from backends.sagemaker.aws.call_queue import Call, CallQueue
from backends.sagemaker.aws.errors import FailureKind
from backends.sagemaker.aws.rate_limiter import Rate, RateLimiter


def error(code, message="", status=400):
    return ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}, "X")


THROTTLED = error("ThrottlingException", "Rate exceeded")
SERVICE = error("InternalFailure", status=500)
EXPIRED = error("ExpiredTokenException", "expired")


class Bench:
    """A queue whose clock stands still, but for a jump to what is due next."""

    def __init__(self, threads=8, rates=None):
        self.at = 1000.0
        self.said, self.renewed, self.done, self.failed = [], [], [], []
        rng = random.Random(1)
        self.calls = CallQueue(
            lambda: self.at,
            RateLimiter(rng, {"X": Rate(100.0, 100, 100.0)} if rates is None else rates),
            rng,
            lambda text: self.said.append((self.at, text)),
            lambda: self.renewed.append(self.at),
            threads=threads,
            real_s=0.01,
        )

    def call(self, name, *results, operation="X", wanted=lambda: True):
        """Put a call that meets these results one after another; an exception is raised."""
        left, made = list(results), []

        def make():
            made.append(self.at)
            result = left.pop(0)
            if isinstance(result, Exception):
                raise result
            return result

        call = Call(
            operation,
            make,
            lambda answer: self.done.append((name, answer)),
            lambda trouble: self.failed.append((name, trouble.kind)),
            wanted,
        )
        call.made = made
        self.calls.put(call)
        return call

    def run(self, until_s=10_000.0):
        end = self.at + until_s
        while self.calls.busy and self.at < end:
            self.calls.step(self.at + 0.2 if self.calls.n_in_flight else self.at)
            due = self.calls.next_at()
            if not self.calls.n_in_flight and self.at < due < end:
                self.at = due
            elif not self.calls.n_in_flight and due >= end:
                break


@pytest.fixture
def bench():
    made = Bench()
    yield made
    made.calls.close()


def test_answers_come_once_in_the_thread_of_turn(bench):
    seen = []
    bench.calls.put(Call("X", threading.get_ident, lambda answer: seen.append((answer, threading.get_ident())), pytest.fail))
    bench.run()
    ((maker, taker),) = seen
    assert maker != taker == threading.get_ident()


def test_a_throttled_call_costs_nothing_but_time(bench):
    call = bench.call("a", THROTTLED, THROTTLED, THROTTLED, 7)
    bench.run()
    assert (bench.done, bench.failed, len(call.made)) == ([("a", 7)], [], 4)
    gaps = [after - before for before, after in itertools.pairwise(call.made)]
    for number, gap_s in enumerate(gaps):
        assert 0.5 * 2.0**number <= gap_s <= 2.0**number + 0.5


def test_throttling_is_said_once_a_minute_at_most(bench):
    bench.call("a", *[THROTTLED] * 12, 7)
    bench.run()
    assert all(text == "waiting for the API: X is throttled" for _, text in bench.said)
    times = [at for at, _ in bench.said]
    assert len(times) >= 2
    assert all(after - before >= 60.0 for before, after in itertools.pairwise(times))


def test_failure_of_the_service_is_waited_out_and_said_from_the_third_on(bench):
    call = bench.call("a", SERVICE, EndpointConnectionError(endpoint_url="http://x"), SERVICE, 7)
    bench.run()
    assert (bench.done, len(call.made)) == ([("a", 7)], 4)
    assert [text.split(":")[0] for _, text in bench.said] == ["the service does not answer X"]


def test_a_service_that_fails_is_asked_after_one_two_and_four_seconds_less_up_to_half(bench):
    call = bench.call("a", SERVICE, SERVICE, SERVICE, 7)
    bench.run()
    gaps = [after - before for before, after in itertools.pairwise(call.made)]
    for longest_s, gap_s in zip((1.0, 2.0, 4.0), gaps, strict=True):
        assert longest_s / 2 <= gap_s <= longest_s


def test_what_does_not_pass_is_handed_back_at_once(bench):
    call = bench.call("a", error("ResourceLimitExceeded", "'q' is 3 Instances"))
    bench.run()
    assert (bench.failed, bench.done, len(call.made)) == ([("a", FailureKind.QUOTA)], [], 1)


def test_a_fault_of_ours_is_raised(bench):
    bench.call("a", KeyError("ours"))
    with pytest.raises(KeyError, match="ours"):
        bench.run()


def test_expired_credentials_pause_all_operations_and_are_looked_up_anew(bench):
    first = bench.call("a", EXPIRED, EXPIRED, 7)
    bench.run(0.1)
    second = bench.call("b", 8, operation="Y")
    bench.run()
    assert sorted(bench.done) == [("a", 7), ("b", 8)]
    assert [round(at - first.made[0]) for at in first.made] == [0, 15, 30]
    assert second.made[0] - first.made[0] >= 15.0
    assert len(bench.renewed) == 2
    assert len([text for _, text in bench.said if "credentials are not accepted" in text]) == 1


def test_a_call_is_unsure_while_it_flies_and_after_an_answer_that_was_lost(bench):
    call = bench.call("a", SERVICE, THROTTLED, 7)
    assert not call.may_have_taken_effect
    bench.run(0.3)
    assert (len(call.made), call.may_have_taken_effect) == (1, True)
    bench.run()
    assert bench.done == [("a", 7)]


def test_what_an_earlier_try_may_have_done_is_not_forgotten_when_a_later_one_is_throttled(bench):
    call = bench.call("a", SERVICE, THROTTLED, *[THROTTLED] * 3, 7)
    while len(call.made) < 3:
        bench.run(1.0)
    assert call.may_have_taken_effect
    bench.run()


def test_a_throttled_call_had_no_effect(bench):
    call = bench.call("a", *[THROTTLED] * 8, 7)
    bench.run(0.2)
    assert (bool(call.made), call.may_have_taken_effect) == (True, False)
    bench.run()


def test_a_call_that_is_wanted_no_more_is_not_made(bench):
    call = bench.call("a", 7, wanted=lambda: False)
    bench.run()
    assert (call.made, bench.done) == ([], [])


def test_no_more_calls_fly_than_there_are_threads():
    bench, gate, most = Bench(threads=3), threading.Event(), []
    in_flight = set()
    lock = threading.Lock()

    def make(number):
        with lock:
            in_flight.add(number)
            most.append(len(in_flight))
        gate.wait(5.0)
        with lock:
            in_flight.discard(number)

    for number in range(9):
        bench.calls.put(Call("X", lambda number=number: make(number), lambda _: None, pytest.fail))
    bench.calls.step(bench.at)
    assert bench.calls.next_at() == float("inf")
    gate.set()
    bench.run()
    assert max(most) <= 3
    bench.calls.close()


def test_wake_ends_the_wait_and_is_told(bench):
    bench.calls.wake()
    assert bench.calls.step(bench.at + 10_000.0) is True
    assert bench.calls.step(bench.at) is False


def test_after_close_nothing_is_made(bench):
    call = bench.call("a", 7)
    bench.calls.close()
    bench.calls.step(bench.at)
    assert call.made == []


def test_calls_are_made_at_the_pace_of_their_operation_and_others_do_not_wait():
    bench = Bench(rates={"X": Rate(0.5, 1, 0.5), "Y": Rate(100.0, 100, 100.0)})
    slow = [bench.call(f"x{number}", number) for number in range(3)]
    fast = [bench.call(f"y{number}", number, operation="Y") for number in range(3)]
    bench.run()
    assert [call.made[0] - 1000.0 for call in slow] == pytest.approx([0.0, 2.0, 4.0], abs=0.01)
    assert [call.made[0] for call in fast] == [1000.0] * 3


def test_the_same_is_said_again_after_a_minute_and_no_sooner():
    bench = Bench(rates={"X": Rate(1e6, 100, 1e6)})
    bench.call("a", *[THROTTLED] * 12, "done")
    bench.run()
    times = [at for at, text in bench.said if "throttled" in text]
    assert times[0] == 1000.0
    assert all(60.0 <= later - earlier < 120.0 for earlier, later in itertools.pairwise(times))
    assert len(times) > 1
