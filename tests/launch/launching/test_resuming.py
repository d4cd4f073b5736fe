"""What a run is asked before its next generation is created; tests/launch/test_launch_resume.py creates them."""

from __future__ import annotations

import pytest

from benchmarking.studies.record import StudyFlags, StudyRecord
from definitions.errors import UserError
from launch.launching.resuming import check_role


@pytest.mark.parametrize(
    ("backend", "environ", "emulated", "is_refused"),
    [
        ("sagemaker", {}, False, True),
        ("sagemaker", {"OUTRIDER_ROLE": "arn:aws:iam::123456789012:role/jobs"}, False, False),
        ("sagemaker", {}, True, False),
        ("local", {}, False, False),  # trials are no jobs
    ],
)
def test_a_run_without_any_job_has_to_be_told_the_role_of_its_trials(backend, environ, emulated, is_refused):
    study = StudyRecord(StudyFlags(backend), {}, ())
    if not is_refused:
        check_role(study, "launch --resume t", environ, emulated=emulated)
        return
    with pytest.raises(UserError, match="with which role do its trials run") as refused:
        check_role(study, "launch --resume t", environ, emulated=emulated)
    assert "OUTRIDER_ROLE" in str(refused.value)
