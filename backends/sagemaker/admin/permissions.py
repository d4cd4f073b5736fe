"""The documents that give people and jobs what they need in an AWS account, for a definition as far as there is one."""

from __future__ import annotations

import json

from backends.base import CheckRequest
from backends.checks import PermissionDocument
from backends.sagemaker.admin.cloudformation import template
from backends.sagemaker.admin.iam_policy import PolicyScope, job_policy_document, partition_of, policy_document, trust_document
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.jobs.options import DEFAULT_PREFIX
from backends.sagemaker.jobs.resolve_options import ROLE_VARIABLE
from definitions.schema import S3Dataset


def permission_document(kind: str, request: CheckRequest, backend: str) -> PermissionDocument:
    """Return a policy or a template; arguments as of `Backend.permission_document`, and `backend`, whose block counts."""
    if kind == "trust":
        return PermissionDocument(json.dumps(trust_document(), indent=2) + "\n")
    definition = request.definition
    block = SageMakerBlock() if definition is None else definition.block(backend, SageMakerBlock)
    data = () if definition is None else tuple(one.uri for one in definition.datasets.values() if isinstance(one, S3Dataset))
    prefix = block.prefix or DEFAULT_PREFIX
    mlflow = (block.mlflow,) if block.mlflow else ()
    if kind == "template":
        return PermissionDocument(template(prefix, data, bool(block.subnets), mlflow))
    arn = request.role or block.role or request.environ.get(ROLE_VARIABLE) or ""
    region = request.region or block.region or "*"
    scope = PolicyScope(
        role=arn.partition(":role/")[2] or "*",
        bucket=block.bucket or f"sagemaker-{region}-${{aws:PrincipalAccount}}",
        prefix=prefix,
        data=data,
        keys=tuple(dict.fromkeys(key for key in (block.volume_kms_key, block.output_kms_key) if key)),
        mlflow=mlflow,
        region=region,
        partition=partition_of(region),
    )
    document = policy_document(scope) if kind == "caller" else job_policy_document(scope, bool(block.subnets))
    remark = "" if arn else "no role is known, so that any may be passed to SageMaker; give --role to narrow it"
    return PermissionDocument(json.dumps(document, indent=2) + "\n", remark)
