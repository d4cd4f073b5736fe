"""The CreateTrainingJob request of a job, whole, and refused here where SageMaker would refuse it. Pure."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from backends.job_spec import JobSpec
from backends.sagemaker.code.upload import fits
from backends.sagemaker.jobs.channels import MOUNT, channel_environment, input_data
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.tags import job_tags
from definitions.errors import UserError
from definitions.written import text_of

START = f"{MOUNT}/code/outrider_start.py"
ARGUMENTS_FILE = f"{MOUNT}/job/arguments.json"
ENTRYPOINT = ("/bin/sh", "-c", f'exec "$(command -v python3 || command -v python)" {START} "$@"', "outrider")
CHECKPOINTS = "/opt/ml/checkpoints"
MAX_RUN_S = 28 * 86400
SPOT_WAIT_S = 3600
"""Seconds that a spot job may wait for capacity where the definition does not say."""

_MOST_PARAMETERS, _LONGEST_PARAMETER, _LONGEST_KEY = 100, 2500, 256
_MOST_VARIABLES, _LONGEST_VARIABLE = 100, 512
_LONGEST_MLFLOW_NAME = 256
_NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
_VARIABLE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def training_job(
    job: JobSpec, options: Options, code_uri: str | None = None, arguments_uri: str | None = None, instance_type: str | None = None
) -> dict[str, Any]:
    """Return the request that creates a job.

    Args:
        job: what is to run.
        options: of its experiment.
        code_uri: `s3://` folder with the packed source and `outrider_start.py`; needed where a script runs.
        arguments_uri: `s3://` folder with `arguments.json`; needed where a script's do not fit into the request (`arguments_fit`).
        instance_type: in place of the job's own, where that has no capacity.

    Raises:
        UserError: SageMaker would refuse it; says why.
        ValueError: a URI that is needed is not given.
    """
    instance_type = instance_type or job.instance_type
    if not _NAME.fullmatch(job.name):
        raise UserError(f"job name {job.name!r}", "SageMaker takes letters, digits and hyphens between them, at most 63 in all")
    if not instance_type.startswith("ml."):
        raise UserError(f"instance type {instance_type!r}", "SageMaker's begin with ml.", "e.g. --set instance_type=ml.m5.xlarge")
    own = (
        {"code": code_uri, "job": None if arguments_fit(job, options.script, options.python) else arguments_uri}
        if options.has_script
        else {}
    )
    request: dict[str, Any] = {
        "TrainingJobName": job.name,
        "RoleArn": options.role,
        "AlgorithmSpecification": _algorithm(job, options, instance_type, code_uri, arguments_uri),
        "HyperParameters": shown_parameters(job.parameters) if options.has_script else program_parameters(job.parameters),
        "Environment": _environment(job, options, instance_type),
        "OutputDataConfig": {"S3OutputPath": options.uri("output", options.experiment)},
        "CheckpointConfig": {"S3Uri": checkpoint_uri(options, job.checkpoint or f"trial-{job.trial}")},
        "ResourceConfig": _resources(job, options, instance_type),
        "StoppingCondition": _stopping(job, options),
        "EnableNetworkIsolation": options.network_isolation,
        "EnableInterContainerTrafficEncryption": options.encrypt_traffic,
        "EnableManagedSpotTraining": options.spot,
        "ProfilerConfig": _profiler(options),
        "Tags": job_tags(job, options),
    }
    channels = input_data(job.inputs, options, {name: uri for name, uri in own.items() if uri is not None})
    if channels:
        request["InputDataConfig"] = channels
    if options.output_kms_key is not None:
        request["OutputDataConfig"]["KmsKeyId"] = options.output_kms_key
    if options.subnets:
        request["VpcConfig"] = {"Subnets": list(options.subnets), "SecurityGroupIds": list(options.security_groups)}
    if options.retries:
        request["RetryStrategy"] = {"MaximumRetryAttempts": options.retries}
    if options.mlflow is not None:
        request["MlflowConfig"] = _mlflow(job, options.mlflow, options)
    return request


def arguments_fit(job: JobSpec, script: str = "", python: str = "") -> bool:
    """Return whether what is started fits into the request; else it travels by file, as anything but a script and its arguments does."""
    others = python or job.command or job.files or job.prepare or job.cleanup or job.warmup_runs or job.metric_files
    return not others and fits(script, job.arguments) and len(shown_parameters(job.parameters)) == len(job.parameters)


def start_document(job: JobSpec, options: Options) -> dict[str, Any]:
    """Return what a job starts, as its entry point reads it from a file."""
    found: dict[str, Any] = {"script": options.script, "arguments": list(job.arguments), "python": options.python}
    usual = "train" if any(channel.name == "train" for channel in job.inputs) else job.inputs[0].name if job.inputs else ""
    found |= {"command": list(job.command), "files": dict(job.files), "data": usual}
    found["parameters"] = dict(job.parameters)
    found["read"] = [dataclasses.asdict(source) for source in job.metric_files]
    return found | {"prepare": list(job.prepare), "cleanup": list(job.cleanup), "warmup_runs": job.warmup_runs}


def checkpoint_uri(options: Options, key: str) -> str:
    """Return where the checkpoint of this key lies."""
    return options.uri("checkpoints", options.experiment, key)


def shown_parameters(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return a script's arguments as hyperparameters, for the console and scripts that read them; its own way is argv.

    Values are JSON where they would not be read as what they are. They are whole: those that SageMaker does not take so are left out.
    """
    items = [(key, _shown(value)) for key, value in parameters.items()]
    fitting = [(key, text) for key, text in items if 0 < len(key) <= _LONGEST_KEY and len(text) <= _LONGEST_PARAMETER]
    return dict(fitting[:_MOST_PARAMETERS])


def program_parameters(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return arguments as hyperparameters, which is how an image's own program or an algorithm is told them.

    Raises:
        UserError: too many, or too long.
    """
    found = {key: text_of(value) for key, value in parameters.items() if value is not None}
    if len(found) > _MOST_PARAMETERS:
        raise UserError(f"{len(found)} arguments", f"SageMaker takes at most {_MOST_PARAMETERS} hyperparameters", "leave some out")
    for key, value in found.items():
        if len(key) > _LONGEST_KEY or len(value) > _LONGEST_PARAMETER:
            raise UserError(
                f"argument {key[:60]!r} of {len(value)} characters",
                f"SageMaker takes keys of {_LONGEST_KEY} and values of {_LONGEST_PARAMETER} characters at most",
                "put long values into a file of a channel",
            )
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value)
    # As the service takes texts of one line alone, others are JSON as well.
    if isinstance(value, str) and value.isprintable():
        try:
            json.loads(value)
        except ValueError:
            text = value
    return text


def _algorithm(job: JobSpec, options: Options, instance_type: str, code_uri: str | None, arguments_uri: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"TrainingInputMode": "File", "EnableSageMakerMetricsTimeSeries": options.console_metrics}
    if options.algorithm_name is not None:
        found["AlgorithmName"] = options.algorithm_name
    else:
        found["TrainingImage"] = options.image_for(instance_type)
    if options.has_script:
        if code_uri is None:
            raise ValueError("a script runs, but it is not said where its source is")
        fits = arguments_fit(job, options.script, options.python)
        if not fits and arguments_uri is None:
            raise ValueError("the arguments do not fit into the request, but it is not said where they are")
        found["ContainerEntrypoint"] = list(ENTRYPOINT)
        found["ContainerArguments"] = [options.script, *job.arguments] if fits else ["--arguments-file", ARGUMENTS_FILE]
    elif job.command:
        found["ContainerEntrypoint"], found["ContainerArguments"] = [job.command[0]], [*job.command[1:]]
    # The console takes short ones alone, and forty of them; reports do not depend on it.
    expressions = {
        name: regex for name, regex in {**options.console_regexes, **options.metrics}.items() if len(regex) <= 500 and 0 < len(name) <= 255
    }
    if expressions:
        found["MetricDefinitions"] = [{"Name": name, "Regex": regex} for name, regex in expressions.items()][:40]
    return found


def _environment(job: JobSpec, options: Options, instance_type: str) -> dict[str, str]:
    found = {"PYTHONUNBUFFERED": "1", "OUTRIDER_CHECKPOINT_DIR": CHECKPOINTS}
    for channel in job.inputs:
        found |= channel_environment(channel, options.sharded)
    if job.requirements and options.has_script:
        found["OUTRIDER_REQUIREMENTS"] = " ".join(job.requirements)
    found |= job.environment
    found |= {
        "OUTRIDER_JOB": job.name,
        "OUTRIDER_TRIAL": str(job.trial),
        "OUTRIDER_ATTEMPT": str(job.attempt),
        "OUTRIDER_INSTANCE_TYPE": instance_type,
        "OUTRIDER_INSTANCE_COUNT": str(job.instance_count),
    }
    if len(found) > _MOST_VARIABLES:
        raise UserError(
            f"{len(found)} environment variables, Outrider's own among them",
            f"SageMaker takes at most {_MOST_VARIABLES}",
            "set fewer",
        )
    for name, value in found.items():
        if not _VARIABLE.fullmatch(name):
            raise UserError(
                f"environment variable {name!r}", "SageMaker takes letters, digits and _, the first no digit", "call it differently"
            )
        if len(name) > _LONGEST_VARIABLE or len(value) > _LONGEST_VARIABLE:
            raise UserError(
                f"environment variable {name[:80]} of {len(value)} characters",
                f"SageMaker takes names and values of {_LONGEST_VARIABLE} characters at most",
                "use a shorter prefix or URI" if name.startswith("OUTRIDER_") else "put long values into a file of the source",
            )
    return found


def _resources(job: JobSpec, options: Options, instance_type: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "InstanceType": instance_type,
        "InstanceCount": job.instance_count,
        "VolumeSizeInGB": options.volume_gb,
    }
    if job.instance_count < 1:
        raise UserError(f"instance_count {job.instance_count}", "a job has at least one instance")
    if options.volume_kms_key is not None:
        found["VolumeKmsKeyId"] = options.volume_kms_key
    if options.keep_alive_s:
        found["KeepAlivePeriodInSeconds"] = options.keep_alive_s
    return found


def _stopping(job: JobSpec, options: Options) -> dict[str, int]:
    # There are no training jobs without a limit; the longest that there can be comes nearest.
    run_s = MAX_RUN_S if job.limits.max_run_s is None else max(1, math.ceil(job.limits.max_run_s))
    if run_s > MAX_RUN_S:
        raise UserError(f"max_run = {run_s} s", f"SageMaker stops jobs after {MAX_RUN_S} s (28 days)", "give less")
    if not options.spot:
        return {"MaxRuntimeInSeconds": run_s}
    wait_s = run_s + SPOT_WAIT_S if options.max_wait_s is None else max(run_s, math.ceil(options.max_wait_s))
    return {"MaxRuntimeInSeconds": run_s, "MaxWaitTimeInSeconds": wait_s}


def _mlflow(job: JobSpec, resource: str, options: Options) -> dict[str, str]:
    # The experiment is the one that tracking makes, so that what jobs log lies beside what is told of them.
    tag = options.experiment.partition("/")[0]
    names = {"MlflowExperimentName": f"{tag}/{options.benchmark}"[:_LONGEST_MLFLOW_NAME], "MlflowRunName": job.name}
    return {"MlflowResourceArn": resource, **names}


def _profiler(options: Options) -> dict[str, Any]:
    if not options.profiler:
        return {"DisableProfiler": True}
    return {
        "S3OutputPath": options.uri("output", options.experiment),
        "ProfilingIntervalInMilliseconds": options.profiler_interval_ms,
        "DisableProfiler": False,
    }
