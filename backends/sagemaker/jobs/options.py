"""What the jobs of one experiment on SageMaker have in common: a definition's block with its defaults, checked. Used by the back-end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from backends.sagemaker.aws.buckets import ensure_bucket
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.block import DEFAULT_KEEP_ALIVE_S, SageMakerBlock
from backends.sagemaker.jobs.images import find_images, has_gpu
from definitions.errors import UserError
from definitions.schema import DERIVED_OBJECTIVES, BenchmarkDefinition

EMULATED_ROLE = "arn:aws:iam::123456789012:role/outrider-emulated"
ROLE_VARIABLE = "OUTRIDER_ROLE"
DEFAULT_PREFIX = "outrider"

_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-/]+")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"[A-Za-z0-9!_.*'()-]+(/[A-Za-z0-9!_.*'()-]+)*")
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Options:
    """Options of one experiment's jobs.

    Args:
        region: AWS region; `role`: ARN that jobs run with.
        bucket: for everything that the experiment keeps in S3; `prefix`: of all its keys there.
        experiment: `<tag>/<job prefix>`, part of the keys; the job prefix is the common beginning of all job names.
        image_cpu, image_gpu: URI of the training image for instances without and with GPUs; None where there is none.
        algorithm_name: name or ARN of an algorithm, in place of an image.
        has_script: whether a script of the user's runs; `script`: its path relative to the packed source.
        benchmark: its name.
        sharded: channels of which each host gets a share; `content_types`: of channels, by name.
        spot: managed spot training; `max_wait_s`: longest wait and run together.
        keep_alive_s: seconds that instances are kept after a job; 0 for none.
        fallback_instance_types: tried in this order where there is no capacity.
        metrics: a regular expression with one group for each metric of a program that prints no reports.
        console_metrics: whether the console shows a time series of them; `console_regexes`: of the metrics that reports hold.
        retries: by SageMaker within a job, after internal errors; 0 for none.
        log_settle_s: how long late log lines are awaited after a job's end; None for the back-end's own.
    """

    region: str
    role: str
    bucket: str
    experiment: str
    prefix: str = DEFAULT_PREFIX
    image_cpu: str | None = None
    image_gpu: str | None = None
    algorithm_name: str | None = None
    has_script: bool = True
    script: str = ""
    volume_gb: int = 30
    volume_kms_key: str | None = None
    output_kms_key: str | None = None
    subnets: tuple[str, ...] = ()
    security_groups: tuple[str, ...] = ()
    network_isolation: bool = False
    encrypt_traffic: bool = False
    tags: Mapping[str, str] = field(default_factory=lambda: _NONE)
    environment: Mapping[str, str] = field(default_factory=lambda: _NONE)
    benchmark: str = ""
    sharded: tuple[str, ...] = ()
    content_types: Mapping[str, str] = field(default_factory=lambda: _NONE)
    spot: bool = False
    max_wait_s: float | None = None
    keep_alive_s: int = 0
    fallback_instance_types: tuple[str, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=lambda: _NONE)
    profiler: bool = False
    profiler_interval_ms: int = 500
    console_metrics: bool = False
    console_regexes: Mapping[str, str] = field(default_factory=lambda: _NONE)
    retries: int = 0
    log_settle_s: float | None = None

    @property
    def image(self) -> str | None:
        """One of the images, for messages; None only with an algorithm."""
        return self.image_cpu or self.image_gpu

    def image_for(self, instance_type: str) -> str | None:
        """Return the image for an instance type; None only with an algorithm.

        Raises:
            UserError: the framework has no image for instances of this kind.
        """
        if self.algorithm_name is not None:
            return None
        gpu = has_gpu(instance_type)
        found = self.image_gpu if gpu else self.image_cpu
        if found is None:
            raise UserError(
                f"instance type {instance_type}, which has {'a' if gpu else 'no'} GPU",
                f"the only image known is {self.image}",
                "use another instance type, or give `image`",
            )
        return found

    def uri(self, *parts: str) -> str:
        """Return `s3://<bucket>/<prefix>/<parts>/`."""
        return f"s3://{self.bucket}/" + "".join(f"{part.strip('/')}/" for part in (self.prefix, *parts))


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
    region = clients.region
    _check_contradictions(block, backend)
    images = _images(block, definition, backend, region)
    bucket = block.bucket or default_bucket(clients, create=create_bucket)
    prefix = DEFAULT_PREFIX if block.prefix is None else block.prefix.strip("/")
    for name, value, form in (("bucket", bucket, _BUCKET), ("prefix", prefix, _PREFIX)):
        if not form.fullmatch(value):
            raise UserError(
                f"{backend}.{name}: {value!r} cannot be",
                "S3 allows no such name" if name == "bucket" else "letters, digits, - _ . and / are safe",
            )
    return Options(
        region=region,
        role=_role(block, backend, clients.emulated, environ),
        bucket=bucket,
        experiment=experiment,
        prefix=prefix,
        image_cpu=images[0],
        image_gpu=images[1],
        algorithm_name=block.algorithm_name,
        has_script=definition.script is not None,
        script="" if definition.script is None else relative_script(definition.source_dir, definition.script),
        volume_gb=block.volume_gb or 30,
        volume_kms_key=block.volume_kms_key,
        output_kms_key=block.output_kms_key,
        subnets=block.subnets or (),
        security_groups=block.security_groups or (),
        network_isolation=bool(block.network_isolation),
        encrypt_traffic=bool(block.encrypt_traffic),
        tags=dict(block.tags or {}),
        environment=dict(block.environment or {}),
        benchmark=definition.name,
        sharded=tuple(name for name, channel in definition.inputs.items() if channel.distribution == "sharded"),
        content_types={name: channel.content_type for name, channel in definition.inputs.items() if channel.content_type},
        spot=bool(block.spot),
        max_wait_s=block.max_wait,
        keep_alive_s=(block.keep_alive or DEFAULT_KEEP_ALIVE_S) if backend == "warm_pool" else 0,
        fallback_instance_types=block.fallback_instance_types or (),
        metrics=dict(block.metrics or {}),
        profiler=bool(block.profiler),
        profiler_interval_ms=block.profiler_interval_ms or 500,
        console_metrics=bool(block.console_metrics),
        console_regexes=_console_regexes(definition, block),
        retries=block.retries or 0,
        log_settle_s=block.log_settle_s,
    )


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
    if block.framework is None:
        raise UserError(
            f"benchmark {definition.name}: no training image",
            f"neither {backend}.image nor {backend}.framework is given",
            "e.g. sagemaker: {framework: pytorch, framework_version: '2.9'}",
        )
    return find_images(block.framework, block.framework_version, region, block.py_version)


def _console_regexes(definition: BenchmarkDefinition, block: SageMakerBlock) -> dict[str, str]:
    """Return expressions that find the objectives in the lines that the reporter prints, for the console's eyes alone."""
    if not block.console_metrics or definition.script is None:
        return {}
    reported = [name for name in definition.objectives if name not in DERIVED_OBJECTIVES and name not in (block.metrics or {})]
    return {name: rf'\[tune-metric\]:.*"{re.escape(name)}": ?([-+0-9.eE]+)' for name in reported}


def _role(block: SageMakerBlock, backend: str, emulated: bool, environ: Mapping[str, str]) -> str:
    role = block.role or environ.get(ROLE_VARIABLE) or (EMULATED_ROLE if emulated else "")
    if not role:
        raise UserError(
            f"{backend}: no role is given that jobs run with",
            f"neither {backend}.role nor the environment variable {ROLE_VARIABLE} says",
            "outrider doctor prints a CloudFormation template for role and bucket",
        )
    if not _ROLE.fullmatch(role):
        raise UserError(f"role {role!r} is no ARN of an IAM role", "the form is arn:aws:iam::<account>:role/<name>")
    return role


def _check_contradictions(block: SageMakerBlock, backend: str) -> None:
    if block.spot and backend == "warm_pool":
        raise UserError("warm_pool with spot", "SageMaker keeps no spot instances warm", "use back-end sagemaker, or leave out spot")
    if block.max_wait is not None and not block.spot:
        raise UserError(f"{backend}.max_wait = {block.max_wait:g}", "only spot jobs wait", f"give {backend}.spot: true, or leave it out")
    if (block.subnets is None) != (block.security_groups is None):
        raise UserError(f"{backend}: a VPC needs both", "only one of subnets and security_groups is given", "give the other too")
    if block.image is not None and block.algorithm_name is not None:
        raise UserError(f"{backend}: image and algorithm_name", "a job has one of them", "leave one out")
