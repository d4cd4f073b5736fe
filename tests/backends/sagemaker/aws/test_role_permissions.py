"""What a role may do, as IAM simulates it."""

from __future__ import annotations

from typing import Any

from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.iam_operations import Grant, Target
from backends.sagemaker.aws.role_permissions import Lacking, lacking

GRANTS = [
    Grant("iam:PassRole", Target.ROLE),
    Grant("sagemaker:CreateTrainingJob", Target.JOBS),
    Grant("sagemaker:StopTrainingJob", Target.JOBS),
    Grant("sagemaker:StopTrainingJob", Target.JOBS),
    Grant("kms:Decrypt", Target.KEYS),
]
RESOURCES = {Target.ROLE: ["role/a", "role/b"], Target.JOBS: ["job/x"]}


class Simulated:
    def __init__(self, **decisions: Any) -> None:
        self.decisions, self.asked = decisions, list[dict[str, Any]]()

    def call(self, service: str, operation: str, **arguments: Any) -> Any:
        assert (service, operation) == ("iam", "simulate_principal_policy")
        self.asked.append(arguments)
        if "failure" in self.decisions:
            return self.decisions["failure"]
        names = arguments["ActionNames"]
        return {
            "EvaluationResults": [
                {"EvalActionName": one, "EvalDecision": self.decisions.get(one.partition(":")[2], "allowed")} for one in names
            ]
        }


def test_each_resource_is_asked_about_once_with_what_conditions_go_by():
    lookups = Simulated(StopTrainingJob="explicitDeny", PassRole="implicitDeny")
    assert lacking(lookups, "role/a", GRANTS, RESOURCES) == [  # type: ignore[arg-type]
        Lacking("iam:PassRole", "role/a", False),
        Lacking("iam:PassRole", "role/b", False),
        Lacking("sagemaker:StopTrainingJob", "job/x", True),
    ]
    assert [(one["PolicySourceArn"], one["ResourceArns"], one["ActionNames"]) for one in lookups.asked] == [
        ("role/a", ["role/a"], ["iam:PassRole"]),
        ("role/a", ["role/b"], ["iam:PassRole"]),
        ("role/a", ["job/x"], ["sagemaker:CreateTrainingJob", "sagemaker:StopTrainingJob"]),
    ]
    context = {one["ContextKeyName"]: one["ContextKeyValues"] for one in lookups.asked[-1]["ContextEntries"]}
    assert set(context) == {"aws:RequestTag/outrider:tag", "aws:ResourceTag/outrider:tag", "sagemaker:TaggingAction"}
    assert [one["ContextKeyValues"] for one in lookups.asked[0]["ContextEntries"]] == [["sagemaker.amazonaws.com"]]


def test_who_may_not_ask_is_told_so():
    denied = CallFailure(FailureKind.DENIED, "SimulatePrincipalPolicy", "AccessDenied", "no")
    assert lacking(Simulated(failure=denied), "role/a", GRANTS, RESOURCES) is denied  # type: ignore[arg-type]
