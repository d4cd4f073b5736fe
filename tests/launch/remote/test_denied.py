"""A controller's role that lacks a permission: said at the first create, by the line that is missing, and tried by nobody again."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarking.remote.controller_word import ControllerState
from tests.launch.remote.launch_lab import LaunchLab

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TAG = "study"
WORDS = (
    "User: arn:aws:sts::123456789012:assumed-role/controllers/SageMaker is not authorized to perform: sagemaker:CreateTrainingJob on "
    "resource: arn:aws:sagemaker:us-east-1:123456789012:training-job/toy because no identity-based policy allows the "
    "sagemaker:CreateTrainingJob action"
)
MISSING = '{"Effect": "Allow", "Action": "sagemaker:CreateTrainingJob", "Resource": "arn:aws:sagemaker:us-east-1:*:training-job/*"}'


@pytest.mark.parametrize("parallel", [1, 2])
def test_it_is_said_once_and_a_resume_goes_on_when_it_is_allowed(tmp_path: Path, parallel: int) -> None:
    denied = {"kind": "error", "operation": "CreateTrainingJob", "code": "AccessDeniedException", "status": 400, "message": WORDS}
    with LaunchLab(tmp_path, faults=[{**denied, "after": 1}]) as lab:
        (job,) = lab.launch(TAG, methods=("RS",), seeds=3, parallel=parallel)
        lab.await_end()
        assert lab.described(job)["TrainingJobStatus"] == "Failed"
        reason = lab.described(job)["FailureReason"]
        assert f"the policy of the role controllers lacks {MISSING}" in reason
        word = lab.word(TAG)
        assert word is not None
        assert (word.state, word.restarts) == (ControllerState.FAILED, ())
        assert MISSING in word.why
        assert "123456789012" not in lab.log(job)
        assert all(one[1] not in ("failed", "completed") for trials in lab.finished(TAG).trials.values() for one in trials.values())
        lab.emulator.clear_faults()
        done = lab.outrider("launch", "--resume", TAG, "--remote_bucket", "bench", "--results_dir", str(tmp_path / "results"), "--yes")
        assert done.returncode == 0, done.stderr
        lab.await_end()
        found = lab.finished(TAG)
        assert [one[1] for trials in found.trials.values() for one in trials.values()] == ["completed"] * 9
        lab.same_bill(TAG, found)
