"""What a denied call lacked: the line that AWS names, else all that the operation needs; never an account, never a retry's false hope."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from backends.sagemaker.aws.errors import CloudError, failure_of
from backends.sagemaker.aws.missing_permission import advice, policy_lines

CREATE = (
    "User: arn:aws:sts::************:assumed-role/controllers/SageMaker is not authorized to perform: sagemaker:CreateTrainingJob on "
    "resource: arn:aws:sagemaker:eu-west-1:************:training-job/toy-0-1 because no identity-based policy allows the "
    "sagemaker:CreateTrainingJob action"
)
PASS = (
    "User: arn:aws:iam::************:user/ann is not authorized to perform: iam:PassRole on resource: "
    "arn:aws:iam::************:role/jobs/a because no identity-based policy allows the iam:PassRole action"
)


def lines(operation, message):
    return [(one["Action"], one["Resource"]) for one in map(json.loads, policy_lines(operation, message))]


@pytest.mark.parametrize(
    ("operation", "message", "expected"),
    [
        ("CreateTrainingJob", CREATE, [("sagemaker:CreateTrainingJob", "arn:aws:sagemaker:eu-west-1:*:training-job/*")]),
        # What is missing is not what the call is named after.
        ("CreateTrainingJob", PASS, [("iam:PassRole", "arn:aws:iam::*:role/jobs/a")]),
        ("PutObject", 'User: x is not authorized to perform: s3:PutObject on resource: "arn:aws:s3:::b/outrider/code/1" because',
         [("s3:PutObject", "arn:aws:s3:::b/*")]),
        ("StopTrainingJob", "not authorized to perform: sagemaker:StopTrainingJob",
         [("sagemaker:StopTrainingJob", "arn:aws:sagemaker:*:*:training-job/*")]),
        ("GetObject", "Access Denied", [("s3:GetObject", "arn:aws:s3:::<bucket>/<prefix>/*")]),
        ("ListTrainingJobs", "no", [("sagemaker:ListTrainingJobs", "*")]),
        ("CreateTrainingJob", "no", [("sagemaker:CreateTrainingJob", "arn:aws:sagemaker:*:*:training-job/*"),
                                     ("sagemaker:AddTags", "arn:aws:sagemaker:*:*:training-job/*"),
                                     ("iam:PassRole", "arn:aws:iam::*:role/<role of the jobs>")]),
        ("InventedOperation", "no", []),
        ("", "", []),
    ],
)  # fmt: skip
def test_the_line(operation, message, expected):
    assert lines(operation, message) == expected


def test_whose_policy_lacks_it():
    assert advice("CreateTrainingJob", CREATE).startswith(
        'the policy of the role controllers lacks {"Effect": "Allow", "Action": "sagemaker:C'
    )
    assert advice("CreateTrainingJob", PASS).startswith("the policy of the user ann lacks ")
    assert advice("ListTrainingJobs", "no").startswith("the policy of whoever made this call lacks ")
    assert "`outrider doctor --policy`" in advice("", "")


def test_no_line_helps_against_an_explicit_deny():
    said = advice("CreateTrainingJob", CREATE.partition(" because")[0] + " with an explicit deny in a service control policy")
    assert "an explicit deny in a service control policy" in said
    assert "Allow" not in said


def test_the_error_says_it_without_the_account_and_is_known_as_denied():
    details = {"Error": {"Code": "AccessDeniedException", "Message": CREATE.replace("*" * 12, "123456789012")}}
    error = CloudError("the job cannot be created", failure_of(ClientError(details, "CreateTrainingJob")))
    assert error.is_denied
    assert '"Resource": "arn:aws:sagemaker:eu-west-1:*:training-job/*"' in str(error)
    assert "123456789012" not in str(error)
    busy = {"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}
    assert not CloudError("x", failure_of(ClientError(busy, "CreateTrainingJob"))).is_denied
