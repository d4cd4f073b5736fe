"""The template: well-formed, complete, from the same table as the policies, and nothing in it refers to what it does not define."""

from __future__ import annotations

import re

import yaml

from backends.sagemaker.admin.cloudformation import template, template_data
from backends.sagemaker.aws.iam_operations import CALLER, CONTROLLER, JOB, Target, actions_for

PSEUDO = {"AWS::Partition", "AWS::Region", "AWS::AccountId"}


def references(value):
    if isinstance(value, dict):
        if "Fn::Sub" in value:
            yield from re.findall(r"\$\{([^}]+)\}", value["Fn::Sub"])
        if "Ref" in value:
            yield value["Ref"]
        if "Fn::GetAtt" in value:
            yield value["Fn::GetAtt"][0]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def actions(document):
    return {action for statement in document["Statement"] for action in statement["Action"]}


def test_it_is_yaml_without_tags_and_says_how_to_deploy_it():
    text = template(data=("s3://photos/small",))
    assert yaml.safe_load(text) == template_data(data=("s3://photos/small",))
    assert text.startswith("# Deploy with:\n#   aws cloudformation deploy ")


def test_its_policies_are_those_of_the_table():
    resources = template_data(data=("s3://photos/small",))["Resources"]
    assert actions(resources["CallerPolicy"]["Properties"]["PolicyDocument"]) == actions_for(CALLER)
    controllers = resources["ControllerPolicy"]["Properties"]
    service = {grant.action for grant in JOB if grant.target not in (Target.KEYS, Target.MLFLOW)}
    assert actions(controllers["PolicyDocument"]) == actions_for(CONTROLLER) | service
    assert controllers["Roles"] == [{"Ref": "ControllerRole"}]
    (jobs,) = resources["Role"]["Properties"]["Policies"]
    assert actions(jobs["PolicyDocument"]) == {grant.action for grant in JOB if grant.target not in (Target.KEYS, Target.MLFLOW)}
    server = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-tracking-server/team"
    (tied,) = template_data(mlflow=(server,))["Resources"]["Role"]["Properties"]["Policies"]
    assert [one["Resource"] for one in tied["PolicyDocument"]["Statement"] if one["Sid"] == "Mlflow"] == [server]


def test_every_reference_is_defined_and_every_substitution_marked():
    data = template_data(data=("s3://photos/small",), vpc=True)
    assert set(references(data)) <= {*data["Resources"], *PSEUDO}
    marked = [value for value in _unmarked(data) if isinstance(value, str) and "${" in value]
    assert marked == []
    # The bucket must not depend on the role, nor the role on the policy.
    assert set(references(data["Resources"]["Role"])) == {"Bucket", *PSEUDO}
    assert set(references(data["Resources"]["ControllerRole"])) == set()
    assert set(references(data["Resources"]["Bucket"])) == set()


def test_the_bucket_is_private_and_outlives_the_stack():
    bucket = template_data()["Resources"]["Bucket"]
    assert bucket["DeletionPolicy"] == "Retain"
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}


def _unmarked(value):
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "Fn::Sub":
                yield from _unmarked(item)
    elif isinstance(value, list):
        for item in value:
            yield from _unmarked(item)
    else:
        yield value
