"""What a training job that runs a controller can learn of itself: its status, how much of its time is used, how it was asked for."""

from __future__ import annotations

import datetime
import email.utils
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from backends.sagemaker.aws.clients import Clients

T = TypeVar("T")

_ON_INSTANCES = frozenset({"Downloading", "Training", "Uploading", "Stopping"})
"""Secondary statuses in which time counts against MaxRuntimeInSeconds."""


@dataclass(frozen=True)
class OwnJob:
    """A training job as the service describes it.

    Args:
        status: primary status.
        max_run_s: seconds that it may run, over all lives of its program.
        used_s: seconds of those that are used, by the service's clock.
        description: all of it.
    """

    status: str
    max_run_s: float
    used_s: float
    description: Mapping[str, Any]


def own_job(clients: Clients, name: str, attempts: int | None = None) -> OwnJob:
    """Return what the service says of a job.

    Args:
        clients: of AWS.
        name: of the job.
        attempts: times that it is asked at most; None for as often as calls are usually repeated.

    Raises:
        ClientError, BotoCoreError: the service refuses or does not answer.
    """
    answer = clients.get("sagemaker", attempts).describe_training_job(TrainingJobName=name)
    # The instance's clock may be wrong by minutes; the answer says what time it is for the service.
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    try:
        now = email.utils.parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        now = datetime.datetime.now(datetime.UTC)
    limit_s = float(answer["StoppingCondition"]["MaxRuntimeInSeconds"])
    return OwnJob(str(answer["TrainingJobStatus"]), limit_s, used_s(answer.get("SecondaryStatusTransitions", []), now), answer)


def used_s(transitions: list[Mapping[str, Any]], now: datetime.datetime) -> float:
    """Return the seconds that a job has had instances, over all its lives.

    Args:
        transitions: of its secondary status, each with `Status`, `StartTime`, and `EndTime` but for the last.
        now: by the service's clock.
    """
    spans = [(one["StartTime"], one.get("EndTime") or now) for one in transitions if one["Status"] in _ON_INSTANCES]
    return math.fsum(max(0.0, (end - start).total_seconds()) for start, end in spans)


def service(environ: Mapping[str, str]) -> Any:
    """Return a client of the service that a job runs on.

    Args:
        environ: of the job.
    """
    return Clients(None, environ).get("sagemaker")


def status_within(clients: Clients, name: str, timeout_s: float) -> str | None:
    """Return a job's status; None where the service refuses, or does not answer within so many seconds."""
    return answer_within(lambda: own_job(clients, name, attempts=1).status, timeout_s)


def answer_within(ask: Callable[[], T], timeout_s: float) -> T | None:
    """Return what a call answers; None where it raises, or does not return within so many seconds."""
    found: list[T] = []

    def call() -> None:
        try:
            found.append(ask())
        except Exception:  # noqa: BLE001 (whatever it is, it is no answer)
            return

    # A thread of its own, which is left behind: a connection that hangs cannot be called off.
    thread = threading.Thread(target=call, name="own-status", daemon=True)
    thread.start()
    thread.join(timeout_s)
    return found[0] if found else None
