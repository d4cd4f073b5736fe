"""Experiments, trials and components as Describe, List and Search show them. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from backends.emulator.core.settings import Settings
from backends.emulator.experiments.store import Entity

NAMES = {"experiment": "Experiment", "trial": "Trial", "component": "TrialComponent"}
_ARNS = {"experiment": "experiment", "trial": "experiment-trial", "component": "experiment-trial-component"}
_OF_JOB = {"InProgress": "InProgress", "Stopping": "Stopping", "Completed": "Completed", "Failed": "Failed", "Stopped": "Stopped"}


def arn(entity: Entity, settings: Settings) -> str:
    """Return the ARN of one."""
    return f"arn:aws:sagemaker:{settings.region}:{settings.account}:{_ARNS[entity.kind]}/{entity.name.lower()}"


def shown(entity: Entity, settings: Settings, job: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what Describe answers; of a component that was made for a training job what nobody set is that job's.

    Args:
        entity: to be shown.
        settings: of the emulator.
        job: as DescribeTrainingJob shows it; None for none.
    """
    kind = NAMES[entity.kind]
    found: dict[str, Any] = {
        f"{kind}Name": entity.name,
        f"{kind}Arn": arn(entity, settings),
        "DisplayName": entity.request.get("DisplayName", entity.name),
        "CreationTime": entity.created_at,
        "LastModifiedTime": entity.modified_at,
    }
    if entity.kind == "trial":
        found["ExperimentName"] = entity.parents[0]
    if entity.kind == "experiment" and "Description" in entity.request:
        found["Description"] = entity.request["Description"]
    if entity.kind != "component":
        return found
    if job is not None:
        found["Source"] = {"SourceArn": job["TrainingJobArn"], "SourceType": "SageMakerTrainingJob"}
        found["Status"] = {"PrimaryStatus": _OF_JOB[job["TrainingJobStatus"]]}
        found |= {ours: job[name] for ours, name in (("StartTime", "TrainingStartTime"), ("EndTime", "TrainingEndTime")) if name in job}
        hyper = {name: {"StringValue": value} for name, value in job.get("HyperParameters", {}).items()}
        instance = {"SageMaker.InstanceType": {"StringValue": job["ResourceConfig"].get("InstanceType", "")}}
        found["Parameters"] = {**hyper, **instance}
    parameters = {**found.get("Parameters", {}), **entity.request.get("Parameters", {})}
    found |= {
        name: entity.request[name]
        for name in ("Status", "StartTime", "EndTime", "InputArtifacts", "OutputArtifacts")
        if name in entity.request
    }
    if parameters:
        found["Parameters"] = parameters
    if entity.metrics:
        found["Metrics"] = [_metric(name, values, found["TrialComponentArn"]) for name, values in sorted(entity.metrics.items())]
    return found


def _metric(name: str, values: Sequence[tuple[int, float, float]], source: str) -> dict[str, Any]:
    numbers = [value for *_, value in values]
    mean = math.fsum(numbers) / len(numbers)
    return {
        "MetricName": name,
        "SourceArn": source,
        "TimeStamp": values[-1][1],
        "Max": max(numbers),
        "Min": min(numbers),
        "Last": numbers[-1],
        "Count": len(numbers),
        "Avg": mean,
        "StdDev": math.sqrt(math.fsum((one - mean) ** 2 for one in numbers) / len(numbers)),
    }
