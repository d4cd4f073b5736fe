"""Canaries from training jobs that SageMaker already knows, by their names. Used by `outrider forecast JOB ...`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.canary.ladder import label, varying_keys
from benchmarking.canary.table import COMPLETED, OUT_OF_MEMORY, Canary, CanaryTable, checked
from definitions.errors import EXIT_CLOUD, UserError

_MEMORY_MARKS = ("MemoryError", "out of memory", "OutOfMemory", "exit code 137", "std::bad_alloc")


class TrainingJobError(UserError):
    """SageMaker does not give a training job's description."""

    exit_code = EXIT_CLOUD


def read_training_jobs(names: Sequence[str], region: str, fraction_argument: str, client: Any = None) -> CanaryTable:
    """Return training jobs as canaries: their times, instances, and the fraction that one of their hyperparameters holds.

    Args:
        names: of the training jobs.
        region: where they ran.
        fraction_argument: hyperparameter that holds the fraction.
        client: of SageMaker; made where None.

    Raises:
        UserError: boto3 is missing, a job is unknown, or has no such hyperparameter.
    """
    if client is None:
        try:
            import boto3
        except ImportError as error:
            raise UserError("training jobs by name need boto3", "it is not installed", "pip install boto3") from error
        client = boto3.client("sagemaker", region_name=region)
    described = []
    for name in names:
        try:
            described.append(client.describe_training_job(TrainingJobName=name))
        except Exception as error:  # botocore makes its error classes at run time
            raise TrainingJobError(f"training job {name} in {region}", str(error), "check name, region and credentials") from error
    return canaries_of_jobs(described, fraction_argument)


def canaries_of_jobs(described: Sequence[Mapping[str, Any]], fraction_argument: str) -> CanaryTable:
    """Return described training jobs as canaries; those that differ only in fraction are one configuration.

    Start-up is the time between the start of the instance and that of the script, billed as it is.
    """
    settings = [_settings(job, fraction_argument) for job in described]
    keys = varying_keys([configuration for configuration, _ in settings])
    repeats: dict[tuple[str, float], int] = {}
    canaries = []
    for job, (configuration, fraction) in zip(described, settings, strict=True):
        name = label(configuration, keys or ["instance_type"])
        repeat = repeats.get((name, fraction), 0)
        repeats[name, fraction] = repeat + 1
        canaries.append(_canary(job, name, fraction, repeat))
    return checked(canaries)


def _settings(job: Mapping[str, Any], fraction_argument: str) -> tuple[dict[str, Any], float]:
    given = {key: str(value).strip('"') for key, value in (job.get("HyperParameters") or {}).items()}
    try:
        fraction = float(given.pop(fraction_argument))
    except (KeyError, ValueError):
        advice = "name the hyperparameter that holds it with --fraction_argument"
        raise UserError(
            f"training job {job['TrainingJobName']}: no fraction", f"hyperparameters: {', '.join(given) or 'none'}", advice
        ) from None
    if not 0 < fraction <= 1:
        raise UserError(f"training job {job['TrainingJobName']}: {fraction_argument} = {fraction:g}", "a fraction is above 0 and at most 1")
    resources = job["ResourceConfig"]
    hidden = ("sagemaker_", "outrider_")
    configuration = {key: value for key, value in given.items() if not key.startswith(hidden)}
    return {"instance_type": resources["InstanceType"], "instance_count": resources["InstanceCount"], **configuration}, fraction


def _canary(job: Mapping[str, Any], name: str, fraction: float, repeat: int) -> Canary:
    status = {"Completed": COMPLETED}.get(job["TrainingJobStatus"], job["TrainingJobStatus"].lower())
    if status == "failed" and any(mark in job.get("FailureReason", "") for mark in _MEMORY_MARKS):
        status = OUT_OF_MEMORY
    spans: dict[str, float] = {}
    for entry in job.get("SecondaryStatusTransitions") or ():
        if entry.get("EndTime") is not None:
            spans[entry["Status"]] = spans.get(entry["Status"], 0.0) + (entry["EndTime"] - entry["StartTime"]).total_seconds()
    if spans.get("Interrupted") or len([e for e in job.get("SecondaryStatusTransitions") or () if e["Status"] == "Training"]) > 1:
        status = "interrupted" if status == COMPLETED else status
    total_s = job.get("TrainingTimeInSeconds")
    train_s = spans.get("Training")
    return Canary(
        name,
        fraction,
        repeat,
        startup_s=max(0.0, total_s - train_s) if total_s is not None and train_s is not None else None,
        train_s=train_s,
        total_s=None if total_s is None else float(total_s),
        status=status,
        instance_type=job["ResourceConfig"]["InstanceType"],
        instance_count=job["ResourceConfig"]["InstanceCount"],
        about={"job": job["TrainingJobName"]},
    )
