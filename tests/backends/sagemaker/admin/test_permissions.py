import json
from pathlib import Path

import pytest

from backends.checks import CheckRequest
from backends.sagemaker.admin.permissions import permission_document
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

SERVER = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-tracking-server/team"
ROLE = "arn:aws:iam::123456789012:role/jobs/trainer"


CONTROLLERS = "arn:aws:iam::123456789012:role/controllers"


def statements(kind, environ=None, remote=None, **block):
    base = {"name": "d", "script": "t.py", "space": {"x": 1}, "objectives": {"loss": "min"}}
    definition = BenchmarkDefinition.model_validate({**base, "sagemaker": block, "remote": remote or {}})
    document = permission_document(kind, CheckRequest(environ or {}, Path("results"), definition), "sagemaker")
    return {one["Sid"]: one for one in json.loads(document.text)["Statement"]}, document.remark


def test_the_role_of_the_jobs_may_log_to_the_mlflow_that_they_are_tied_to():
    tied, _ = statements("role", mlflow=SERVER)
    assert (tied["Mlflow"]["Resource"], tied["Mlflow"]["Action"]) == (SERVER, ["sagemaker-mlflow:*", "sagemaker:CallMlflowAppApi"])
    assert "Mlflow" not in statements("role")[0]


def test_who_starts_may_pass_the_role_of_the_definition_else_that_of_the_environment():
    given, remark = statements("caller", role=ROLE, region="eu-west-1", bucket="mine", prefix="team")
    assert (given["PassRole"]["Resource"], remark) == ("arn:aws:iam::*:role/jobs/trainer", "")
    assert given["Objects"]["Resource"] == "arn:aws:s3:::mine/team/*"
    assert statements("caller", {"OUTRIDER_ROLE": ROLE})[0]["PassRole"]["Resource"] == "arn:aws:iam::*:role/jobs/trainer"
    nobody, remark = statements("caller")
    assert nobody["PassRole"]["Resource"] == "arn:aws:iam::*:role/*"
    assert remark.startswith("no role is known")


def test_a_controller_may_pass_the_roles_of_jobs_and_its_own_and_a_launcher_both():
    given, remark = statements("controller", {"OUTRIDER_CONTROLLER_ROLE": CONTROLLERS}, role=ROLE, region="eu-west-1")
    both = ["arn:aws:iam::*:role/jobs/trainer", "arn:aws:iam::*:role/controllers"]
    assert (given["PassRole"]["Resource"], remark) == (both, "")
    assert given["PassRole"]["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    assert statements("caller", remote={"role": CONTROLLERS}, role=ROLE)[0]["PassRole"]["Resource"] == both
    open_, remark = statements("controller", role=ROLE)
    assert open_["PassRole"]["Resource"] == "arn:aws:iam::*:role/*"
    assert remark.endswith("give --remote_role to narrow it")


def test_a_controller_changes_jobs_with_the_tag_alone_and_makes_no_bucket():
    given, _ = statements("controller", remote={"subnets": ["subnet-1"], "security_groups": ["sg-1"], "bucket": "mine"}, role=ROLE)
    assert given["JobsCreated"]["Condition"] == {"Null": {"aws:RequestTag/outrider:tag": "false"}}
    assert (given["JobsChanged"]["Action"], given["JobsChanged"]["Condition"]) == (
        ["sagemaker:StopTrainingJob", "sagemaker:UpdateTrainingJob"],
        {"Null": {"aws:ResourceTag/outrider:tag": "false"}},
    )
    assert given["Jobs"]["Action"] == ["sagemaker:DescribeTrainingJob", "sagemaker:ListTags"]
    assert given["Objects"]["Resource"] == "arn:aws:s3:::mine/outrider/*"
    assert "ec2:CreateNetworkInterface" in given["Any"]["Action"]
    actions = {action for one in given.values() for action in one["Action"]}
    assert not actions & {"s3:CreateBucket", "iam:GetRole", "sagemaker:DeleteTrainingJob", "ec2:RunInstances"}


@pytest.mark.parametrize("kind", ["caller", "role", "controller"])
def test_what_is_no_role_is_refused_and_not_taken_for_any(kind):
    with pytest.raises(UserError, match="role 'trainer' is no ARN"):
        statements(kind, {"OUTRIDER_ROLE": "trainer"})
