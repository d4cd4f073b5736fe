"""From a definition's block to the options of an experiment's jobs: defaults, the default bucket, and what goes with what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from backends.naming import is_bucket_name
from backends.sagemaker.aws.buckets import ensure_bucket
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.block import DEFAULT_KEEP_ALIVE_S, SageMakerBlock
from backends.sagemaker.jobs.images import find_images
from backends.sagemaker.jobs.options import DEFAULT_PREFIX, Options
from definitions.errors import UserError
from definitions.metrics import expressions_of
from definitions.program import command
from definitions.schema import DERIVED_OBJECTIVES, BenchmarkDefinition

EMULATED_ROLE = "arn:aws:iam::123456789012:role/outrider-emulated"
ROLE_VARIABLE = "OUTRIDER_ROLE"
CONTROLLER_ROLE_VARIABLE = "OUTRIDER_CONTROLLER_ROLE"
_SERVER = "triton"
"""Framework of the table of images whose image serves models where a definition names none."""

_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-/]+")
_MLFLOW = re.compile(r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):[0-9]{12}:mlflow-[a-zA-Z-]+/.+")
_LONGEST_ARN = 2048
_PREFIX = re.compile(r"[A-Za-z0-9!_.*'()-]+(/[A-Za-z0-9!_.*'()-]+)*")


def options_of(
    definition: BenchmarkDefinition,
    backend: str,
    experiment: str,
    clients: Clients,
    environ: Mapping[str, str],
    *,
    create_bucket: bool = True,
) -> Options:
    """Return the options that a resolved definition gives.

    Args:
        definition: resolved for this back-end.
        backend: `sagemaker` or `warm_pool`.
        experiment: `<tag>/<job prefix>`.
        clients: of AWS; asked for the account where no bucket is given.
        environ: the controller's environment.
        create_bucket: whether the default bucket is created where it does not exist; one that the user named never is.

    Raises:
        UserError: an option is missing, wrong, or does not go with another.
    """
    block = definition.block(backend, SageMakerBlock)
    _check_contradictions(block, backend)
    image_cpu, image_gpu = _images(block, definition, backend, clients.region)
    bucket, prefix = _place(block, backend, clients, create_bucket)
    return Options(
        region=clients.region,
        role=_role(block, backend, clients.emulated, environ),
        bucket=bucket,
        experiment=experiment,
        prefix=prefix,
        image_cpu=image_cpu,
        image_gpu=image_gpu,
        algorithm_name=block.algorithm_name,
        has_script=definition.program is not None,
        script="" if definition.script is None else relative_script(definition.source_dir, definition.script),
        volume_gb=block.volume_gb or 30,
        volume_kms_key=block.volume_kms_key,
        output_kms_key=block.output_kms_key,
        **_network(block),
        tags=dict(block.tags or {}),
        python=definition.python or "",
        benchmark=definition.name,
        sharded=tuple(name for name, channel in definition.inputs.items() if channel.distribution == "sharded"),
        content_types={name: channel.content_type for name, channel in definition.inputs.items() if channel.content_type},
        metrics=expressions_of(definition.metrics),
        spot=bool(block.spot),
        max_wait_s=block.max_wait,
        keep_alive_s=(block.keep_alive or DEFAULT_KEEP_ALIVE_S) if backend == "warm_pool" else 0,
        fallback_instance_types=block.fallback_instance_types or (),
        profiler=bool(block.profiler),
        profiler_interval_ms=block.profiler_interval_ms or 500,
        console_metrics=bool(block.console_metrics),
        console_regexes=_console_regexes(definition, block),
        retries=block.retries or 0,
        mlflow=_mlflow(block, backend, clients.region),
        log_settle_s=block.log_settle_s,
    )


def _network(block: SageMakerBlock) -> dict[str, Any]:
    return {
        "subnets": block.subnets or (),
        "security_groups": block.security_groups or (),
        "network_isolation": bool(block.network_isolation),
        "encrypt_traffic": bool(block.encrypt_traffic),
    }


def _place(block: SageMakerBlock, backend: str, clients: Clients, create_bucket: bool) -> tuple[str, str]:
    """Return the bucket and the prefix of what is kept in S3; raises UserError for what S3 does not allow."""
    bucket = block.bucket or default_bucket(clients, create=create_bucket)
    prefix = DEFAULT_PREFIX if block.prefix is None else block.prefix.strip("/")
    if not is_bucket_name(bucket):
        raise UserError(f"{backend}.bucket: {bucket!r} cannot be", "S3 allows no such name")
    if not _PREFIX.fullmatch(prefix):
        raise UserError(f"{backend}.prefix: {prefix!r} cannot be", "letters, digits, - _ . and / are safe")
    return bucket, prefix


def default_bucket(clients: Clients, *, create: bool = True) -> str:
    """Return the bucket that the SageMaker SDK would use too, `sagemaker-<region>-<account>`, made where it is missing and asked for."""
    account = clients.get("sts").get_caller_identity()["Account"]
    bucket = f"sagemaker-{clients.region}-{account}"
    if create:
        ensure_bucket(clients.get("s3"), bucket, clients.region, account)
    return bucket


def relative_script(source_dir: str, script: str) -> str:
    """Return a script's path relative to the folder that travels, with `/`; raises `UserError` where it is outside of it."""
    folder = Path(source_dir).resolve()
    path = (folder / script).resolve()
    if not path.is_relative_to(folder):
        raise UserError(
            f"script {script!r}", f"it is outside of source_dir ({folder}), and only that travels to a remote job", "move it there"
        )
    return str(PurePosixPath(path.relative_to(folder)))


def _images(block: SageMakerBlock, definition: BenchmarkDefinition, backend: str, region: str) -> tuple[str | None, str | None]:
    if block.image is not None:
        return block.image, block.image
    if block.algorithm_name is not None:
        return None, None
    if block.framework is None and definition.endpoint is not None:
        return find_images(_SERVER, None, region)
    if block.framework is None:
        raise UserError(
            f"benchmark {definition.name}: no training image",
            f"neither {backend}.image nor {backend}.framework is given",
            "e.g. sagemaker: {framework: pytorch, framework_version: '2.9'}",
        )
    return find_images(block.framework, block.framework_version, region, block.py_version)


def _console_regexes(definition: BenchmarkDefinition, block: SageMakerBlock) -> dict[str, str]:
    """Return expressions that find the objectives in the lines that the reporter prints, for the console's eyes alone."""
    if not block.console_metrics or definition.program is None:
        return {}
    reported = [name for name in definition.objectives if name not in DERIVED_OBJECTIVES and name not in expressions_of(definition.metrics)]
    return {name: rf'\[tune-metric\]:.*"{re.escape(name)}": ?([-+0-9.eE]+)' for name in reported}


def _role(block: SageMakerBlock, backend: str, emulated: bool, environ: Mapping[str, str]) -> str:
    role = block.role or environ.get(ROLE_VARIABLE) or (EMULATED_ROLE if emulated else "")
    if not role:
        raise UserError(
            f"{backend}: no role is given that jobs run with",
            f"neither {backend}.role nor the environment variable {ROLE_VARIABLE} says",
            f"`{command('doctor', '--cloudformation')}` prints a CloudFormation template for role and bucket",
        )
    if not _ROLE.fullmatch(role):
        raise UserError(f"role {role!r} is no ARN of an IAM role", "the form is arn:aws:iam::<account>:role/<name>")
    return role


def _mlflow(block: SageMakerBlock, backend: str, region: str) -> str | None:
    found = block.mlflow
    if found is None:
        return None
    known = _MLFLOW.fullmatch(found)
    if not known or len(found) > _LONGEST_ARN:
        form = "the form is arn:aws:sagemaker:<region>:<account>:mlflow-tracking-server/<name>, or mlflow-app/<id>"
        raise UserError(f"{backend}.mlflow: {found!r} is no ARN of SageMaker's managed MLflow", form)
    if known["region"] != region:
        raise UserError(f"{backend}.mlflow: {found} is in {known['region']}", f"jobs run in {region}", "take one of that region")
    return found


def _check_contradictions(block: SageMakerBlock, backend: str) -> None:
    if block.spot and backend == "warm_pool":
        raise UserError("warm_pool with spot", "SageMaker keeps no spot instances warm", "use back-end sagemaker, or leave out spot")
    if block.max_wait is not None and not block.spot:
        raise UserError(f"{backend}.max_wait = {block.max_wait:g}", "only spot jobs wait", f"give {backend}.spot: true, or leave it out")
    if (block.subnets is None) != (block.security_groups is None):
        raise UserError(f"{backend}: a VPC needs both", "only one of subnets and security_groups is given", "give the other too")
    if block.image is not None and block.algorithm_name is not None:
        raise UserError(f"{backend}: image and algorithm_name", "a job has one of them", "leave one out")
