"""The life of a job as numbers: which steps there are, what times come of them, what is billed."""

from __future__ import annotations

import json

import pytest

from backends.emulator.core import lifecycle
from backends.emulator.core.lifecycle import created, move, times


def walked(*steps):
    life = created(100.0)
    for secondary, at in steps:
        life = move(life, secondary, at)
    return life


def test_a_completed_job_is_paid_from_the_download_to_the_end_of_the_upload():
    life = walked(("Downloading", 110.0), ("Training", 113.0), ("Uploading", 150.0), ("Completed", 153.0))
    assert (life.status, life.secondary) == ("Completed", "Completed")
    assert times(life) == {
        "CreationTime": 100.0,
        "LastModifiedTime": 153.0,
        "TrainingStartTime": 110.0,
        "TrainingEndTime": 153.0,
        "TrainingTimeInSeconds": 43,
        "BillableTimeInSeconds": 43,
    }
    assert [(step.start, step.end) for step in life.transitions] == [(100, 110), (110, 113), (113, 150), (150, 153), (153, 153)]


def test_a_job_that_never_had_instances_has_no_training_time():
    life = walked(("Failed", 130.0))
    assert {"TrainingStartTime", "TrainingTimeInSeconds", "BillableTimeInSeconds"} & set(times(life)) == set()
    assert times(life)["TrainingEndTime"] == 130.0


def test_an_interrupted_job_is_paid_for_its_attempts_only():
    life = walked(("Downloading", 110.0), ("Training", 110.0), ("Interrupted", 130.0), ("Starting", 190.0), ("Downloading", 200.0))
    assert life.training_s(205.0) == 25.0
    life = move(move(move(life, "Training", 205.0), "Uploading", 218.0), "Completed", 220.0)
    found = times(life, billed_fraction=0.25)
    assert (found["TrainingTimeInSeconds"], found["BillableTimeInSeconds"]) == (40, 10)
    assert found["TrainingStartTime"] == 110.0


def test_a_stopping_job_is_stopping_until_it_is_stopped():
    life = walked(("Downloading", 110.0), ("Training", 111.0), ("Stopping", 120.0))
    assert (life.status, life.secondary) == ("Stopping", "Stopping")
    life = move(life, "Uploading", 125.0)
    assert (life.status, life.secondary) == ("Stopping", "Uploading")
    assert move(life, "Stopped", 126.0).status == "Stopped"


def test_a_limit_ends_a_job_as_stopped():
    life = walked(("Downloading", 110.0), ("Training", 111.0), ("Uploading", 171.0), ("MaxRuntimeExceeded", 172.0))
    assert (life.status, life.secondary) == ("Stopped", "MaxRuntimeExceeded")


def test_no_step_leads_out_of_an_end_or_over_a_stage():
    with pytest.raises(ValueError, match="cannot become Training"):
        move(created(1.0), "Training", 2.0)
    with pytest.raises(ValueError, match="Completed cannot become Stopping"):
        move(walked(("Downloading", 1.0), ("Training", 1.0), ("Uploading", 1.0), ("Completed", 1.0)), "Stopping", 3.0)


def test_times_never_decrease_though_the_clock_does():
    life = walked(("Downloading", 90.0), ("Training", 95.0))
    assert [step.start for step in life.transitions] == [100.0, 100.0, 100.0]


def test_a_reason_is_cut_to_what_the_api_allows():
    life = move(walked(("Downloading", 110.0)), "Failed", 120.0, reason="x" * 5000)
    assert len(life.reason) == 1024
    assert life.transitions[-1].message == "x" * 1024


def test_a_life_survives_json():
    life = walked(("Downloading", 110.0), ("Training", 113.5), ("Stopping", 120.25))
    assert lifecycle.from_json(json.loads(json.dumps(lifecycle.to_json(life)))) == life
