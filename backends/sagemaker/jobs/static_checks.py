"""What can be known to fail before anything is created: of the source, the images, and all that is alike in every request."""

from __future__ import annotations

import difflib
import re
from functools import cache
from pathlib import Path

from backends.job_spec import JobSpec
from backends.sagemaker.code.source_files import check_source
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.request import training_job
from definitions.errors import UserError
from definitions.instance_tables import load_tables
from definitions.schema import BenchmarkDefinition

_ARM_INSTANCE = re.compile(r"ml\.(?:[a-z]+\d+[a-z]*g[a-z]*|[a-z0-9-]+-g[bh]\d+)\.")
_KMS_KEY = re.compile(r"[a-zA-Z0-9:/_-]{1,2048}")
"""What the service takes for a key, by its model."""
_ARM_IMAGE = re.compile(r"arm64|aarch64|graviton")
_AWS_IMAGE = re.compile(r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?/[a-z0-9-]+-(?:training|inference)[a-z0-9-]*:")


def check_static(definition: BenchmarkDefinition, options: Options) -> None:
    """Raise `UserError` for the first thing that would fail each job, or those of one instance type; asks nobody.

    Args:
        definition: resolved for the back-end.
        options: of its jobs.
    """
    types = sorted(named_instance_types(definition)) or [""]
    for name in (*types, *options.fallback_instance_types):
        if name.startswith("ml."):
            check_exists(name)
    for name in types:
        if name.startswith("ml."):
            check_architecture(options.image_for(name), name)
    for field, key in (("volume_kms_key", options.volume_kms_key), ("output_kms_key", options.output_kms_key)):
        if key is not None and not _KMS_KEY.fullmatch(key):
            raise UserError(f"{field}: {key!r}", "it is no name of a key in KMS", "give its id, its ARN, or alias/NAME")
    if options.has_script:
        names = check_source(Path(definition.source_dir), definition.include)
        if options.script and options.script not in names:
            raise UserError(
                f"script {definition.script!r}",
                "it does not travel to jobs: it is not in source_dir, or is left out there",
                "name it in `include`, or take it off the patterns in .outriderignore",
            )
    kind = next((name for name in types if name.startswith("ml.")), "ml.m5.large")
    sample = JobSpec("sample", 0, 1, options.script, environment=definition.environment, instance_type=kind)
    training_job(sample, options, "s3://bucket/code/", "s3://bucket/arguments/")


def check_exists(instance_type: str) -> None:
    """Raise `UserError` for a type that neither the service's model in botocore has for training, nor a table of prices."""
    modelled = _modelled_types()
    if instance_type in modelled or any(name == instance_type for name, _ in load_tables().prices):
        return
    near = difflib.get_close_matches(instance_type, modelled, n=3, cutoff=0.5)
    raise UserError(
        f"instance type {instance_type!r}",
        "SageMaker has no training instances of that type" + (f"; the nearest: {', '.join(near)}" if near else ""),
        "give another; one that is newer than the installed botocore is known once `outrider prices --refresh` has found it",
    )


@cache
def _modelled_types() -> tuple[str, ...]:
    from botocore.loaders import Loader

    return tuple(Loader().load_service_model("sagemaker", "service-2")["shapes"]["TrainingInstanceType"]["enum"])


def check_architecture(image: str | None, instance_type: str) -> None:
    """Raise `UserError` where an image is known to be for processors of another kind than those of an instance type."""
    if image is None:
        return
    has_arm = _ARM_INSTANCE.match(instance_type) is not None
    is_arm = _ARM_IMAGE.search(image.rpartition("/")[2]) is not None
    if is_arm != has_arm and (is_arm or _AWS_IMAGE.match(image)):
        machine, inside = ("arm64", "x86_64") if has_arm else ("x86_64", "arm64")
        raise UserError(
            f"instance type {instance_type}, whose processors are {machine}",
            f"image {image.rpartition('/')[2]} is for {inside}",
            f"give an image for {machine}, or another instance type",
        )


def named_instance_types(definition: BenchmarkDefinition) -> set[str]:
    """Return the instance types that a definition names."""
    found = {definition.arguments.get("instance_type")}
    found |= {configuration.get("instance_type") for configuration in definition.explicit_configurations}
    domain = None if definition.trials else definition.search_space.domains.get("instance_type")
    if domain is not None:
        found |= set(domain.grid(0))
    return {str(name) for name in found if name}
