import math

import pytest

from backends.failures import Cause, Outcome
from benchmarking.controller.retry_policy import (
    RETRY_RULES,
    Failure,
    Settlement,
    TrialStatus,
    as_number,
    common_cause,
    objective_problem,
    settle,
)

FINAL_AT_ONCE = {
    Cause.SCRIPT_ERROR: ("failed", True),
    Cause.NO_METRICS: ("failed", True),
    Cause.TIME_OUT: ("failed", True),
    Cause.BAD_REQUEST: ("failed", True),
    Cause.OUT_OF_MEMORY: ("infeasible", False),
    Cause.DIVERGED: ("diverged", False),
    Cause.PREFIX: ("completed", False),
    Cause.SCHEDULER: ("stopped", False),
    Cause.PAUSED: ("paused", False),
    Cause.OUTSIDE: ("stopped", False),
    Cause.BUDGET: ("interrupted", False),
    Cause.ALIKE: ("interrupted", False),
    Cause.DISK_FULL: ("interrupted", False),
    Cause.INTERRUPTED: ("interrupted", False),
    Cause.ALONE: ("interrupted", False),
}
RETRIED_WITHOUT_END = {Cause.THROTTLED: 1.0, Cause.QUOTA: 10.0, Cause.CREDENTIALS: 15.0}
RETRIED_UNDER_A_CAP = {
    Cause.CAPACITY: (5, 30.0), Cause.SPOT: (10, 5.0), Cause.SERVICE_ERROR: (3, 10.0), Cause.LOST: (1, 0.0), Cause.CONTROLLER: (10, 0.0),
}  # fmt: skip


def outcome_of(cause):
    return (
        Outcome.STOPPED
        if cause in (Cause.SCHEDULER, Cause.PREFIX, Cause.PAUSED, Cause.OUTSIDE, Cause.BUDGET, Cause.ALIKE, Cause.INTERRUPTED, Cause.ALONE)
        else Outcome.FAILED
    )


def test_every_cause_has_a_rule_and_is_tested_here():
    assert set(RETRY_RULES) == set(Cause) == {*FINAL_AT_ONCE, *RETRIED_WITHOUT_END, *RETRIED_UNDER_A_CAP}


@pytest.mark.parametrize("cause", FINAL_AT_ONCE)
def test_causes_that_are_final_at_once(cause):
    status, counts = FINAL_AT_ONCE[cause]
    assert settle(outcome_of(cause), cause, 0) == Settlement(TrialStatus(status), counts, None)


@pytest.mark.parametrize("cause", RETRIED_WITHOUT_END)
def test_waiting_for_the_service_never_fails_a_trial_and_doubles_up_to_ten_minutes(cause):
    waits = [settle(Outcome.FAILED, cause, earlier) for earlier in range(40)]
    assert {decided.status for decided in waits} == {TrialStatus.WAITING}
    assert not any(decided.counts for decided in waits)
    first = RETRIED_WITHOUT_END[cause]
    assert [decided.retry_in_s for decided in waits] == [min(first * 2**k, 600.0) for k in range(40)]


@pytest.mark.parametrize("cause", RETRIED_UNDER_A_CAP)
def test_retries_under_a_cap_count_past_it(cause):
    cap, first = RETRIED_UNDER_A_CAP[cause]
    decided = [settle(Outcome.FAILED, cause, earlier) for earlier in range(cap + 1)]
    assert [one.retry_in_s for one in decided] == [*(min(first * 2**k, 600.0) for k in range(cap)), None]
    assert [one.counts for one in decided] == [False] * cap + [True]
    assert [one.status for one in decided] == [TrialStatus.WAITING] * cap + [TrialStatus.FAILED]


def test_the_back_off_of_a_throttled_call_is_1_2_4_and_at_most_600_seconds():
    waits = [settle(Outcome.FAILED, Cause.THROTTLED, k).retry_in_s for k in (0, 1, 2, 3, 9, 10, 200)]
    assert waits == [1.0, 2.0, 4.0, 8.0, 512.0, 600.0, 600.0]


def test_what_is_refused_for_good_is_not_retried_even_where_its_cause_would_be():
    assert settle(Outcome.FAILED, Cause.QUOTA, 0, never=True) == Settlement(TrialStatus.FAILED, counts=True)


def test_completion_without_a_cause():
    assert settle(Outcome.COMPLETED, None, 0) == Settlement(TrialStatus.COMPLETED)
    assert settle(Outcome.FAILED, None, 0) == Settlement(TrialStatus.FAILED, counts=True)


def test_final_statuses_are_those_after_which_nothing_is_run():
    assert {str(status) for status in TrialStatus if status.is_final} == {"completed", "failed", "infeasible", "diverged", "stopped"}


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), ("1e-05", 1e-5), (" 2 ", 2.0), ("-inf", -math.inf), (True, None), (None, None), ("text", None), ([1.0], None), ("", None)],
)
def test_numbers_as_scripts_report_them(value, number):
    assert as_number(value) == number


def test_a_whole_number_beyond_floats_is_infinite_not_an_error():
    assert (as_number(10**400), as_number(-(10**400))) == (math.inf, -math.inf)


@pytest.mark.parametrize(
    ("last", "cause"),
    [
        ({"loss": 0.5, "acc": "1e-05"}, None),
        ({"loss": -3, "acc": 0}, None),
        ({"loss": math.nan, "acc": 1.0}, Cause.DIVERGED),
        ({"loss": 1.0, "acc": -math.inf}, Cause.DIVERGED),
        ({"loss": "nan", "acc": 1.0}, Cause.DIVERGED),
        ({"loss": 10**400, "acc": 1.0}, Cause.DIVERGED),
        ({"loss": 1.0, "acc": None}, Cause.NO_METRICS),
        ({"loss": 1.0, "acc": True}, Cause.NO_METRICS),
        ({"loss": 1.0}, Cause.NO_METRICS),
        ({}, Cause.NO_METRICS),
    ],
)
def test_objectives_that_are_no_result(last, cause):
    problem = objective_problem(("loss", "acc"), last)
    assert (None if problem is None else problem[0]) == cause


def test_the_message_tells_never_reported_from_not_a_number():
    assert objective_problem(("loss",), {"los": 1.0}) == (
        Cause.NO_METRICS,
        "objective 'loss' was never reported (reported: los); the nearest is 'los': name that under `objectives`",
    )
    assert objective_problem(("loss",), {}) == (
        Cause.NO_METRICS,
        "objective 'loss' was never reported (reported: nothing); report with: from outrider_report import report; report(loss=loss)",
    )
    assert objective_problem(("loss",), {"loss": "low"}) == (Cause.NO_METRICS, "objective 'loss' is no number: 'low'")


def failure(message, cause=Cause.SCRIPT_ERROR, place=""):
    return Failure(cause, message, place)


def test_two_workers_that_fail_alike_but_for_numbers_and_paths():
    alike = [failure("/tmp/a1/train.py: line 17: KeyError at 0x7f01"), failure("/home/x/b2/train.py: line 9: KeyError at 0xff")]
    assert common_cause(alike, finished=2, n_workers=2) == alike[0][1]


@pytest.mark.parametrize(
    ("failures", "finished", "n_workers"),
    [
        ([failure("KeyError: 'x'")], 1, 1),  # one is no pattern
        ([failure("KeyError: 'x'")] * 2, 3, 2),  # one trial ended otherwise
        ([failure("KeyError: 'x'")] * 3, 3, 4),  # the fourth still runs
        ([failure("KeyError: 'x'"), failure("KeyError: 'y'")], 2, 2),
        ([failure("gone"), failure("gone", Cause.TIME_OUT)], 2, 2),
        ([failure("KeyError: 0", place="a.py:f"), failure("KeyError: 1", place="a.py:g")], 2, 2),
        ([], 0, 2),
    ],
)
def test_no_common_cause(failures, finished, n_workers):
    assert common_cause(failures, finished, n_workers) is None


def test_failures_without_a_message_are_named_by_their_cause():
    assert common_cause([failure("", Cause.TIME_OUT)] * 2, 2, 1) == "time_out"
