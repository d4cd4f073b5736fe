"""What controllers are like whose own instance runs the trials: as the benchmark's jobs would be in the cloud."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backends.sagemaker.block import SageMakerBlock
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.methods.registry import known_methods
from benchmarking.planning.concurrency import instance_types
from definitions.backend_registry import backend_description
from definitions.builtin_backends import OF_AN_ACCOUNT
from definitions.errors import UserError
from definitions.registry import Registry
from definitions.remote import RemoteOptions, joined_remote
from launch.request import RunRequest
from launch.study_request import resolve_benchmark


def with_benchmarks_own(asked: RemoteOptions, request: RunRequest, specs: Sequence[ExperimentSpec]) -> RemoteOptions:
    """Return the options of controllers with the image and the instance type of the benchmarks, where nobody says others.

    Where several instance types are searched in the cloud the first counts; a benchmark that has no block for the cloud says nothing.

    Args:
        asked: what the `remote:` blocks say.
        request: that names the benchmarks.
        specs: its experiments.

    Raises:
        UserError: two benchmarks want different ones.
    """
    if not any(backend_description(spec.backend).shares_this_machine for spec in specs):
        return asked
    return with_own(
        asked, joined_remote({str(name): own_options(one) for name, one in zip(_names(specs), request.benchmark, strict=False)})
    )


def with_own(asked: RemoteOptions, own: RemoteOptions) -> RemoteOptions:
    """Return the options of controllers with instance type and image of what runs in them, where nobody says others."""
    taken: dict[str, Any] = {} if asked.instance_type is not None else {"instance_type": own.instance_type}
    if asked.image is None and asked.framework is None:
        taken |= {name: getattr(own, name) for name in ("image", "framework", "framework_version")}
    return asked.model_copy(update={name: value for name, value in taken.items() if value is not None})


def _names(specs: Sequence[ExperimentSpec]) -> list[str]:
    return [*dict.fromkeys(spec.definition.name for spec in specs)]


def own_options(benchmark: Any) -> RemoteOptions:
    """Return instance type and image of a benchmark's jobs in the cloud; nothing where it is made for this machine alone."""
    try:
        definition = resolve_benchmark(benchmark, Registry(), OF_AN_ACCOUNT, (), [*known_methods()], check_files=False).definition
        types = instance_types(definition, OF_AN_ACCOUNT)
    except UserError:
        return RemoteOptions()
    block = definition.block(OF_AN_ACCOUNT, SageMakerBlock)
    image = {"image": block.image} if block.image else {"framework": block.framework, "framework_version": block.framework_version}
    possible = (one for one in types if backend_description(OF_AN_ACCOUNT).instance_problem(one) is None)
    return RemoteOptions(instance_type=next(possible, None), **image)
