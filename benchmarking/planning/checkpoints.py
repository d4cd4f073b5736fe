"""Checkpoints that a definition has its jobs save by our script: what cannot be is said before anything starts, and a store is seen to.

A definition is meant whose key `checkpoint`, fixed or of its configurations, has a value from our table, or that sets another of our knobs;
elsewhere a key of that name is the script's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import Any

from benchmarking.workloads.checkpointing.kinds import KINDS, packages_of
from benchmarking.workloads.checkpointing.knobs import NAMES, problem
from benchmarking.workloads.checkpointing.models import bytes_of
from benchmarking.workloads.checkpointing.places import disk_problem
from definitions.backend_description import DataAccess
from definitions.backend_registry import backend_description
from definitions.errors import UserError
from definitions.ingestion import REQUIREMENTS
from definitions.program import install_extra
from definitions.schema import BenchmarkDefinition

_MODEL = ("checkpoint_model", "checkpoint_scale", "checkpoint_dtype", "checkpoint_optimiser", "processes", "instance_count")
_MOST = 10_000


def saves_checkpoints(definition: BenchmarkDefinition) -> bool:
    """Return whether a definition's jobs save checkpoints by our knobs."""
    keys = (*definition.arguments, *definition.configuration_keys)
    return any(name in keys for name in NAMES[1:]) or any(one.get("checkpoint") in KINDS for one in _settings(definition))


def checkpoint_problem(
    definition: BenchmarkDefinition, backend: str, configuration: Mapping[str, Any], is_installed: Callable[[str], bool] | None = None
) -> str | None:
    """Return why a configuration's checkpoints cannot be saved as it asks for, or None where they can.

    Args:
        definition: the resolved definition, of which `saves_checkpoints` holds.
        backend: name of the back-end.
        configuration: one of its own.
        is_installed: whether a package can be imported where jobs run, asked where that is this machine; as it is where not given.
    """
    settings = {**definition.arguments, **configuration}
    found = problem(settings) or _model_problem(settings)
    kind = KINDS.get(str(settings.get("checkpoint", "none")))
    if found is not None or kind is None:
        return found
    described = backend_description(backend)
    if described.data_access is DataAccess.MACHINE:
        installed = is_installed or _is_installed
        missing = [name for name in packages_of(kind, str(settings.get("checkpoint_client") or "")) if not installed(name)]
        if missing:
            how = f"pip install {' '.join(missing)}" + (f", or {install_extra(kind.extra)}" if kind.extra else "")
            return f"checkpoint {kind.name} needs what is not installed: {how}"
    if kind.in_s3 and described.data_access is DataAccess.NOTHING:
        return f"checkpoint {kind.name} needs an object store, and jobs of back-end {backend} read nothing"
    return None


def checkpoint_requirements(definition: BenchmarkDefinition, configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a configuration's checkpoints take beside torch, as pip knows it.

    Args:
        definition: the resolved definition, of which `saves_checkpoints` holds.
        configuration: one of its own.
    """
    settings = {**definition.arguments, **configuration}
    kind = KINDS.get(str(settings.get("checkpoint", "none")))
    packages = packages_of(kind, str(settings.get("checkpoint_client") or "")) if kind is not None else ()
    return tuple(REQUIREMENTS.get(name, name) for name in packages)


def check_checkpoints(definition: BenchmarkDefinition, backend: str, is_installed: Callable[[str], bool] | None = None) -> None:
    """Raise `UserError` where none of a definition's checkpoints can be saved, or one of its kinds does not exist.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        is_installed: see `checkpoint_problem`.
    """
    if not saves_checkpoints(definition):
        return
    problems = [checkpoint_problem(definition, backend, one, is_installed) for one in _settings(definition)]
    unknown = [one for one in problems if one is not None and one.startswith("checkpoint is ")]
    if unknown or (problems and all(one is not None for one in problems)):
        reasons = dict.fromkeys(one for one in unknown or problems if one is not None)
        raise UserError(f"benchmark {definition.name} on {backend}: its checkpoints", "; ".join(list(reasons)[:3]), "change or leave out")


def left_out(definition: BenchmarkDefinition, backend: str, is_installed: Callable[[str], bool] | None = None) -> list[str]:
    """Return a line for each reason for which some configurations of a definition cannot be run, as their checkpoints cannot be saved.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        is_installed: see `checkpoint_problem`.
    """
    if not saves_checkpoints(definition):
        return []
    problems = (checkpoint_problem(definition, backend, one, is_installed) for one in _settings(definition))
    return [f"left out: {one}" for one in dict.fromkeys(problems) if one is not None]


def checkpoint_disk(definition: BenchmarkDefinition, folder: Path) -> Callable[[Mapping[str, Any]], str | None]:
    """Return what says of a configuration why this machine's disk is too small for its checkpoints, or None where it is not.

    Args:
        definition: the resolved definition; whose models are not in our table are not known.
        folder: where checkpoints go.
    """
    if not saves_checkpoints(definition):
        return lambda configuration: None

    def too_small(configuration: Mapping[str, Any]) -> str | None:
        settings = {**definition.arguments, **configuration}
        kind = KINDS.get(str(settings.get("checkpoint", "none")))
        if kind is None or not kind.writer or kind.in_s3 or not settings.get("checkpoint_model") or _model_problem(settings):
            return None
        to = settings.get("checkpoint_to")
        return disk_problem(Path(str(to)) if to else folder, _model_bytes(settings, definition.scale), kind.name)

    return too_small


def check_disk_for_checkpoints(definition: BenchmarkDefinition, folder: Path) -> None:
    """Raise `UserError` where the disk is too small for the checkpoints of every configuration; see `checkpoint_disk`."""
    too_small = checkpoint_disk(definition, folder)
    problems = [too_small(one) for one in _settings(definition)] if saves_checkpoints(definition) else []
    if problems and all(one is not None for one in problems):
        asked, _, advice = str(problems[0]).partition("; ")
        raise UserError(f"benchmark {definition.name}: its checkpoints do not fit", asked, advice)


def needs_checkpoint_store(definition: BenchmarkDefinition, backend: str) -> bool:
    """Return whether some configuration saves checkpoints to an object store and does not say itself to which."""
    if not saves_checkpoints(definition):
        return False
    return any(
        KINDS[one["checkpoint"]].in_s3 and not one.get("checkpoint_to") and checkpoint_problem(definition, backend, one) is None
        for one in _settings(definition)
        if one.get("checkpoint") in KINDS
    )


def _model_bytes(settings: Mapping[str, Any], scale: float = 1.0) -> int:
    kinds = (str(settings.get("checkpoint_dtype") or "float32"), str(settings.get("checkpoint_optimiser") or "none"))
    return bytes_of(str(settings["checkpoint_model"]), float(settings.get("checkpoint_scale") or 1) * scale, *kinds)


def _model_problem(settings: Mapping[str, Any]) -> str | None:
    try:
        if settings.get("checkpoint_model"):
            _model_bytes(settings)
    except ValueError as error:
        return str(error)
    return None


def _settings(definition: BenchmarkDefinition) -> Iterator[dict[str, Any]]:
    """Yield what configurations and arguments say of checkpoints; of a space each combination of the values that it lists."""
    fixed = {key: value for key, value in definition.arguments.items() if key in (*NAMES, *_MODEL)}
    if definition.trials:
        for configuration in definition.explicit_configurations:
            yield {**fixed, **{key: value for key, value in configuration.items() if key in (*NAMES, *_MODEL)}}
        return
    domains = {key: domain for key, domain in definition.search_space.domains.items() if key in (*NAMES, *_MODEL)}
    values = [domain.grid(0 if domain.is_listed else 2) for domain in domains.values()]
    for chosen in islice(product(*values), _MOST):
        yield {**fixed, **dict(zip(domains, chosen, strict=True))}


@cache
def _is_installed(package: str) -> bool:
    return find_spec(package) is not None
