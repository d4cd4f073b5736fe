import math

import pytest

from backends.events import Closed, Progressed, Rejected
from backends.failures import LOG_INCOMPLETE, Cause, Outcome
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.controller.rows import JobState, TrialState
from benchmarking.controller.settlement import settlement
from definitions.trial import TrialSpec


def settled(event, *, last=None, causes=None, stop_reason=None, usd_per_hour=3.6, instance_count=1, now=100.0, **level):
    trial = TrialState(3, 3, TrialSpec({"x": 1}), last=last or {})
    trial.causes.update(causes or {})
    job = JobState("j", 3, 1, 0.0, None, 0.1, stop_reason=stop_reason)
    return settlement(
        trial, job, event, reported_objectives=("loss",), usd_per_hour=usd_per_hour, instance_count=instance_count, now=now, **level
    )


def closed(outcome, cause=None, message="", billable_s=10.0):
    return Closed("j", 99.0, outcome=outcome, cause=cause, message=message, billable_s=billable_s)


def test_a_completed_job_with_its_objective():
    assert settled(closed(Outcome.COMPLETED), last={"loss": "0.5"}, instance_count=2) == {
        "job": "j",
        "trial": 3,
        "status": "completed",
        "cause": None,
        "message": "",
        "counts": False,
        "retry_at": None,
        "cost_usd": pytest.approx(0.02),  # 10 s of 3.6 $/h on two instances
    }


@pytest.mark.parametrize(
    ("last", "status", "cause", "counts"),
    [({}, "failed", "no_metrics", True), ({"loss": math.nan}, "diverged", "diverged", False)],
)
def test_a_completed_job_without_a_result(last, status, cause, counts):
    body = settled(closed(Outcome.COMPLETED), last=last)
    assert (body["status"], body["cause"], body["counts"]) == (status, cause, counts)


def test_a_failure_without_a_cause_is_the_script():
    body = settled(closed(Outcome.FAILED, message="exit code 1"))
    assert (body["status"], body["cause"], body["counts"], body["message"]) == ("failed", "script_error", True, "exit code 1")


def test_an_objective_does_not_excuse_a_failure():
    assert settled(closed(Outcome.FAILED, Cause.TIME_OUT), last={"loss": 0.5})["status"] == "failed"


def test_the_third_spot_interruption_waits_four_times_the_first():
    assert settled(closed(Outcome.FAILED, Cause.SPOT))["retry_at"] == 105.0
    body = settled(closed(Outcome.FAILED, Cause.SPOT), causes={Cause.SPOT: 2, Cause.CAPACITY: 4})
    assert (body["status"], body["retry_at"]) == ("waiting", 120.0)


def test_a_lost_job_is_retried_once():
    assert settled(closed(Outcome.FAILED, Cause.LOST))["retry_at"] == 100.0
    body = settled(closed(Outcome.FAILED, Cause.LOST), causes={Cause.LOST: 1})
    assert (body["status"], body["counts"], body["retry_at"]) == ("failed", True, None)


def test_the_back_end_knows_best_when_to_try_again_but_never_in_the_past():
    def rejected(retry_at):
        return Rejected("j", 99.0, Cause.QUOTA, "quota", retry_at=retry_at)

    assert settled(rejected(160.0))["retry_at"] == 160.0
    assert settled(rejected(50.0))["retry_at"] == 100.0
    assert settled(rejected(160.0))["cost_usd"] is None


def test_a_rejection_for_good_is_no_reason_to_wait():
    body = settled(Rejected("j", 99.0, Cause.QUOTA, "the quota of this type is 0"))
    assert (body["status"], body["counts"], body["retry_at"]) == ("failed", True, None)


@pytest.mark.parametrize(
    ("stop_reason", "status"), [(Cause.SCHEDULER, "stopped"), (Cause.PAUSED, "paused"), (Cause.INTERRUPTED, "interrupted")]
)
def test_a_job_that_is_lost_while_it_is_stopped_is_not_started_again(stop_reason, status):
    for event in (closed(Outcome.FAILED, Cause.SPOT), Rejected("j", 99.0, Cause.THROTTLED, "", retry_at=120.0)):
        body = settled(event, stop_reason=stop_reason)
        assert (body["status"], body["cause"], body["retry_at"], body["counts"]) == (status, str(stop_reason), None, False)


def test_a_job_that_fails_or_completes_while_it_is_stopped_did_so():
    assert settled(closed(Outcome.FAILED, Cause.SCRIPT_ERROR), stop_reason=Cause.SCHEDULER)["status"] == "failed"
    assert settled(closed(Outcome.COMPLETED), last={"loss": 1.0}, stop_reason=Cause.SCHEDULER)["status"] == "completed"


def test_unknown_prices_stay_unknown_and_messages_stay_short():
    body = settled(closed(Outcome.FAILED, Cause.SCRIPT_ERROR, "x" * 5000), usd_per_hour=None)
    assert body["cost_usd"] is None
    assert len(body["message"]) == 2000


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ({"level_name": "epoch", "full_level": 60}, "log incomplete: its end was not seen, 22 of 60 epochs"),
        ({}, "log incomplete: its end was not seen"),
    ],
)
def test_how_far_an_incomplete_log_came_is_said(level, expected):
    body = settled(closed(Outcome.COMPLETED, message=LOG_INCOMPLETE), last={"loss": 1.0, "epoch": 22}, **level)
    assert (body["status"], body["message"]) == ("completed", expected)


def test_who_reported_nothing_is_told_how_to():
    body = settled(closed(Outcome.FAILED, Cause.NO_METRICS, "reported nothing"))
    assert body["message"] == "reported nothing; report with: from outrider_report import report; report(loss=loss)"


def test_a_prefix_that_its_reporter_ended_is_stopped_with_what_it_measured():
    trial = TrialState(3, 3, TrialSpec({"x": 1}, prefix_s=20.0))
    progress = ProgressCurve.begun(Progressed("j", 0.0, 0.0, 50.0, 0.0))
    progress.take(Progressed("j", 20.5, 4.0, 50.0, 20.5))
    job = JobState("j", 3, 1, 0.0, None, 0.1, progress=progress)
    body = settlement(trial, job, closed(Outcome.COMPLETED), reported_objectives=("loss",), usd_per_hour=3.6, instance_count=1, now=100.0)
    assert (body["cause"], body["message"], body["counts"], body["retry_at"]) == ("prefix_measured", "", False, None)


def test_of_a_script_without_levels_nothing_is_said_of_how_far_it_came():
    event = closed(Outcome.COMPLETED, message=LOG_INCOMPLETE)
    assert settled(event, last={"loss": 0.5, "epoch": 3}, full_level=9.0)["message"] == LOG_INCOMPLETE
    assert settled(event, last={"loss": 0.5, "epoch": 3}, level_name="epoch")["message"] == LOG_INCOMPLETE
