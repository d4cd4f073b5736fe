"""Creates the jobs of controllers, and says which of them the service still shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind, failure_of

LIVE = ("InProgress", "Stopping")
"""States of a job that is, or is about to be, at work."""


@dataclass(frozen=True)
class ShownController:
    """A controller's job as the service shows it.

    Args:
        name: of the job.
        state: e.g. `InProgress`.
        failure: why it failed; empty where it did not.
        description: as DescribeTrainingJob answers.
    """

    name: str
    state: str
    failure: str
    description: Mapping[str, Any]

    @property
    def is_live(self) -> bool:
        """Whether it may still create trials."""
        return self.state in LIVE


def create_controller(clients: Clients, request: Mapping[str, Any]) -> None:
    """Create a controller's job; one that is there already under its name is its own, as nobody else has its nonce.

    Raises:
        CloudError: the service refuses, or does not answer in the end.
    """
    name = request["TrainingJobName"]
    try:
        clients.get("sagemaker").create_training_job(**request)
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        if failure.kind is FailureKind.EXISTS or (_may_have_been_made(failure) and shown(clients, name) is not None):
            return
        raise CloudError(f"controller {name} could not be created", failure) from error


def shown(clients: Clients, name: str) -> ShownController | None:
    """Return a controller's job as the service shows it; None where it knows none of this name.

    Raises:
        CloudError: the service refuses to tell.
    """
    try:
        found = clients.get("sagemaker").describe_training_job(TrainingJobName=name)
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        if failure.kind is FailureKind.MISSING:
            return None
        raise CloudError(f"controller {name} could not be looked up", failure) from error
    return ShownController(name, str(found["TrainingJobStatus"]), str(found.get("FailureReason", "")), found)


def tags_of(clients: Clients, arn: str) -> list[dict[str, str]]:
    """Return the tags of a job.

    Raises:
        CloudError: the service refuses to tell.
    """
    try:
        found = clients.get("sagemaker").list_tags(ResourceArn=arn)["Tags"]
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        raise CloudError("the tags of a controller could not be looked up", failure) from error
    return [{"Key": str(one["Key"]), "Value": str(one["Value"])} for one in found]


def _may_have_been_made(failure: CallFailure) -> bool:
    return failure.kind in (FailureKind.UNREACHABLE, FailureKind.SERVICE)
