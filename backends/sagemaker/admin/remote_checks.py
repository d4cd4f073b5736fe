"""What answers of AWS mean for a launch: one check for each. Pure; the calls are made in `aws`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from backends.checks import Check, CheckStatus
from backends.sagemaker.aws.errors import CallFailure, FailureKind, masked
from backends.sagemaker.aws.role_permissions import Lacking
from definitions.program import command

_FOR_MORE = ("sagemaker:Search", "cloudwatch:PutMetricData", "servicequotas:ListServiceQuotas", "servicequotas:ListAWSDefaultServiceQuotas")
"""What a study does without: its trackers, its metrics in the console, its knowledge of quotas."""
_POLICY = command("doctor", "--policy", "controller")


def check_permissions(name: str, lacking: Sequence[Lacking] | CallFailure) -> Check:
    """Return the check of what the controllers' role may.

    Args:
        name: of the role.
        lacking: what it may not do, or why that could not be told.
    """
    title = "controllers' role may"
    if isinstance(lacking, CallFailure):
        if lacking.kind is FailureKind.DENIED:
            return Check(title, CheckStatus.UNKNOWN, "iam:SimulatePrincipalPolicy is not allowed", f"compare its policy with `{_POLICY}`")
        return Check(title, CheckStatus.UNKNOWN, str(lacking), lacking.advice)
    if not lacking:
        return Check(title, CheckStatus.OK, f"{name} may create, stop and list jobs, pass its role and theirs, keep state in S3, read logs")
    forbidden = [one.action for one in lacking if one.is_forbidden]
    if forbidden:
        found = f"{name}: a policy forbids {', '.join(dict.fromkeys(forbidden))}, whatever else is allowed"
        return Check(title, CheckStatus.FAILED, found, "only the account's administrator can lift that")
    lines = [json.dumps({"Effect": "Allow", "Action": one.action, "Resource": _any_account(one.resource)}) for one in lacking]
    verdict = CheckStatus.WARNING if all(one.action in _FOR_MORE for one in lacking) else CheckStatus.FAILED
    actions = ", ".join(dict.fromkeys(one.action for one in lacking))
    return Check(title, verdict, f"{name} may not {actions}", f"add {', '.join(lines)}; `{_POLICY}` prints all that it needs")


def check_conditions(where: str, found: CallFailure | bool) -> Check:
    """Return the check of writing objects under conditions.

    Args:
        where: URI of the place.
        found: whether a second write of one object was refused, as it was to be, or why it could not be tried.
    """
    title, where = "bucket keeps conditions", masked(where)
    if isinstance(found, CallFailure):
        return Check(title, CheckStatus.FAILED, f"{where}: {found}", found.advice, refused=True)
    if not found:
        text = f"{where}: an object that was there was written over although only a new one was asked for"
        return Check(title, CheckStatus.FAILED, text, "controllers take turns by that: give a bucket in S3 itself")
    return Check(title, CheckStatus.OK, f"{where}: of two writes of a new object the second was refused")


def _any_account(resource: str) -> str:
    return masked(resource).replace("*" * 12, "*").replace("/outrider-doctor", "/*")
