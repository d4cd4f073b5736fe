"""Stages, and the difference between two clocks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from backends.job_spec import JobSpec
from backends.sagemaker.jobs.job import ClockSkew, CloudJob, ever_trained, lives, seconds
from backends.sagemaker.logs.parser import JobLog


def test_a_clock_that_agrees_is_left_alone():
    skew = ClockSkew()
    assert skew.ahead_s == 0.0
    skew.learn(created_at=100.05, sent_at=100.0, answered_at=100.2)
    assert skew.ahead_s == 0.0


def test_a_clock_ahead_is_known_to_half_a_call():
    skew = ClockSkew()
    skew.learn(340.1, 100.0, 100.4)
    assert skew.ahead_s == pytest.approx(239.9, abs=0.2)


def test_a_clock_behind_is_negative():
    skew = ClockSkew()
    skew.learn(40.0, 100.0, 100.2)
    assert skew.ahead_s == pytest.approx(-60.1, abs=0.1)


def test_each_creation_narrows_it():
    skew = ClockSkew()
    skew.learn(340.0, 100.0, 110.0)
    assert skew.ahead_s == pytest.approx(235.0)
    skew.learn(440.0, 200.0, 200.2)
    assert skew.ahead_s == pytest.approx(239.9)
    skew.learn(540.0, 300.0, 330.0)
    assert skew.ahead_s == pytest.approx(239.9)


def test_after_a_clock_was_set_the_newest_sign_counts():
    skew = ClockSkew()
    skew.learn(340.0, 100.0, 100.2)
    skew.learn(200.1, 200.0, 200.2)
    assert skew.ahead_s == 0.0


@pytest.mark.parametrize(
    ("stage", "runs"), [("Starting", False), ("Pending", False), ("Downloading", False), ("Training", True), ("Uploading", True)]
)
def test_the_script_runs_from_training_on(stage, runs):
    cloud = CloudJob(JobSpec("j", 0, 1, "x.py"), JobLog(), "ml.m5.large", stage=stage)
    assert cloud.runs_script is runs


def test_a_job_that_never_got_instances_never_trained():
    steps = [{"Status": "Starting"}, {"Status": "Failed"}]
    assert not ever_trained({"SecondaryStatusTransitions": steps})
    assert ever_trained({"SecondaryStatusTransitions": [*steps, {"Status": "Training"}]})


def test_stamps_are_utc_whatever_they_come_as():
    assert seconds(datetime(2026, 10, 25, 0, 30, tzinfo=UTC)) == 1792888200.0
    assert (seconds(5), seconds(None), seconds("x")) == (5.0, None, None)


def test_a_script_has_one_life_until_more_are_known():
    assert lives({}) == 1
    steps = [{"Status": status} for status in ("Starting", "Training", "Interrupted", "Starting", "Training")]
    assert lives({"SecondaryStatusTransitions": steps[:2]}) == 1
    assert lives({"SecondaryStatusTransitions": steps}) == 2


def test_a_job_that_was_just_asked_for_has_done_nothing():
    job = CloudJob(JobSpec(name="a", trial=0, attempt=1, script="s.py"), JobLog(), "ml.m5.large")
    assert (job.accepted, job.started, job.ended, job.incarnation) == (False, False, False, 0)
