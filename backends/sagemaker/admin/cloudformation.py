"""A CloudFormation template for what an account needs once: bucket, roles of jobs and of controllers, policy of the caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backends.sagemaker.admin.iam_policy import (
    PolicyScope,
    controller_policy_document,
    job_policy_document,
    policy_document,
    trust_document,
)

_HEAD = """\
# Deploy with:
#   aws cloudformation deploy --stack-name outrider --template-file outrider.yaml --capabilities CAPABILITY_IAM
# then put the outputs Role and Bucket into the definition's sagemaker block (role, bucket), ControllerRole into its remote block (role) or
# the variable OUTRIDER_CONTROLLER_ROLE, and attach the policy CallerPolicy to whoever starts Outrider. The bucket stays when the stack is
# deleted.
"""
_DAYS_OF_UPLOADS = 7


def template(prefix: str = "outrider", data: Sequence[str] = (), vpc: bool = False, mlflow: Sequence[str] = ()) -> str:
    """Return the template as YAML.

    Args:
        prefix: where in the bucket Outrider keeps everything.
        data: `s3://` URIs of the user's own data sets, which jobs may read.
        vpc: whether jobs run in a VPC.
        mlflow: ARNs of managed MLflow that jobs are tied to.
    """
    import yaml

    return _HEAD + str(yaml.safe_dump(template_data(prefix, data, vpc, mlflow), sort_keys=False, width=120))


_BUCKET: dict[str, Any] = {
    "Type": "AWS::S3::Bucket",
    "DeletionPolicy": "Retain",
    "UpdateReplacePolicy": "Retain",
    "Properties": {
        "PublicAccessBlockConfiguration": {
            "BlockPublicAcls": True,
            "BlockPublicPolicy": True,
            "IgnorePublicAcls": True,
            "RestrictPublicBuckets": True,
        },
        "BucketEncryption": {"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]},
        "LifecycleConfiguration": {
            "Rules": [
                {
                    "Id": "UnfinishedUploads",
                    "Status": "Enabled",
                    "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": _DAYS_OF_UPLOADS},
                }
            ]
        },
    },
}


def template_data(prefix: str = "outrider", data: Sequence[str] = (), vpc: bool = False, mlflow: Sequence[str] = ()) -> dict[str, Any]:
    """Return the template as plain data, intrinsic functions in their long form; arguments as of `template`."""
    scope = PolicyScope(
        role="${Role}",
        controller="${ControllerRole}",
        bucket="${Bucket}",
        prefix=prefix,
        data=tuple(data),
        mlflow=tuple(mlflow),
        partition="${AWS::Partition}",
        region="${AWS::Region}",
        account="${AWS::AccountId}",
    )
    # A role's own policy must not name the role, which would be a circle: that of controllers, which pass their own role on, stands apart.
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Bucket, roles of jobs and controllers, and caller policy for Outrider",
        "Resources": {
            "Bucket": _BUCKET,
            "Role": {
                "Type": "AWS::IAM::Role",
                "Properties": {
                    "AssumeRolePolicyDocument": trust_document(),
                    "Policies": [{"PolicyName": "outrider-jobs", "PolicyDocument": _substituted(job_policy_document(scope, vpc))}],
                },
            },
            "ControllerRole": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust_document()}},
            "ControllerPolicy": {
                "Type": "AWS::IAM::ManagedPolicy",
                "Properties": {
                    "Description": "What a study takes that runs in training jobs itself",
                    "Roles": [{"Ref": "ControllerRole"}],
                    "PolicyDocument": _substituted(controller_policy_document(scope, vpc)),
                },
            },
            "CallerPolicy": {
                "Type": "AWS::IAM::ManagedPolicy",
                "Properties": {
                    "Description": "What starting and watching Outrider's training jobs takes",
                    "PolicyDocument": _substituted(policy_document(scope)),
                },
            },
        },
        "Outputs": {
            "Role": {"Description": "role of the sagemaker block", "Value": {"Fn::GetAtt": ["Role", "Arn"]}},
            "ControllerRole": {"Description": "role of the remote block", "Value": {"Fn::GetAtt": ["ControllerRole", "Arn"]}},
            "Bucket": {"Description": "bucket of the sagemaker block", "Value": {"Ref": "Bucket"}},
            "CallerPolicy": {"Description": "attach it to whoever starts Outrider", "Value": {"Ref": "CallerPolicy"}},
        },
    }


def _substituted(value: Any) -> Any:
    """Return data in which each text with a `${...}` is to be filled in by CloudFormation."""
    if isinstance(value, dict):
        return {key: _substituted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_substituted(item) for item in value]
    return {"Fn::Sub": value} if isinstance(value, str) and "${" in value else value
