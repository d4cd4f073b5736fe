"""IAM policies: of whoever starts Outrider, of the role that its jobs run as, and of the role of jobs that run Outrider itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from backends.naming import TAG_KEY
from backends.sagemaker.aws.iam_operations import CALLER, CONTROLLER, JOB, NETWORK, Grant, Target, grants_for
from backends.sagemaker.logs.parser import GROUP

SERVICE = "sagemaker.amazonaws.com"
Conditions = Mapping[Grant, tuple[str, Mapping[str, Mapping[str, str]]]]
"""Grants under a condition: what is added to the statement's name, and the condition."""
_PASSED: Conditions = {Grant("iam:PassRole", Target.ROLE): ("Passed", {"StringEquals": {"iam:PassedToService": SERVICE}})}
_OWN_JOBS: Conditions = {
    **_PASSED,
    Grant("sagemaker:CreateTrainingJob", Target.JOBS): ("Created", {"Null": {f"aws:RequestTag/{TAG_KEY}": "false"}}),
    **{
        Grant(f"sagemaker:Create{what}", Target.ENDPOINTS): ("Created", {"Null": {f"aws:RequestTag/{TAG_KEY}": "false"}})
        for what in ("Model", "EndpointConfig", "Endpoint")
    },
    **{
        Grant(f"sagemaker:Delete{what}", Target.ENDPOINTS): ("Changed", {"Null": {f"aws:ResourceTag/{TAG_KEY}": "false"}})
        for what in ("Model", "EndpointConfig", "Endpoint")
    },
    Grant("sagemaker:AddTags", Target.ENDPOINTS): (
        "Tagged",
        {"StringLike": {"sagemaker:TaggingAction": "Create*"}},
    ),
    Grant("sagemaker:AddTags", Target.JOBS): ("Tagged", {"StringEquals": {"sagemaker:TaggingAction": "CreateTrainingJob"}}),
    **{
        Grant(f"sagemaker:{name}TrainingJob", Target.JOBS): ("Changed", {"Null": {f"aws:ResourceTag/{TAG_KEY}": "false"}})
        for name in ("Stop", "Update")
    },
}
"""What a controller may do to jobs with Outrider's tag alone. What only reads has no such condition: of a job that does not exist, which
has no tags, the service would answer that it is denied, and not that there is none."""


@dataclass(frozen=True)
class PolicyScope:
    """The names in a policy; patterns are fine, as are CloudFormation's `${...}`.

    Args:
        role: name of the jobs' role, with its path; `controller`: of the controllers', empty where nobody launches any.
        bucket, prefix: where Outrider keeps everything.
        data: `s3://` URIs of the user's own data sets.
        keys: ARNs of KMS keys that volumes and outputs are encrypted with.
        mlflow: ARNs of managed MLflow that jobs log to.
        partition, region, account: of all ARNs.
    """

    role: str = "*"
    controller: str = ""
    bucket: str = "sagemaker-*-${aws:PrincipalAccount}"
    prefix: str = "outrider"
    data: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    mlflow: tuple[str, ...] = ()
    partition: str = "aws"
    region: str = "*"
    account: str = "*"


def partition_of(region: str) -> str:
    """Return the partition that a region lies in, as ARNs name it."""
    return "aws-cn" if region.startswith("cn-") else "aws-us-gov" if region.startswith("us-gov-") else "aws"


def policy_document(scope: PolicyScope, operations: Iterable[str] = CALLER) -> dict[str, Any]:
    """Return the policy of whoever calls these operations."""
    return _document(grants_for(operations), scope, _PASSED)


def controller_policy_document(scope: PolicyScope, vpc: bool = False) -> dict[str, Any]:
    """Return the policy of the role that jobs run as which run a study: what it calls, and what any job needs.

    It creates, changes and stops jobs with Outrider's tag alone, and passes only the roles of jobs and its own.

    Args:
        scope: the names in it.
        vpc: whether controllers run in a VPC.
    """
    return _document((*grants_for(CONTROLLER), *JOB, *(NETWORK if vpc else ())), scope, _OWN_JOBS)


def job_policy_document(scope: PolicyScope, vpc: bool = False) -> dict[str, Any]:
    """Return the policy of the role that jobs run as.

    Args:
        scope: the names in it.
        vpc: whether jobs run in a VPC.
    """
    return _document((*JOB, *NETWORK) if vpc else JOB, scope, {})


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


def _document(grants: Iterable[Grant], scope: PolicyScope, conditions: Conditions) -> dict[str, Any]:
    actions: dict[tuple[Target, str, str], list[str]] = {}
    for grant in dict.fromkeys(grants):
        name, condition = conditions.get(grant, ("", {}))
        actions.setdefault((grant.target, name, json.dumps(condition)), []).append(grant.action)
    statements = []
    for (target, name, condition_text), names in actions.items():
        resources = _resources(target, scope)
        if not resources:
            continue
        statement: dict[str, Any] = {"Sid": _sid(target, name), "Effect": "Allow", "Action": sorted(names)}
        statement["Resource"] = resources if len(resources) > 1 else resources[0]
        if condition := json.loads(condition_text):
            statement["Condition"] = condition
        statements.append(statement)
    return {"Version": "2012-10-17", "Statement": statements}


def _sid(target: Target, name: str) -> str:
    return "PassRole" if name == "Passed" else target.title().replace("_", "") + name


def _resources(target: Target, scope: PolicyScope) -> list[str]:
    """Return the ARNs of a kind of resource; none where the scope has none of it."""
    start = f"arn:{scope.partition}"
    places = [uri.removeprefix("s3://").partition("/") for uri in scope.data]
    folder = f"{scope.prefix.strip('/')}/" if scope.prefix.strip("/") else ""
    roles = ["*"] if "*" in (scope.role, scope.controller) else [*dict.fromkeys(filter(None, (scope.role, scope.controller)))]
    return {
        Target.ANY: ["*"],
        Target.JOBS: [f"{start}:sagemaker:{scope.region}:{scope.account}:training-job/*"],
        Target.ENDPOINTS: [
            f"{start}:sagemaker:{scope.region}:{scope.account}:{kind}/*" for kind in ("model", "endpoint-config", "endpoint")
        ],
        Target.EXPERIMENTS: [
            f"{start}:sagemaker:{scope.region}:{scope.account}:experiment{kind}/*" for kind in ("", "-trial", "-trial-component")
        ],
        Target.ROLE: [f"{start}:iam::{scope.account}:role/{name}" for name in roles],
        Target.BUCKET: [f"{start}:s3:::{scope.bucket}"],
        Target.OBJECTS: [f"{start}:s3:::{scope.bucket}/{folder}*"],
        Target.DATA_BUCKETS: list(dict.fromkeys(f"{start}:s3:::{bucket}" for bucket, _, _ in places)),
        Target.DATA_OBJECTS: list(dict.fromkeys(f"{start}:s3:::{bucket}/{key}*" for bucket, _, key in places)),
        Target.LOGS: [f"{start}:logs:{scope.region}:{scope.account}:log-group:{GROUP}{end}" for end in ("", ":*")],
        Target.KEYS: list(scope.keys),
        Target.MLFLOW: list(scope.mlflow),
    }[target]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
