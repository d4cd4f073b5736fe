"""Training jobs that SageMaker already knows, by their names: what it says of them, and what the reporter left in their logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.common.aws_client import make_client
from backends.failures import Cause
from backends.past_jobs import PastJob
from backends.sagemaker.jobs.outcome import failure, stage_seconds
from backends.sagemaker.logs.parser import PATTERN, JobLog
from backends.sagemaker.logs.window import job_request
from definitions.errors import EXIT_CLOUD, UserError

_OWN_ARGUMENTS = ("sagemaker_", "outrider_")
"""How hyperparameters begin that SageMaker's containers and Outrider add to the script's."""


class TrainingJobError(UserError):
    """SageMaker does not give a training job's description."""

    exit_code = EXIT_CLOUD


def read_past_jobs(names: Sequence[str], region: str, client: Any = None, logs: Any = None) -> list[PastJob]:
    """Return training jobs; where a script used the reporter, with what its log has of it.

    Args:
        names: of the training jobs.
        region: where they ran.
        client: of SageMaker; made where None.
        logs: client of CloudWatch Logs; made where `client` is None, and without it logs are not read.

    Raises:
        UserError: boto3 is missing, or a job is unknown.
    """
    if client is None:
        client, logs = make_client("sagemaker", region=region), make_client("logs", region=region)
    described = []
    for name in names:
        try:
            described.append(client.describe_training_job(TrainingJobName=name))
        except Exception as error:  # botocore makes its error classes at run time
            raise TrainingJobError(f"training job {name} in {region}", str(error), "check name, region and credentials") from error
    return [past_job(job, *(({}, {}) if logs is None else _reported(logs, job["TrainingJobName"]))) for job in described]


def past_job(described: Mapping[str, Any], usage: Mapping[str, Any], metrics: Mapping[str, Any]) -> PastJob:
    """Return a job from DescribeTrainingJob's answer and what its reporter measured."""
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
        # The reason quotes the last lines of the script's log.
        reason = str(described.get("FailureReason", ""))
        return Cause.OUT_OF_MEMORY.value if failure(reason, None, (reason,))[0] is Cause.OUT_OF_MEMORY else status
    lives = sum(step["Status"] == "Training" for step in described.get("SecondaryStatusTransitions") or ())
    if status == "completed" and (lives > 1 or stage_seconds(described).get("Interrupted")):
        return "interrupted"
    return status
