"""Trials on their controller's own instance: they end with it, and go on from their checkpoints wherever it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarking.remote.controller_word import ControllerState
from tests.launch.remote.launch_lab import LaunchLab, soak

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TAG = "inside"
LONG = ("--n_workers", "1", "--max_num_trials", "1", "--set", "steps=12", "pause=1.5", "--remote_bucket", "bench")
ENDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "interrupted": ("interrupt", {"notice_s": 30.0}),
    "lost": ("break", {"kind": "host_lost"}),
}
"""What becomes of the instance -> how the emulator is told."""


def saved_step(lab: LaunchLab) -> int:
    """Return the step whose checkpoint is in S3 for whoever goes on; 0 while there is none."""
    s3 = lab.emulator.client("s3")
    listed = s3.list_objects_v2(Bucket="bench", Prefix=f"outrider/checkpoints/{TAG}/").get("Contents", ())
    return max(
        (int(s3.get_object(Bucket="bench", Key=one["Key"])["Body"].read()) for one in listed if one["Key"].endswith("/step")), default=0
    )


@pytest.mark.parametrize("how", [pytest.param("interrupted", marks=soak), "lost"])
def test_a_trial_goes_on_from_its_checkpoint_on_the_next_instance(tmp_path: Path, how: str) -> None:
    call, more = ENDS[how]
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG, *LONG, "--remote_spot", methods=("RS",), seeds=1, backend="local")
        lab.await_that(lambda: saved_step(lab) > 0, "a checkpoint is in S3")
        assert lab.break_job(job, call, **more)
        lab.await_end()
        assert lab.described(job)["TrainingJobStatus"] == "Completed", lab.log(job)
        assert lab.word(TAG).state is ControllerState.ENDED
        ((trials),) = lab.finished(TAG).trials.values()
        ((_, status, jobs),) = trials.values()
        assert (status, jobs) == ("completed", 2), lab.log(job)
        # What it reports last says with which step its last attempt began: not with the first.
        ((last),) = lab.last_reports(TAG)
        assert last["step"] == 12
        assert last["first"] > 1


@soak
def test_each_experiment_gets_an_instance_of_its_own(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        names = lab.launch(TAG, "--max_num_trials", "2", "--remote_bucket", "bench", methods=("RS",), seeds=2, backend="local", parallel=1)
        assert len(names) == 2
        lab.await_end()
        assert {lab.described(name)["TrainingJobStatus"] for name in names} == {"Completed"}
        found = lab.finished(TAG)
        assert {one[1:] for trials in found.trials.values() for one in trials.values()} == {("completed", 1)}
        assert sorted(found.trials) == ["toy/RS-local-0", "toy/RS-local-1"]
        assert found.jobs == ()


@soak
def test_one_of_two_experiments_inside_a_controller_ends_from_anywhere_and_the_other_goes_on(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        words = ("--n_workers", "1", "--max_num_trials", "6", "--set", "steps=3", "pause=1.5", "--remote_bucket", "bench")
        (job,) = lab.launch(TAG, *words, "--controllers", "1", methods=("RS",), seeds=2, backend="local", parallel=2)
        lab.await_that(lambda: len(lab.begun(TAG)) == 2, "both have begun")
        stopped = lab.outrider(
            "stop", "--tag", TAG, "--bucket", "bench", "--experiment", "toy/RS-local-1", "--results_dir", str(tmp_path / "no")
        )
        assert stopped.returncode == 0, stopped.stderr
        lab.await_end()
        found = lab.finished(TAG).trials
        assert [one[1] for one in found["toy/RS-local-0"].values()] == ["completed"] * 6, lab.log(job)
        assert len([one for one in found["toy/RS-local-1"].values() if one[1] == "completed"]) < 6
