"""Which permissions the calls need: one table from operation to IAM actions and the kind of resource that they are on."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from definitions.errors import UserError


class Target(enum.StrEnum):
    """What an action is allowed on."""

    ANY = "any"
    JOBS = "jobs"
    ENDPOINTS = "endpoints"
    EXPERIMENTS = "experiments"
    ROLE = "role"
    BUCKET = "bucket"
    OBJECTS = "objects"
    DATA_BUCKETS = "data_buckets"
    DATA_OBJECTS = "data_objects"
    LOGS = "logs"
    KEYS = "keys"
    MLFLOW = "mlflow"


@dataclass(frozen=True)
class Grant:
    """One action on one kind of resource."""

    action: str
    target: Target


def _on(target: Target, *actions: str) -> tuple[Grant, ...]:
    return tuple(Grant(action, target) for action in actions)


OPERATIONS: Mapping[str, tuple[Grant, ...]] = {
    # SageMaker
    "CreateTrainingJob": _on(Target.JOBS, "sagemaker:CreateTrainingJob", "sagemaker:AddTags") + _on(Target.ROLE, "iam:PassRole"),
    "DescribeTrainingJob": _on(Target.JOBS, "sagemaker:DescribeTrainingJob"),
    "StopTrainingJob": _on(Target.JOBS, "sagemaker:StopTrainingJob"),
    "UpdateTrainingJob": _on(Target.JOBS, "sagemaker:UpdateTrainingJob"),
    "DeleteTrainingJob": _on(Target.JOBS, "sagemaker:DeleteTrainingJob"),
    "AddTags": _on(Target.JOBS, "sagemaker:AddTags"),
    "ListTags": _on(Target.JOBS, "sagemaker:ListTags") + _on(Target.ENDPOINTS, "sagemaker:ListTags"),
    "ListTrainingJobs": _on(Target.ANY, "sagemaker:ListTrainingJobs"),
    # Endpoints
    "CreateModel": _on(Target.ENDPOINTS, "sagemaker:CreateModel", "sagemaker:AddTags") + _on(Target.ROLE, "iam:PassRole"),
    "CreateEndpointConfig": _on(Target.ENDPOINTS, "sagemaker:CreateEndpointConfig", "sagemaker:AddTags"),
    "CreateEndpoint": _on(Target.ENDPOINTS, "sagemaker:CreateEndpoint", "sagemaker:AddTags"),
    "DescribeEndpoint": _on(Target.ENDPOINTS, "sagemaker:DescribeEndpoint"),
    "DeleteEndpoint": _on(Target.ENDPOINTS, "sagemaker:DeleteEndpoint"),
    "DeleteEndpointConfig": _on(Target.ENDPOINTS, "sagemaker:DeleteEndpointConfig"),
    "DeleteModel": _on(Target.ENDPOINTS, "sagemaker:DeleteModel"),
    "InvokeEndpoint": _on(Target.ENDPOINTS, "sagemaker:InvokeEndpoint"),
    "ListEndpoints": _on(Target.ANY, "sagemaker:ListEndpoints"),
    "ListEndpointConfigs": _on(Target.ANY, "sagemaker:ListEndpointConfigs"),
    "ListModels": _on(Target.ANY, "sagemaker:ListModels"),
    # SageMaker Experiments
    "CreateExperiment": _on(Target.EXPERIMENTS, "sagemaker:CreateExperiment", "sagemaker:AddTags"),
    "CreateTrial": _on(Target.EXPERIMENTS, "sagemaker:CreateTrial", "sagemaker:AddTags"),
    "CreateTrialComponent": _on(Target.EXPERIMENTS, "sagemaker:CreateTrialComponent"),
    "DescribeTrialComponent": _on(Target.EXPERIMENTS, "sagemaker:DescribeTrialComponent"),
    "UpdateTrialComponent": _on(Target.EXPERIMENTS, "sagemaker:UpdateTrialComponent"),
    "AssociateTrialComponent": _on(Target.EXPERIMENTS, "sagemaker:AssociateTrialComponent"),
    "DisassociateTrialComponent": _on(Target.EXPERIMENTS, "sagemaker:DisassociateTrialComponent"),
    "BatchPutMetrics": _on(Target.EXPERIMENTS, "sagemaker:BatchPutMetrics"),
    "DeleteTrialComponent": _on(Target.EXPERIMENTS, "sagemaker:DeleteTrialComponent"),
    "DeleteTrial": _on(Target.EXPERIMENTS, "sagemaker:DeleteTrial"),
    "DeleteExperiment": _on(Target.EXPERIMENTS, "sagemaker:DeleteExperiment"),
    "ListTrials": _on(Target.ANY, "sagemaker:ListTrials"),
    "ListTrialComponents": _on(Target.ANY, "sagemaker:ListTrialComponents"),
    "Search": _on(Target.ANY, "sagemaker:Search"),
    # S3
    "CreateBucket": _on(Target.BUCKET, "s3:CreateBucket"),
    "HeadBucket": _on(Target.BUCKET, "s3:ListBucket") + _on(Target.DATA_BUCKETS, "s3:ListBucket"),
    "ListObjectsV2": _on(Target.BUCKET, "s3:ListBucket") + _on(Target.DATA_BUCKETS, "s3:ListBucket"),
    "HeadObject": _on(Target.OBJECTS, "s3:GetObject"),
    "GetObject": _on(Target.OBJECTS, "s3:GetObject"),
    "PutObject": _on(Target.OBJECTS, "s3:PutObject"),
    "CopyObject": _on(Target.OBJECTS, "s3:GetObject", "s3:PutObject"),
    "DeleteObject": _on(Target.OBJECTS, "s3:DeleteObject"),
    "DeleteObjects": _on(Target.OBJECTS, "s3:DeleteObject"),
    "CreateMultipartUpload": _on(Target.OBJECTS, "s3:PutObject"),
    "UploadPart": _on(Target.OBJECTS, "s3:PutObject"),
    "UploadPartCopy": _on(Target.OBJECTS, "s3:GetObject", "s3:PutObject"),
    "CompleteMultipartUpload": _on(Target.OBJECTS, "s3:PutObject"),
    "AbortMultipartUpload": _on(Target.OBJECTS, "s3:AbortMultipartUpload"),
    # Logs
    "FilterLogEvents": _on(Target.LOGS, "logs:FilterLogEvents"),
    "GetLogEvents": _on(Target.LOGS, "logs:GetLogEvents"),
    "DescribeLogStreams": _on(Target.LOGS, "logs:DescribeLogStreams"),
    # What is looked up beforehand, or of jobs that are over
    "GetMetricStatistics": _on(Target.ANY, "cloudwatch:GetMetricStatistics"),
    "GetCallerIdentity": (),
    "GetRole": _on(Target.ROLE, "iam:GetRole"),
    "SimulatePrincipalPolicy": _on(Target.ROLE, "iam:SimulatePrincipalPolicy"),
    "DescribeSubnets": _on(Target.ANY, "ec2:DescribeSubnets"),
    "DescribeSecurityGroups": _on(Target.ANY, "ec2:DescribeSecurityGroups"),
    "DescribeVpcEndpoints": _on(Target.ANY, "ec2:DescribeVpcEndpoints"),
    "DescribeRouteTables": _on(Target.ANY, "ec2:DescribeRouteTables"),
    "ListServiceQuotas": _on(Target.ANY, "servicequotas:ListServiceQuotas"),
    "ListAWSDefaultServiceQuotas": _on(Target.ANY, "servicequotas:ListAWSDefaultServiceQuotas"),
    "GetProducts": _on(Target.ANY, "pricing:GetProducts"),
    "DescribeImages": _on(Target.ANY, "ecr:DescribeImages"),
}
"""What each operation, by botocore's name, needs."""

_UNUSED = ("AddTags", "DeleteTrainingJob")
CALLER: tuple[str, ...] = tuple(name for name in OPERATIONS if name not in _UNUSED)
"""Operations that Outrider itself calls, on the machine it runs on."""

CONTROLLER: tuple[str, ...] = (
    *("CreateTrainingJob", "DescribeTrainingJob", "StopTrainingJob", "UpdateTrainingJob", "ListTags", "ListTrainingJobs"),
    *("CreateExperiment", "CreateTrial", "CreateTrialComponent", "UpdateTrialComponent", "AssociateTrialComponent"),
    *("BatchPutMetrics", "Search"),
    *("CreateModel", "CreateEndpointConfig", "CreateEndpoint", "DescribeEndpoint", "ListEndpoints", "InvokeEndpoint"),
    *("DeleteEndpoint", "DeleteEndpointConfig", "DeleteModel", "GetMetricStatistics"),
    *("HeadBucket", "ListObjectsV2", "HeadObject", "GetObject", "PutObject", "CopyObject", "DeleteObject", "DeleteObjects"),
    *("CreateMultipartUpload", "UploadPart", "UploadPartCopy", "CompleteMultipartUpload", "AbortMultipartUpload"),
    *("FilterLogEvents", "GetLogEvents", "DescribeLogStreams"),
    *("GetCallerIdentity", "ListServiceQuotas", "ListAWSDefaultServiceQuotas"),
)
"""Those that it calls where a training job runs it: what a study needs, its successor, and trackers; nothing that is asked beforehand."""

JOB: tuple[Grant, ...] = (
    *_on(Target.BUCKET, "s3:ListBucket"),
    *_on(Target.OBJECTS, "s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"),
    *_on(Target.DATA_BUCKETS, "s3:ListBucket"),
    *_on(Target.DATA_OBJECTS, "s3:GetObject"),
    *_on(Target.LOGS, "logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"),
    *_on(Target.ANY, "cloudwatch:PutMetricData", "ecr:GetAuthorizationToken"),
    *_on(Target.ANY, "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
    *_on(Target.MLFLOW, "sagemaker:CallMlflowAppApi", "sagemaker-mlflow:*"),
    *_on(Target.KEYS, "kms:Decrypt", "kms:GenerateDataKey", "kms:DescribeKey", "kms:CreateGrant"),
)
"""What the service does in the name of the job's role; there is no code of ours to compare it with, AWS documents it."""

NETWORK: tuple[Grant, ...] = _on(
    Target.ANY,
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
)
"""What it does besides for jobs in a VPC, as AWS documents it."""


def grants_for(operations: Iterable[str]) -> tuple[Grant, ...]:
    """Return what the operations need, each grant once; raises `UserError` for one that the table does not have."""
    found: dict[Grant, None] = {}
    for name in operations:
        if name not in OPERATIONS:
            raise UserError(
                f"operation {name}: it is not known which permission it needs", "", "add it to backends/sagemaker/aws/iam_operations.py"
            )
        found.update(dict.fromkeys(OPERATIONS[name]))
    return tuple(found)


def actions_for(operations: Iterable[str]) -> set[str]:
    """Return the IAM actions of operations by botocore's names; raises `UserError` for one that the table does not have."""
    return {grant.action for grant in grants_for(operations)}
