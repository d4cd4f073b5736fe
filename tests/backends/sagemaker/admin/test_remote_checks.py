"""What AWS's answers mean for a launch: what was looked at, what is true, what to do."""

from __future__ import annotations

import dataclasses

import pytest

from backends.sagemaker.admin.remote_checks import check_conditions, check_network, check_permissions
from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.network_lookups import JobNetwork
from backends.sagemaker.aws.network_needs import INTERFACES
from backends.sagemaker.aws.role_permissions import Lacking

DENIED = CallFailure(FailureKind.DENIED, "X", "AccessDenied", "no")
JOB = "arn:aws:sagemaker:us-east-1:123456789012:training-job/outrider-doctor"
WHOLE = JobNetwork(("vpc-1",), frozenset({"s3", "servicequotas", *INTERFACES}), without_way_out=("subnet-a",))


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


@pytest.mark.parametrize(
    ("network", "verdict", "found"),
    [
        (None, "ok", "in no VPC"),
        (DENIED, "unknown", "X is not allowed"),
        (WHOLE, "warning", "no index of packages"),
        (dataclasses.replace(WHOLE, without_way_out=()), "ok", "vpc-1: all is reached"),
        (JobNetwork(("vpc-1",)), "ok", "all is reached"),  # with a way out no endpoint is needed
        (JobNetwork(("vpc-1",), without_way_out=("subnet-a",)), "failed", "s3 has no endpoint; sagemaker.api has no endpoint"),
        (dataclasses.replace(WHOLE, services=WHOLE.services - {"sts"}), "failed", "sts has no endpoint, and nothing leads from subnet-a"),
        (dataclasses.replace(WHOLE, unnamed=frozenset({"logs"})), "failed", "logs has an endpoint without private DNS"),
        (dataclasses.replace(WHOLE, without_gateway=("subnet-a",)), "failed", "s3 has an endpoint that subnet-a does not lead to"),
        # The usual name leads to the endpoint, also where there is a way out.
        (dataclasses.replace(WHOLE, closed=frozenset({"logs"}), without_way_out=()), "failed", "let no controller in: controllers would"),
        (dataclasses.replace(WHOLE, is_shut=True), "failed", "let nothing out to port 443"),
        (dataclasses.replace(WHOLE, vpcs=("vpc-1", "vpc-2")), "failed", "several VPCs: vpc-1, vpc-2"),
        (JobNetwork(missing=("subnet-x",)), "failed", "there is no subnet-x"),
    ],
)  # fmt: skip
def test_the_network(network, verdict, found):
    check = check_network(network)
    assert check.verdict == verdict
    assert found in check.found
    assert bool(check.advice) is (verdict != "ok")


def test_what_is_missing_of_a_network_is_made_by_the_template():
    advice = check_network(dataclasses.replace(WHOLE, services=frozenset({"s3"}))).advice
    assert "doctor --cloudformation network" in advice
    assert advice.endswith("sagemaker.api, logs, sts")
