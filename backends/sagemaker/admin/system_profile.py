"""What SageMaker itself measured of a job's instances, by the profiler's files or CloudWatch, in the words of the reporter's usage."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from backends.sagemaker.aws.s3 import split_uri
from definitions.instance_tables import InstanceFacts

_NAMESPACE = "/aws/sagemaker/TrainingJobs"
_METRICS = ("CPUUtilization", "MemoryUtilization", "GPUUtilization", "GPUMemoryUtilization")
_PERIOD_S = 60
_MOST_POINTS = 1440
_P99 = 0.99


def profiled_usage(described: Mapping[str, Any], s3: Any, facts: InstanceFacts | None) -> dict[str, Any]:
    """Return what the profiler's files say of a job; empty where it had no profiler, or they are gone.

    Args:
        described: DescribeTrainingJob's answer.
        s3: client of S3.
        facts: of its instance type.
    """
    uri = (described.get("ProfilerConfig") or {}).get("S3OutputPath")
    if not uri:
        return {}
    bucket, prefix = split_uri(uri)
    folder = "/".join(part for part in (prefix.rstrip("/"), described["TrainingJobName"], "profiler-output/system/incremental/") if part)
    lines: list[str] = []
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=folder):
        for one in page.get("Contents", ()):
            if one["Key"].endswith(".json"):
                lines += s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read().decode("utf-8", "replace").splitlines()
    return usage_of_samples(samples_of(lines), facts)


def samples_of(lines: Iterable[str]) -> dict[str, list[float]]:
    """Return the profiler's samples in percent by kind: each instance's mean over its cores, or devices, at each moment.

    Args:
        lines: of its files, each a JSON object with `Type`, `Dimension`, `Value`, `NodeId`, `Timestamp` and perhaps `Name`.
    """
    moments: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for line in lines:
        try:
            event = json.loads(line)
            kind = "MemoryUtilization" if event["Type"] == "memory" else str(event["Dimension"])
            if kind in (*_METRICS, "I/OWaitPercentage") and math.isfinite(value := float(event["Value"])):
                moments[kind, str(event.get("NodeId", "")), float(event["Timestamp"])].append(value)
        except (ValueError, KeyError, TypeError):
            continue
    found: dict[str, list[float]] = defaultdict(list)
    for (kind, _, _), values in sorted(moments.items()):
        found[kind].append(math.fsum(values) / len(values))
    return dict(found)


def cloudwatch_usage(described: Mapping[str, Any], cloudwatch: Any, facts: InstanceFacts | None) -> dict[str, Any]:
    """Return what CloudWatch keeps of a job's instances, by the minute; empty where it keeps nothing.

    Args:
        described: DescribeTrainingJob's answer.
        cloudwatch: client of CloudWatch.
        facts: of its instance type; without it processors and devices cannot be told from their sum.
    """
    begun, over = described.get("TrainingStartTime"), described.get("TrainingEndTime")
    if begun is None or over is None or facts is None:
        return {}
    # An account's service adds up the cores, and the devices.
    parts = {"CPUUtilization": facts.vcpus, "GPUUtilization": facts.gpus or 1, "GPUMemoryUtilization": facts.gpus or 1}
    minutes = max(1, math.ceil((over - begun).total_seconds() / _PERIOD_S / _MOST_POINTS))
    found: dict[str, list[float]] = defaultdict(list)
    for host in range(1, int(described["ResourceConfig"].get("InstanceCount", 1)) + 1):
        for name in _METRICS:
            answer = cloudwatch.get_metric_statistics(
                Namespace=_NAMESPACE,
                MetricName=name,
                Dimensions=[{"Name": "Host", "Value": f"{described['TrainingJobName']}/algo-{host}"}],
                StartTime=begun,
                EndTime=over + timedelta(seconds=_PERIOD_S),
                Period=_PERIOD_S * minutes,
                Statistics=["Maximum" if name in ("MemoryUtilization", "GPUMemoryUtilization") else "Average"],
            )
            found[name] += [
                float(point.get("Maximum", point.get("Average", 0.0))) / parts.get(name, 1) for point in answer.get("Datapoints", ())
            ]
    return usage_of_samples({name: values for name, values in found.items() if values}, facts)


def usage_of_samples(samples: Mapping[str, Sequence[float]], facts: InstanceFacts | None) -> dict[str, Any]:
    """Return samples as the reporter's totals have them, see `backends.events.Closed`.

    Memory is what all of an instance uses, the system included, so that it bounds the script's own from above.

    Args:
        samples: in percent by kind, at even intervals.
        facts: of the instance type, to make bytes of percent; None to leave memory out.
    """
    quantities: dict[str, dict[str, float]] = {}
    for name, kind in (("cpu_percent", "CPUUtilization"), ("gpu_percent", "GPUUtilization"), ("io_wait_percent", "I/OWaitPercentage")):
        if samples.get(kind):
            quantities[name] = _summary(samples[kind])
    found: dict[str, Any] = {}
    memory, gpu_memory = samples.get("MemoryUtilization"), samples.get("GPUMemoryUtilization")
    if memory and facts is not None and facts.memory_bytes:
        found["peak_rss_bytes"] = round(max(memory) / 100 * facts.memory_bytes)
    if gpu_memory and facts is not None and facts.gpu_memory_bytes:
        quantities["gpu_memory_bytes"] = _summary([value / 100 * facts.gpu_memory_bytes * facts.gpus for value in gpu_memory])
    if quantities:
        # How long it was sampled matters only beside other phases, of which there is none.
        found["usage"] = {"all": {"sampled_s": 1.0, **quantities}}
    return found


def _summary(values: Sequence[float]) -> dict[str, float]:
    """Return mean, quantiles and peak of samples; a quantile is the least value that so many samples do not pass."""
    ordered = sorted(values)
    at = {name: ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] for name, share in _QUANTILES.items()}
    return {"mean": math.fsum(ordered) / len(ordered), **at, "peak": ordered[-1]}


_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": _P99}
