"""The documents that give people and jobs what they need in an AWS account, for a definition as far as there is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from backends.checks import CheckRequest, PermissionDocument
from backends.sagemaker.admin.cloudformation import template
from backends.sagemaker.admin.iam_policy import (
    PolicyScope,
    controller_policy_document,
    job_policy_document,
    partition_of,
    policy_document,
    trust_document,
)
from backends.sagemaker.admin.network_template import network_template
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.jobs.options import DEFAULT_PREFIX
from backends.sagemaker.jobs.resolve_options import CONTROLLER_ROLE_VARIABLE, ROLE_VARIABLE
from definitions.errors import UserError
from definitions.remote import RemoteOptions
from definitions.schema import S3Dataset


def permission_document(kind: str, request: CheckRequest, backend: str) -> PermissionDocument:
    """Return a policy or a template; arguments as of `Backend.permission_document`, and `backend`, whose block counts."""
    if kind == "trust":
        return PermissionDocument(_text(trust_document()))
    if kind == "network":
        return PermissionDocument(network_template())
    definition = request.definition
    block = SageMakerBlock() if definition is None else definition.block(backend, SageMakerBlock)
    remote = RemoteOptions() if definition is None else definition.remote
    data = () if definition is None else tuple(one.uri for one in definition.datasets.values() if isinstance(one, S3Dataset))
    prefix = block.prefix or remote.prefix or DEFAULT_PREFIX
    mlflow = (block.mlflow,) if block.mlflow else ()
    in_vpc = bool(block.subnets or remote.subnets)
    if kind == "template":
        return PermissionDocument(template(prefix, data, in_vpc, mlflow))
    arn = request.role or block.role or request.environ.get(ROLE_VARIABLE) or ""
    controller = request.controller_role or remote.role or request.environ.get(CONTROLLER_ROLE_VARIABLE) or ""
    region = request.region or block.region or remote.region or "*"
    scope = PolicyScope(
        role=_name(arn) or "*",
        controller=_name(controller) or ("*" if kind == "controller" else ""),
        bucket=block.bucket or remote.bucket or f"sagemaker-{region}-${{aws:PrincipalAccount}}",
        prefix=prefix,
        data=data,
        keys=tuple(dict.fromkeys(key for key in (block.volume_kms_key, block.output_kms_key) if key)),
        mlflow=mlflow,
        region=region,
        partition=partition_of(region),
    )
    if kind == "controller":
        unknown = [what for what, found in (("--role", arn), ("--remote_role", controller)) if not found]
        remark = f"not both roles are known, so that any may be passed to SageMaker; give {' and '.join(unknown)} to narrow it"
        return PermissionDocument(_text(controller_policy_document(scope, in_vpc)), remark if unknown else "")
    document = policy_document(scope) if kind == "caller" else job_policy_document(scope, bool(block.subnets))
    remark = "" if arn else "no role is known, so that any may be passed to SageMaker; give --role to narrow it"
    return PermissionDocument(_text(document), remark)


def _name(arn: str) -> str:
    """Return the name of a role with its path; raises `UserError` for what is no ARN of one."""
    name = arn.partition(":role/")[2]
    if arn and not name:
        raise UserError(f"role {arn!r} is no ARN of an IAM role", "", "give it as arn:aws:iam::<account>:role/<name>")
    return name


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2) + "\n"
