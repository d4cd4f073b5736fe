"""What a role may do, as IAM simulates it: which of the grants that something needs it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backends.naming import TAG_KEY
from backends.sagemaker.aws.errors import CallFailure
from backends.sagemaker.aws.iam_operations import Grant, Target
from backends.sagemaker.aws.lookups import Lookups

_KNOWN: Mapping[Target, Mapping[str, str]] = {
    Target.JOBS: {
        f"aws:RequestTag/{TAG_KEY}": "tag",
        f"aws:ResourceTag/{TAG_KEY}": "tag",
        "sagemaker:TaggingAction": "CreateTrainingJob",
    },
    Target.ROLE: {"iam:PassedToService": "sagemaker.amazonaws.com"},
}
"""What IAM knows of a call of ours besides, by which policies may allow no more than that."""


@dataclass(frozen=True)
class Lacking:
    """An action that a role may not do.

    Args:
        action: as policies name it; `resource`: the ARN that it was asked about.
        is_forbidden: whether a policy forbids it, so that allowing it would not help.
    """

    action: str
    resource: str
    is_forbidden: bool


def lacking(lookups: Lookups, role: str, grants: Iterable[Grant], resources: Mapping[Target, Sequence[str]]) -> list[Lacking] | CallFailure:
    """Return what a role may not do of what is needed, or why that cannot be told.

    Args:
        lookups: makes the calls, one for each resource.
        role: its ARN.
        grants: that are needed.
        resources: ARNs by kind; grants on kinds that are not there are left out.
    """
    actions: dict[Target, list[str]] = {}
    for grant in dict.fromkeys(grants):
        actions.setdefault(grant.target, []).append(grant.action)
    found: list[Lacking] = []
    for target, names in actions.items():
        context = [
            {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"}
            for key, value in _KNOWN.get(target, {}).items()
        ]
        for resource in resources.get(target, ()):
            answer = lookups.call(
                "iam",
                "simulate_principal_policy",
                PolicySourceArn=role,
                ActionNames=names,
                ResourceArns=[resource],
                ContextEntries=context,
            )
            if isinstance(answer, CallFailure):
                return answer
            found += [
                Lacking(str(one["EvalActionName"]), resource, one["EvalDecision"] == "explicitDeny")
                for one in answer["EvaluationResults"]
                if one["EvalDecision"] != "allowed"
            ]
    return found
