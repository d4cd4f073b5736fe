"""What is launched is gone on with there, or here by taking it over, under the limits that it was launched with."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from benchmarking.remote.launch_record import LaunchRecord, RunMoney, SentPackage, as_json
from benchmarking.studies.record import StudyFlags, StudyRecord
from definitions.errors import UserError
from launch.experiments import resume_command
from launch.launching.launched_here import as_it_was_launched, check_not_launched
from launch.request import RunRequest

URI = "s3://mine/team/x/runs/t"
STUDY = StudyRecord(StudyFlags("sagemaker", max_cost=3.0), {}, ())


@pytest.fixture
def collected(tmp_path):
    """The folder of a launched run of $5, of which controllers take 2."""
    folder = tmp_path / "t"
    folder.mkdir()
    record = LaunchRecord("t", "n", "now", "0", SentPackage("k", "h"), money=RunMoney(5.0, 2.0, 3.0))
    (folder / "launch.json").write_text(as_json(record))
    return folder


def test_a_launched_run_is_no_run_of_this_machine(collected, tmp_path):
    request = RunRequest(results_dir=tmp_path)
    with pytest.raises(UserError, match="tag 't' was launched") as refused:
        check_not_launched(collected, request)
    assert "launch --resume t" in refused.value.advice
    assert "run --resume t --take_over" in refused.value.advice
    check_not_launched(collected, dataclasses.replace(request, launched_remotely=URI))
    check_not_launched(tmp_path / "other", request)


def test_its_limit_is_told_as_it_was_launched(collected):
    found = as_it_was_launched(STUDY, collected)
    assert found is not None
    assert found.flags.max_cost == 5.0
    assert as_it_was_launched(None, collected) is None


def test_a_study_that_is_kept_elsewhere_without_a_launch_stays_as_it_is(tmp_path):
    assert as_it_was_launched(STUDY, tmp_path) is STUDY


def test_who_took_it_over_goes_on_with_the_same_place():
    words = resume_command("t", RunRequest(results_dir=Path("results"), launched_remotely=URI))
    assert "--resume t" in words
    assert words.endswith("--take_over --remote_bucket mine --remote_prefix team/x")
