"""A training job as the emulator keeps it, and as Describe, List and Search show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from backends.emulator.core import lifecycle
from backends.emulator.core.lifecycle import Lifecycle
from backends.emulator.core.settings import Settings

_DEFAULT_GROUP = "homogeneousCluster"
_ECHOED_NOT = ("TrainingJobName", "Tags", "SessionChainingConfig")


class Instance(NamedTuple):
    """One instance of a job: its host name, e.g. `algo-1`, its type, and the instance group that it belongs to."""

    host: str
    instance_type: str
    group: str


@dataclass
class Job:
    """One job.

    Args:
        number: counts jobs in the order of their creation.
        request: CreateTrainingJob's; `tags`: by key.
        life: its statuses; `incarnation`: how many lives of the script came before this one; `attempts_left`: of the retry strategy.
        instance_type, instance_count: what it got.
        artifacts: URI of its model; `metrics`: last value and time by name; `warm`: its WarmPoolStatus.
        chain_since: when the instances that it got from a warm pool were first had.
        streams: names of its log streams, in the order of their beginning.
    """

    name: str
    number: int
    request: dict[str, Any]
    tags: dict[str, str]
    life: Lifecycle
    instance_type: str = ""
    instance_count: int = 1
    incarnation: int = 0
    attempts_left: int = 0
    artifacts: str = ""
    metrics: dict[str, tuple[float, float]] = field(default_factory=dict)
    warm: dict[str, Any] | None = None
    chain_since: float | None = None
    streams: list[str] = field(default_factory=list)

    @property
    def spot(self) -> bool:
        """Whether it runs on managed spot."""
        return bool(self.request.get("EnableManagedSpotTraining", False))

    @property
    def keep_alive_s(self) -> int:
        """How long its instances are to be kept."""
        return int(self.request.get("ResourceConfig", {}).get("KeepAlivePeriodInSeconds", 0))

    @property
    def instances(self) -> list[Instance]:
        """Its instances, in the order of their host names' numbers."""
        groups = self.request.get("ResourceConfig", {}).get("InstanceGroups") or [
            {"InstanceType": self.instance_type, "InstanceCount": self.instance_count, "InstanceGroupName": _DEFAULT_GROUP}
        ]
        found: list[Instance] = []
        for group in groups:
            for _ in range(group["InstanceCount"]):
                found.append(Instance(f"algo-{len(found) + 1}", group["InstanceType"], group["InstanceGroupName"]))
        return found

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` makes the same job of."""
        return {**vars(self), "life": lifecycle.to_json(self.life)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Job:
        """Return the job that `to_json` gave, also that of an earlier version, which had fewer fields or others; raises `KeyError`."""
        needed = {"name": data["name"], "number": data["number"], "request": data["request"], "tags": data["tags"]}
        known = {one.name: data[one.name] for one in fields(Job) if one.name in data and one.name not in needed}
        metrics = {name: (value, at) for name, (value, at) in data.get("metrics", {}).items()}
        return Job(**needed, **{**known, "life": lifecycle.from_json(data["life"]), "metrics": metrics})


def describe(job: Job, settings: Settings, ahead_s: float = 0.0) -> dict[str, Any]:
    """Return DescribeTrainingJob's answer; all times `ahead_s` seconds later than the emulator's clock has them."""
    life = job.life
    found = {name: value for name, value in job.request.items() if name not in _ECHOED_NOT}
    found.update(
        TrainingJobName=job.name,
        TrainingJobArn=settings.arn(job.name),
        TrainingJobStatus=life.status,
        SecondaryStatus=life.secondary,
        SecondaryStatusTransitions=[_transition(step, ahead_s) for step in life.transitions],
        ModelArtifacts={"S3ModelArtifacts": job.artifacts},
    )
    # The SDK's Estimator.attach reads it of every job.
    found["OutputDataConfig"] = {"KmsKeyId": "", **found.get("OutputDataConfig", {})}
    if found.get("InputDataConfig"):
        usual = {"CompressionType": "None", "RecordWrapperType": "None"}
        found["InputDataConfig"] = [{**usual, **channel} for channel in found["InputDataConfig"]]
    for flag in ("EnableNetworkIsolation", "EnableInterContainerTrafficEncryption", "EnableManagedSpotTraining"):
        found.setdefault(flag, False)
    found["StoppingCondition"] = {"MaxRuntimeInSeconds": 86400, **found.get("StoppingCondition", {})}
    found["AlgorithmSpecification"] = {
        "EnableSageMakerMetricsTimeSeries": bool(job.request.get("AlgorithmSpecification", {}).get("MetricDefinitions")),
        **found.get("AlgorithmSpecification", {}),
    }
    if "InstancePreferences" in found.get("ResourceConfig", {}):
        selected = {"SelectedInstanceType": job.instance_type, "SelectedInstanceCount": job.instance_count}
        found["ResourceConfig"] = {**found["ResourceConfig"], **selected}
    profiler = job.request.get("ProfilerConfig")
    if profiler is not None:
        found["ProfilingStatus"] = "Disabled" if profiler.get("DisableProfiler") else "Enabled"
    times = lifecycle.times(life, settings.spot_billed_fraction if job.spot else 1.0)
    found.update({name: value + ahead_s if name.endswith("Time") else value for name, value in times.items()})
    if life.status == "Failed":
        found["FailureReason"] = life.reason
    if job.metrics:
        found["FinalMetricDataList"] = [
            {"MetricName": name, "Value": value, "Timestamp": int(at + ahead_s)} for name, (value, at) in sorted(job.metrics.items())
        ]
    if job.warm is not None:
        found["WarmPoolStatus"] = job.warm
    return found


def summary(job: Job, settings: Settings, ahead_s: float = 0.0) -> dict[str, Any]:
    """Return what ListTrainingJobs shows of a job."""
    life = job.life
    found: dict[str, Any] = {
        "TrainingJobName": job.name,
        "TrainingJobArn": settings.arn(job.name),
        "CreationTime": life.created_at + ahead_s,
        "LastModifiedTime": life.modified_at + ahead_s,
        "TrainingJobStatus": life.status,
        "SecondaryStatus": life.secondary,
    }
    if life.ended_at is not None:
        found["TrainingEndTime"] = life.ended_at + ahead_s
    if job.warm is not None:
        found["WarmPoolStatus"] = job.warm
    plan = job.request.get("ResourceConfig", {}).get("TrainingPlanArn")
    if plan:
        found["TrainingPlanArn"] = plan
    return found


def _transition(step: lifecycle.Transition, ahead_s: float) -> dict[str, Any]:
    found = {"Status": step.status, "StartTime": step.start + ahead_s, "StatusMessage": step.message}
    if step.end is not None:
        found["EndTime"] = step.end + ahead_s
    return found
