"""Training jobs that SageMaker already knows, by their names: what it says of them, and what the reporter left in their logs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from backends.common.aws_client import make_client
from backends.failures import Cause
from backends.past_jobs import FractionSource, PastJob
from backends.sagemaker.admin.past_data import PastData
from backends.sagemaker.admin.system_profile import cloudwatch_usage, profiled_usage
from backends.sagemaker.aws.errors import masked
from backends.sagemaker.jobs.outcome import failure, stage_seconds
from backends.sagemaker.logs.parser import PATTERN, JobLog
from backends.sagemaker.logs.window import job_request
from definitions.errors import EXIT_CLOUD, UserError
from definitions.instances import instance_facts

BY_ARGUMENT = FractionSource("hyperparameter", "fraction")
"""The share is an argument of the script's, `fraction`."""

_OWN_ARGUMENTS = ("sagemaker_", "outrider_")
"""How hyperparameters begin that SageMaker's containers and Outrider add to the script's."""


class TrainingJobError(UserError):
    """SageMaker does not give a training job's description."""

    exit_code = EXIT_CLOUD


def read_past_jobs(
    names: Sequence[str], region: str, fraction: FractionSource = BY_ARGUMENT, clients: Callable[[str], Any] | None = None
) -> list[PastJob]:
    """Return training jobs, with what their logs have of the reporter; of a job without one, with what the service measured of it.

    Args:
        names: of the training jobs.
        region: where they ran.
        fraction: how their shares of the data are found.
        clients: returns a client of a service by its name, e.g. `logs`; by default one of boto3's.

    Raises:
        UserError: boto3 is missing, a job is unknown, or its share of the data cannot be told.
    """
    get = cache(clients or partial(make_client, region=region))
    data = PastData(lambda: get("s3"), fraction.whole)
    described = []
    for name in names:
        try:
            described.append(get("sagemaker").describe_training_job(TrainingJobName=name))
        except UserError:
            raise
        except Exception as error:  # botocore makes its error classes at run time
            advice = "check name, region and credentials"
            raise TrainingJobError(masked(f"training job {name} in {region}"), masked(str(error)), advice) from error
    found = []
    for job in described:
        usage, metrics = _reported(get("logs"), job["TrainingJobName"])
        share = None if fraction.kind == "hyperparameter" else data.fraction(job, fraction)
        found.append(past_job(job, usage or _measured(job, get), metrics, share))
    return found


def _measured(described: Mapping[str, Any], get: Callable[[str], Any]) -> dict[str, Any]:
    """Return what the service measured of a job's instances; empty where it did not, or may not be asked."""
    facts = instance_facts(str(described["ResourceConfig"].get("InstanceType", "")))
    with contextlib.suppress(Exception):  # as of logs: it only adds to what is known
        if found := profiled_usage(described, get("s3"), facts):
            return found
    with contextlib.suppress(Exception):
        return cloudwatch_usage(described, get("cloudwatch"), facts)
    return {}


def past_job(described: Mapping[str, Any], usage: Mapping[str, Any], metrics: Mapping[str, Any], fraction: float | None = None) -> PastJob:
    """Return a job from DescribeTrainingJob's answer, what was measured of it, and its share of the data."""
    resources = described["ResourceConfig"]
    given = {key: str(value).strip('"') for key, value in (described.get("HyperParameters") or {}).items()}
    total_s, billable_s = described.get("TrainingTimeInSeconds"), described.get("BillableTimeInSeconds")
    # A spot job's bill is a share of its time, which says nothing of what is billed besides.
    if described.get("EnableManagedSpotTraining"):
        billable_s = None
    return PastJob(
        described["TrainingJobName"],
        _status(described),
        resources["InstanceType"],
        resources["InstanceCount"],
        {key: value for key, value in given.items() if not key.startswith(_OWN_ARGUMENTS)},
        None if total_s is None else float(total_s),
        stage_seconds(described).get("Training"),
        None if billable_s is None else float(billable_s),
        usage,
        metrics,
        fraction,
    )


def _reported(logs: Any, name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return a job's totals and last metrics, by its log; empty where there is none, or it may not be read."""
    log = JobLog()
    last: dict[str, Any] = {}
    try:
        token = ""
        while True:
            page = logs.filter_log_events(**job_request(name, token, PATTERN))
            for event in page["events"]:
                for report in log.feed(event):
                    last.update(report.metrics)
            token = page.get("nextToken") or ""
            if not token:
                break
    except Exception:  # noqa: BLE001 - botocore makes its error classes at run time; a log only adds to what is known
        return {}, {}
    return log.usage(), last


def _status(described: Mapping[str, Any]) -> str:
    """Return whether a job was completed in one go, ran out of memory, or why it says nothing of the full job."""
    status = str(described["TrainingJobStatus"]).lower()
    if status == "failed":
        return Cause.OUT_OF_MEMORY.value if failure(str(described.get("FailureReason", "")), None, ())[0] is Cause.OUT_OF_MEMORY else status
    lives = sum(step["Status"] == "Training" for step in described.get("SecondaryStatusTransitions") or ())
    if status == "completed" and (lives > 1 or stage_seconds(described).get("Interrupted")):
        return "interrupted"
    return status
