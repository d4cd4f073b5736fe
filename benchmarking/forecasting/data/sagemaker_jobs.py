"""Canaries from training jobs that SageMaker already knows, by their names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from backends.common.aws_client import make_client
from backends.failures import Cause
from backends.sagemaker.jobs.outcome import failure, stage_seconds
from backends.sagemaker.logs.parser import PATTERN, JobLog
from backends.sagemaker.logs.window import job_request
from benchmarking.analysis.measurements import measurements
from benchmarking.forecasting.data.canary import COMPLETED, OUT_OF_MEMORY, Canary, CanaryTable, canary_from, checked
from benchmarking.report.labels import label, varying_keys
from definitions.errors import EXIT_CLOUD, UserError


class TrainingJobError(UserError):
    """SageMaker does not give a training job's description."""

    exit_code = EXIT_CLOUD


_ROUNDING_S = 1.5
"""SageMaker tells times in whole seconds, the reporter does not."""


def read_training_jobs(names: Sequence[str], region: str, fraction_argument: str, client: Any = None, logs: Any = None) -> CanaryTable:
    """Return training jobs as canaries: their times, instances, and the fraction that one of their hyperparameters holds.

    Where a script used the reporter, phases, steps and what was sampled come from its log.

    Args:
        names: of the training jobs.
        region: where they ran.
        fraction_argument: hyperparameter that holds the fraction.
        client: of SageMaker; made where None.
        logs: client of CloudWatch Logs; made where `client` is None, and without it logs are not read.

    Raises:
        UserError: boto3 is missing, a job is unknown, or has no such hyperparameter.
    """
    if client is None:
        client, logs = make_client("sagemaker", region=region), make_client("logs", region=region)
    described = []
    for name in names:
        try:
            described.append(client.describe_training_job(TrainingJobName=name))
        except Exception as error:  # botocore makes its error classes at run time
            raise TrainingJobError(f"training job {name} in {region}", str(error), "check name, region and credentials") from error
    reported = {} if logs is None else {name: _reported(logs, name) for name in names}
    return canaries_of_jobs(described, fraction_argument, reported)


def _reported(logs: Any, name: str) -> dict[str, float]:
    """Return what a job's reporter measured, by its log; empty where there is none, or it may not be read."""
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
        return {}
    found = measurements(log.usage(), last, 0.0, 0.0, None)
    return {key: value for key, value in found.items() if key not in ("total_s", "billable_s")}


def canaries_of_jobs(
    described: Sequence[Mapping[str, Any]], fraction_argument: str, reported: Mapping[str, Mapping[str, float]] | None = None
) -> CanaryTable:
    """Return described training jobs as canaries; those that differ only in fraction are one configuration.

    Start-up is the time between the start of the instance and that of the script, billed as it is, and the script's own where it says.
    """
    settings = [_settings(job, fraction_argument) for job in described]
    keys = varying_keys([configuration for configuration, _ in settings])
    repeats: dict[tuple[str, float], int] = {}
    canaries = []
    for job, (configuration, fraction) in zip(described, settings, strict=True):
        name = label(configuration, keys or ["instance_type"])
        repeat = repeats.get((name, fraction), 0)
        repeats[name, fraction] = repeat + 1
        canaries.append(_canary(job, name, fraction, repeat, (reported or {}).get(job["TrainingJobName"], {})))
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


def _status(job: Mapping[str, Any]) -> str:
    """Return whether a job was completed in one go, ran out of memory, or why it says nothing of the full job."""
    status = {"Completed": COMPLETED}.get(job["TrainingJobStatus"], str(job["TrainingJobStatus"]).lower())
    if status == "failed":
        # The reason quotes the last lines of the script's log.
        reason = str(job.get("FailureReason", ""))
        return OUT_OF_MEMORY if failure(reason, None, (reason,))[0] is Cause.OUT_OF_MEMORY else status
    lives = sum(step["Status"] == "Training" for step in job.get("SecondaryStatusTransitions") or ())
    if status == COMPLETED and (lives > 1 or stage_seconds(job).get("Interrupted")):
        return "interrupted"
    return status


def _canary(job: Mapping[str, Any], name: str, fraction: float, repeat: int, reported: Mapping[str, float]) -> Canary:
    status = _status(job)
    spans = stage_seconds(job)
    total_s = job.get("TrainingTimeInSeconds")
    train_s = spans.get("Training")
    # A spot job's bill is a share of its time, which says nothing of what is billed besides.
    billable_s = None if job.get("EnableManagedSpotTraining") else job.get("BillableTimeInSeconds")
    before_s = max(0.0, total_s - train_s) if total_s is not None and train_s is not None else None
    values = {"train_s": train_s, "startup_s": before_s, **reported, "total_s": None if total_s is None else float(total_s)}
    if "train_s" in reported and "startup_s" in reported and before_s is not None:
        values["startup_s"] = before_s + reported["startup_s"]
    elif "train_s" not in reported:
        # Without a timer of the fit phase it is all that the script did.
        values |= {"train_s": train_s, "startup_s": before_s, "load_s": None, "checkpoint_s": None}
    phases_s = math.fsum(value for key in ("startup_s", "load_s", "train_s", "checkpoint_s") if (value := values.get(key)) is not None)
    if total_s is not None and total_s < phases_s < total_s + _ROUNDING_S:
        values["total_s"] = phases_s
    return canary_from(
        name,
        fraction,
        repeat,
        {key: value for key, value in values.items() if value is not None},
        status=status,
        instance_type=job["ResourceConfig"]["InstanceType"],
        instance_count=job["ResourceConfig"]["InstanceCount"],
        about={"job": job["TrainingJobName"], **({} if billable_s is None else {"billable_s": float(billable_s)})},
    )
