"""What CreateTrainingJob refuses beyond its model: rules that the documentation states in prose. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from backends.emulator.http.errors import invalid

MAX_RUNTIME_S = 28 * 86400
_INTERVALS = (100, 200, 500, 1000, 5000, 60000)


def check_create(request: Mapping[str, Any], keep_alive_max_s: int) -> None:
    """Raise a `ValidationException` where a request breaks a documented rule.

    Args:
        request: valid by the model.
        keep_alive_max_s: longest accepted keep-alive period.
    """
    _algorithm(request)
    _resources(request, keep_alive_max_s)
    _stopping(request)
    _channels(request)
    _rest(request)


def _algorithm(request: Mapping[str, Any]) -> None:
    if "AlgorithmSpecification" not in request:
        raise invalid("AlgorithmSpecification is required unless ServerlessJobConfig is given")
    algorithm = request["AlgorithmSpecification"]
    image, name = algorithm.get("TrainingImage"), algorithm.get("AlgorithmName")
    if bool(image) == bool(name):
        raise invalid("You must provide exactly one of TrainingImage and AlgorithmName")
    for metric in algorithm.get("MetricDefinitions", []):
        try:
            re.compile(metric["Regex"])
        except re.error as error:
            raise invalid(f"Invalid MetricDefinition regex {metric['Regex']!r}: {error}") from None
    names = [metric["Name"] for metric in algorithm.get("MetricDefinitions", [])]
    if len(set(names)) < len(names):
        raise invalid("MetricDefinitions must have unique names")


def _resources(request: Mapping[str, Any], keep_alive_max_s: int) -> None:
    resources = request.get("ResourceConfig", {})
    preferences, groups = resources.get("InstancePreferences"), resources.get("InstanceGroups")
    spot = request.get("EnableManagedSpotTraining", False)
    if preferences:
        if any(key in resources for key in ("InstanceType", "InstanceGroups", "InstancePlacementConfig")) or spot:
            raise invalid(
                "InstancePreferences cannot be used with InstanceType, InstanceGroups, InstancePlacementConfig or managed spot training"
            )
        if len({one["InstanceType"] for one in preferences}) < len(preferences):
            raise invalid("InstancePreferences must name different instance types")
    elif groups:
        if "InstanceType" in resources or "InstanceCount" in resources:
            raise invalid("InstanceGroups cannot be used with InstanceType and InstanceCount")
    elif "InstanceType" not in resources or resources.get("InstanceCount", 0) < 1:
        raise invalid("ResourceConfig needs InstanceType and an InstanceCount of at least 1")
    if not groups and "VolumeSizeInGB" in resources and resources["VolumeSizeInGB"] < 1:
        raise invalid("VolumeSizeInGB must be at least 1")
    keep_alive_s = resources.get("KeepAlivePeriodInSeconds", 0)
    if keep_alive_s > keep_alive_max_s:
        raise invalid(f"KeepAlivePeriodInSeconds must be at most {keep_alive_max_s}")
    if keep_alive_s and spot:
        raise invalid("KeepAlivePeriodInSeconds cannot be used with managed spot training")
    if keep_alive_s and groups:
        raise invalid("KeepAlivePeriodInSeconds cannot be used with InstanceGroups")


def _stopping(request: Mapping[str, Any]) -> None:
    stopping = request.get("StoppingCondition")
    if stopping is None:
        raise invalid("StoppingCondition is required")
    spot = request.get("EnableManagedSpotTraining", False)
    run_s, wait_s = stopping.get("MaxRuntimeInSeconds", 86400), stopping.get("MaxWaitTimeInSeconds")
    if run_s > MAX_RUNTIME_S:
        raise invalid(f"MaxRuntimeInSeconds must be at most {MAX_RUNTIME_S}")
    if spot and wait_s is None:
        raise invalid("Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal to MaxRuntimeInSeconds")
    if wait_s is not None and not spot:
        raise invalid("MaxWaitTimeInSeconds cannot be set when EnableManagedSpotTraining is not true")
    if wait_s is not None and wait_s < run_s:
        raise invalid("Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal to MaxRuntimeInSeconds")


def _channels(request: Mapping[str, Any]) -> None:
    channels = request.get("InputDataConfig", [])
    names = [channel["ChannelName"] for channel in channels]
    if len(set(names)) < len(names):
        raise invalid("Channel names must be unique")
    if {".", ".."} & set(names):
        raise invalid("Channel names must not be . or .., which are names of other folders")
    for channel in channels:
        source = channel["DataSource"]
        if len([kind for kind in source if source[kind]]) != 1:
            raise invalid(f"Channel {channel['ChannelName']}: DataSource needs exactly one of its members")
        mode = channel.get("InputMode") or request["AlgorithmSpecification"]["TrainingInputMode"]
        s3 = source.get("S3DataSource", {})
        if mode == "FastFile" and s3 and s3["S3DataType"] == "AugmentedManifestFile":
            raise invalid("AugmentedManifestFile is not supported in FastFile mode")
        if s3.get("S3DataType") == "AugmentedManifestFile" and not s3.get("AttributeNames"):
            raise invalid("AttributeNames is required for AugmentedManifestFile")
        if mode == "FastFile" and channel.get("CompressionType", "None") != "None":
            raise invalid("CompressionType is supported in Pipe mode only")


def _rest(request: Mapping[str, Any]) -> None:
    keys = [tag["Key"] for tag in request.get("Tags", [])]
    if len(set(keys)) < len(keys):
        raise invalid("Duplicate tag keys")
    if any(key.lower().startswith("aws:") for key in keys):
        raise invalid("Tag keys that start with aws: are reserved")
    check_profiler(request.get("ProfilerConfig", {}))
    path = request.get("CheckpointConfig", {}).get("LocalPath", "")
    if path and not path.startswith("/"):
        raise invalid("CheckpointConfig.LocalPath must be an absolute path")


def check_profiler(config: Mapping[str, Any]) -> None:
    """Raise a `ValidationException` where a profiler configuration breaks a documented rule."""
    interval = config.get("ProfilingIntervalInMilliseconds")
    if interval is not None and interval not in _INTERVALS:
        raise invalid(f"ProfilingIntervalInMilliseconds must be one of {', '.join(map(str, _INTERVALS))}")
