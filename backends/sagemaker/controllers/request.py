"""The CreateTrainingJob request of a controller, whole. Pure."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from backends.naming import TAG_KEY, tag_mark
from backends.sagemaker.block import allowed
from backends.sagemaker.controllers.options import ControllerOptions
from backends.sagemaker.jobs.request import ENTRYPOINT, MAX_RUN_S, SPOT_WAIT_S
from definitions.remote import RemoteOptions

CONTROLLER_KEY = "outrider:controller"
"""Key of the tag by which a job says that it is a controller, and which; trials have none."""
GENERATION_KEY = "outrider:generation"
ENTRY = "launch/remote/entry.py"
"""What runs in the job, relative to the packed project."""
_RETRIES = 30
_CODE = "code"


def controller_name(tag: str, nonce: str, index: int, generation: int) -> str:
    """Return the name of a controller's job: the same for the same words, so that a call which was not answered can be repeated.

    Args:
        tag: of the run.
        nonce: of the launch, which tells two runs of one tag apart.
        index: of the controller, from 1.
        generation: from 1.
    """
    return f"{controller_prefix(tag)}{hashlib.sha256(f'{nonce}-{index}'.encode()).hexdigest()[:8]}-g{generation}"


def controller_prefix(tag: str) -> str:
    """Return the beginning of the names of all controllers of a tag, which no trial's job has."""
    return f"ctl-{tag_mark(tag)}-"


def controller_arguments(uri: str, index: int, generation: int) -> list[str]:
    """Return the arguments of the job: the entry, the run's place in S3, which controller and which generation of it."""
    return [ENTRY, uri, "--controller", str(index), "--generation", str(generation)]


def controller_request(
    options: ControllerOptions, tag: str, nonce: str, index: int, generation: int, run_uri: str, code_uri: str
) -> dict[str, Any]:
    """Return the request that creates a generation of a controller.

    Args:
        options: of all of them.
        tag: of the run.
        nonce: of the launch.
        index: of the controller, from 1.
        generation: from 1.
        run_uri: `s3://bucket/prefix/runs/tag`.
        code_uri: `s3://` folder with the packed project.
    """
    root = run_uri.removesuffix(f"/runs/{tag}")
    request: dict[str, Any] = {
        "TrainingJobName": controller_name(tag, nonce, index, generation),
        "RoleArn": options.role,
        "AlgorithmSpecification": {
            "TrainingImage": options.image,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": list(ENTRYPOINT),
            "ContainerArguments": controller_arguments(run_uri, index, generation),
        },
        "InputDataConfig": [_code(code_uri)],
        "Environment": {"PYTHONUNBUFFERED": "1", **options.environment},
        "OutputDataConfig": {"S3OutputPath": f"{root}/output/{tag}/controllers"},
        "CheckpointConfig": {"S3Uri": f"{root}/checkpoints/{tag}/controller-{index}"},
        "ResourceConfig": {"InstanceType": options.instance_type, "InstanceCount": 1, "VolumeSizeInGB": options.volume_gb},
        "StoppingCondition": _stopping(options),
        "EnableManagedSpotTraining": options.spot,
        "RetryStrategy": {"MaximumRetryAttempts": _RETRIES},
        "ProfilerConfig": {"DisableProfiler": True},
        "Tags": controller_tags(tag, index, generation, options.tags),
    }
    if options.metrics:
        request["AlgorithmSpecification"]["MetricDefinitions"] = _shown(options.metrics)
    return {**request, **_network(options)}


def controller_tags(tag: str, index: int, generation: int, given: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the tags of a controller's job, with characters that AWS does not take replaced by `_`."""
    own = {TAG_KEY: tag, CONTROLLER_KEY: str(index), GENERATION_KEY: str(generation)}
    return [{"Key": allowed(key), "Value": allowed(value)} for key, value in {**given, **own}.items()]


def successor_request(
    description: Mapping[str, Any],
    tags: Sequence[Mapping[str, str]],
    name: str,
    index: int,
    generation: int,
    code_uri: str = "",
    metrics: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the request that creates the next generation of a controller, in all else as the one before was created.

    Args:
        description: of that one, as DescribeTrainingJob answers.
        tags: of that one, as ListTags answers.
        name: of the new job.
        index: of the controller.
        generation: the new one.
        code_uri: `s3://` folder with the packed project; empty for that of the one before.
        metrics: name -> regular expression of what the console shows; None for those of the one before.
    """
    algorithm = description["AlgorithmSpecification"]
    request: dict[str, Any] = {
        "TrainingJobName": name,
        "RoleArn": description["RoleArn"],
        "AlgorithmSpecification": {
            "TrainingImage": algorithm["TrainingImage"],
            "TrainingInputMode": algorithm.get("TrainingInputMode", "File"),
            "ContainerEntrypoint": list(algorithm["ContainerEntrypoint"]),
            "ContainerArguments": controller_arguments(algorithm["ContainerArguments"][1], index, generation),
        },
        "EnableManagedSpotTraining": bool(description.get("EnableManagedSpotTraining")),
        "RetryStrategy": {"MaximumRetryAttempts": _RETRIES},
        "ProfilerConfig": {"DisableProfiler": True},
        "Tags": [dict(one) for one in tags if one["Key"] != GENERATION_KEY] + [{"Key": GENERATION_KEY, "Value": str(generation)}],
    }
    shown = algorithm.get("MetricDefinitions") if metrics is None else _shown(metrics)
    if shown:
        request["AlgorithmSpecification"]["MetricDefinitions"] = shown
    for key in (
        *("InputDataConfig", "Environment", "OutputDataConfig", "CheckpointConfig", "ResourceConfig", "StoppingCondition", "VpcConfig"),
    ):
        if description.get(key):
            request[key] = description[key]
    if code_uri:
        others = [one for one in request.get("InputDataConfig", ()) if one["ChannelName"] != _CODE]
        request["InputDataConfig"] = [_code(code_uri), *others]
    return request


def as_asked(request: Mapping[str, Any]) -> RemoteOptions:
    """Return the options that a controller's request amounts to, as far as its job says them."""
    resources, network = request["ResourceConfig"], request.get("VpcConfig", {})
    return RemoteOptions(
        role=request["RoleArn"],
        image=request["AlgorithmSpecification"]["TrainingImage"],
        instance_type=resources["InstanceType"],
        volume_gb=resources["VolumeSizeInGB"],
        max_run=float(request["StoppingCondition"]["MaxRuntimeInSeconds"]),
        spot=bool(request.get("EnableManagedSpotTraining")),
        subnets=tuple(network["Subnets"]) if network else None,
        security_groups=tuple(network["SecurityGroupIds"]) if network else None,
    )


def with_options(request: Mapping[str, Any], options: ControllerOptions) -> dict[str, Any]:
    """Return a controller's request with other options; tags that they name come beside those that it has, or in place of them."""
    tags = {allowed(key): allowed(value) for key, value in options.tags.items()}
    own = (TAG_KEY, CONTROLLER_KEY, GENERATION_KEY)
    found = {
        **request,
        "RoleArn": options.role,
        "AlgorithmSpecification": {**request["AlgorithmSpecification"], "TrainingImage": options.image},
        "ResourceConfig": {**request["ResourceConfig"], "InstanceType": options.instance_type, "VolumeSizeInGB": options.volume_gb},
        "StoppingCondition": _stopping(options),
        "EnableManagedSpotTraining": options.spot,
        "Tags": [one for one in request["Tags"] if one["Key"] in own or one["Key"] not in tags]
        + [{"Key": key, "Value": value} for key, value in tags.items() if key not in own],
    }
    return {**found, **_network(options)}


def _network(options: ControllerOptions) -> dict[str, Any]:
    return {"VpcConfig": {"Subnets": [*options.subnets], "SecurityGroupIds": [*options.security_groups]}} if options.subnets else {}


def _shown(metrics: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Regex": text} for name, text in metrics.items()]


def _code(uri: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": _CODE, "DataSource": {"S3DataSource": source}, "InputMode": "File"}


def _stopping(options: ControllerOptions) -> dict[str, int]:
    run_s = min(max(1, math.ceil(options.max_run_s)), MAX_RUN_S)
    return {"MaxRuntimeInSeconds": run_s, **({"MaxWaitTimeInSeconds": run_s + SPOT_WAIT_S} if options.spot else {})}
