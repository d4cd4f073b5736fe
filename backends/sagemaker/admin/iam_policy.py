"""Which permissions the calls need: one table from operation to IAM action and resource, and the policies made from it.

Used by `outrider doctor`, by the CloudFormation template, and by a test that compares the table with the calls that are really made.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from definitions.errors import UserError

LOG_GROUP = "/aws/sagemaker/TrainingJobs"
SERVICE = "sagemaker.amazonaws.com"


class Target(enum.StrEnum):
    """What an action is allowed on."""

    ANY = "any"
    JOBS = "jobs"
    ROLE = "role"
    BUCKET = "bucket"
    OBJECTS = "objects"
    DATA_BUCKETS = "data_buckets"
    DATA_OBJECTS = "data_objects"
    LOGS = "logs"
    KEYS = "keys"


@dataclass(frozen=True)
class Grant:
    """One action on one kind of resource."""

    action: str
    target: Target


@dataclass(frozen=True)
class Scope:
    """The names in a policy; patterns are fine, as are CloudFormation's `${...}`.

    Args:
        role: name of the jobs' role, with its path.
        bucket, prefix: where Outrider keeps everything.
        data: `s3://` URIs of the user's own data sets.
        keys: ARNs of KMS keys that volumes and outputs are encrypted with.
        partition, region, account: of all ARNs.
    """

    role: str = "*"
    bucket: str = "sagemaker-*-${aws:PrincipalAccount}"
    prefix: str = "outrider"
    data: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    partition: str = "aws"
    region: str = "*"
    account: str = "*"


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
    "ListTags": _on(Target.JOBS, "sagemaker:ListTags"),
    "ListTrainingJobs": _on(Target.ANY, "sagemaker:ListTrainingJobs"),
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
    # What is looked up beforehand
    "GetCallerIdentity": (),
    "GetRole": _on(Target.ROLE, "iam:GetRole"),
    "ListServiceQuotas": _on(Target.ANY, "servicequotas:ListServiceQuotas"),
    "ListAWSDefaultServiceQuotas": _on(Target.ANY, "servicequotas:ListAWSDefaultServiceQuotas"),
    "GetProducts": _on(Target.ANY, "pricing:GetProducts"),
    "DescribeImages": _on(Target.ANY, "ecr:DescribeImages"),
}
"""What each operation, by botocore's name, needs."""

_UNUSED = ("AddTags", "DeleteTrainingJob")
CALLER: tuple[str, ...] = tuple(name for name in OPERATIONS if name not in _UNUSED)
"""Operations that Outrider itself calls, on the machine it runs on."""

JOB: tuple[Grant, ...] = (
    *_on(Target.BUCKET, "s3:ListBucket"),
    *_on(Target.OBJECTS, "s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"),
    *_on(Target.DATA_BUCKETS, "s3:ListBucket"),
    *_on(Target.DATA_OBJECTS, "s3:GetObject"),
    *_on(Target.LOGS, "logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"),
    *_on(Target.ANY, "cloudwatch:PutMetricData", "ecr:GetAuthorizationToken"),
    *_on(Target.ANY, "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
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


def partition_of(region: str) -> str:
    """Return the partition that a region lies in, as ARNs name it."""
    return "aws-cn" if region.startswith("cn-") else "aws-us-gov" if region.startswith("us-gov-") else "aws"


def grants_for(operations: Iterable[str]) -> tuple[Grant, ...]:
    """Return what the operations need, each grant once; raises `UserError` for one that the table does not have."""
    found: dict[Grant, None] = {}
    for name in operations:
        if name not in OPERATIONS:
            raise UserError(
                f"operation {name}: it is not known which permission it needs", "", "add it to backends/sagemaker/admin/iam_policy.py"
            )
        found.update(dict.fromkeys(OPERATIONS[name]))
    return tuple(found)


def actions_for(operations: Iterable[str]) -> set[str]:
    """Return the IAM actions of operations by botocore's names; raises `UserError` for one that the table does not have."""
    return {grant.action for grant in grants_for(operations)}


def policy_document(scope: Scope, operations: Iterable[str] = CALLER) -> dict[str, Any]:
    """Return the policy of whoever calls these operations."""
    return _document(grants_for(operations), scope)


def job_policy_document(scope: Scope, vpc: bool = False) -> dict[str, Any]:
    """Return the policy of the role that jobs run as.

    Args:
        scope: the names in it.
        vpc: whether jobs run in a VPC.
    """
    return _document((*JOB, *NETWORK) if vpc else JOB, scope)


def trust_document() -> dict[str, Any]:
    """Return who may take the role that jobs run as: SageMaker."""
    return {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": SERVICE}, "Action": "sts:AssumeRole"}],
    }


def trusts_sagemaker(document: Mapping[str, Any]) -> bool:
    """Return whether a role's trust policy lets SageMaker take it."""
    statements = _listed(document.get("Statement", []))
    return any(
        one.get("Effect") == "Allow"
        and any(action in ("sts:AssumeRole", "sts:*", "*") for action in _listed(one.get("Action", [])))
        and isinstance(one.get("Principal"), Mapping)
        and SERVICE in _listed(one["Principal"].get("Service", []))
        for one in statements
    )


def _document(grants: Iterable[Grant], scope: Scope) -> dict[str, Any]:
    actions: dict[tuple[Target, bool], list[str]] = {}
    for grant in grants:
        actions.setdefault((grant.target, grant.action == "iam:PassRole"), []).append(grant.action)
    statements = []
    for (target, passed), names in actions.items():
        resources = _resources(target, scope)
        if not resources:
            continue
        statement: dict[str, Any] = {"Sid": _sid(target, passed), "Effect": "Allow", "Action": sorted(names)}
        statement["Resource"] = resources if len(resources) > 1 else resources[0]
        if passed:
            statement["Condition"] = {"StringEquals": {"iam:PassedToService": SERVICE}}
        statements.append(statement)
    return {"Version": "2012-10-17", "Statement": statements}


def _sid(target: Target, passed: bool) -> str:
    return "PassRole" if passed else target.title().replace("_", "")


def _resources(target: Target, scope: Scope) -> list[str]:
    """Return the ARNs of a kind of resource; none where the scope has none of it."""
    start = f"arn:{scope.partition}"
    places = [uri.removeprefix("s3://").partition("/") for uri in scope.data]
    folder = f"{scope.prefix.strip('/')}/" if scope.prefix.strip("/") else ""
    return {
        Target.ANY: ["*"],
        Target.JOBS: [f"{start}:sagemaker:{scope.region}:{scope.account}:training-job/*"],
        Target.ROLE: [f"{start}:iam::{scope.account}:role/{scope.role}"],
        Target.BUCKET: [f"{start}:s3:::{scope.bucket}"],
        Target.OBJECTS: [f"{start}:s3:::{scope.bucket}/{folder}*"],
        Target.DATA_BUCKETS: list(dict.fromkeys(f"{start}:s3:::{bucket}" for bucket, _, _ in places)),
        Target.DATA_OBJECTS: list(dict.fromkeys(f"{start}:s3:::{bucket}/{key}*" for bucket, _, key in places)),
        Target.LOGS: [f"{start}:logs:{scope.region}:{scope.account}:log-group:{LOG_GROUP}{end}" for end in ("", ":*")],
        Target.KEYS: list(scope.keys),
    }[target]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
