"""What AWS's answers mean for a launch: what was looked at, what is true, what to do."""

from __future__ import annotations

import pytest

from backends.sagemaker.admin.remote_checks import check_conditions, check_permissions
from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.role_permissions import Lacking

DENIED = CallFailure(FailureKind.DENIED, "X", "AccessDenied", "no")
JOB = "arn:aws:sagemaker:us-east-1:123456789012:training-job/outrider-doctor"


@pytest.mark.parametrize(
    ("lacking", "verdict", "found", "advice"),
    [
        ([], "ok", "controllers may create, stop and list jobs", ""),
        (DENIED, "unknown", "iam:SimulatePrincipalPolicy is not allowed", "doctor --policy controller"),
        ([Lacking("sagemaker:CreateTrainingJob", JOB, False)], "failed", "controllers may not sagemaker:CreateTrainingJob",
         'add {"Effect": "Allow", "Action": "sagemaker:CreateTrainingJob", "Resource": "arn:aws:sagemaker:us-east-1:*:training-job/*"}'),
        # Trackers and quotas are not what a study stands or falls with.
        ([Lacking("sagemaker:Search", "*", False)], "warning", "may not sagemaker:Search", '"Action": "sagemaker:Search"'),
        ([Lacking("sagemaker:Search", "*", False), Lacking("s3:PutObject", "arn:aws:s3:::b/p/runs/outrider-doctor", False)], "failed",
         "s3:PutObject", "arn:aws:s3:::b/p/runs/*"),
        ([Lacking("iam:PassRole", "arn:aws:iam::123456789012:role/jobs", True)], "failed", "a policy forbids iam:PassRole", "lift that"),
    ],
)  # fmt: skip
def test_what_the_role_may(lacking, verdict, found, advice):
    check = check_permissions("controllers", lacking)
    assert check.verdict == verdict
    assert found in check.found
    assert advice in check.advice
    assert "123456789012" not in check.found + check.advice


def test_a_bucket_that_ignores_conditions_is_none_for_controllers():
    assert check_conditions("s3://b-123456789012/p", True).verdict == "ok"
    ignored = check_conditions("s3://b/p", False)
    assert (ignored.verdict, "written over" in ignored.found) == ("failed", True)
    refused = check_conditions("s3://b/p", CallFailure(FailureKind.DENIED, "PutObject", "AccessDenied", "no"))
    assert (refused.verdict, refused.refused, '"s3:PutObject"' in refused.advice) == ("failed", True, True)
