"""What a study needs that only this machine has: refused where it cannot go on without it, else named, before anything is created."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.methods.registry import BUILT_IN as METHODS
from definitions.builtin_backends import BUILT_IN as BACKENDS
from definitions.errors import UserError
from definitions.plugins import installed
from definitions.remote import RemoteOptions
from definitions.resolve import resolve
from definitions.show import render
from definitions.yaml_source import parse_yaml
from launch.launching.requirements import canonical

_EVERYWHERE = re.compile(r"/(dev|proc|sys|bin|sbin|usr|etc|lib|lib64|opt/ml)(/|$)")
"""Paths that other machines have as well."""
_OF_THIS_MACHINE = (
    *("OUTRIDER_PRICES", "OUTRIDER_SCALE", "AWS_PROFILE"),
    *("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN"),
)
"""Variables that change what a run does, and do not travel."""
_GROUPS = {"method": "outrider.methods", "back-end": "outrider.backends"}


def check_travels(specs: Sequence[ExperimentSpec], asked: RemoteOptions, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return what somebody has to know of what does not travel, a line each.

    Args:
        specs: the experiments.
        asked: what the `remote:` blocks say.
        environ: of the launcher.

    Raises:
        UserError: the study cannot run without it.
    """
    problems = [*dict.fromkeys(problem for spec in specs for problem in _problems(spec, asked))]
    if problems:
        raise UserError(
            f"launch: {len(problems)} {'thing is' if len(problems) == 1 else 'things are'} only on this machine",
            "\n  ".join(problems),
            "leave them out, or have them travel: packages by remote.requirements, files within source_dir, data as `datasets`",
        )
    notes = [*dict.fromkeys(note for spec in specs for note in _notes(spec))]
    there = [name for name in _OF_THIS_MACHINE if environ.get(name)]
    if there:
        notes.append(f"variables that do not travel: {', '.join(there)}")
    return tuple(notes)


def _problems(spec: ExperimentSpec, asked: RemoteOptions) -> Iterator[str]:
    definition = spec.definition
    variant = definition.methods.get(spec.method)
    base = spec.method if variant is None else variant.base
    for kind, name, built_in in (("method", base, METHODS), ("back-end", spec.backend, BACKENDS)):
        brings = None if name in built_in else _distribution(kind, name)
        if brings is not None and canonical(brings) not in _named(asked):
            yield f"{kind} {name} comes from the package {brings}, which is not in remote.requirements"
    if definition.python is not None and "/" in definition.python:
        yield f"{definition.name}: python {definition.python} is an interpreter of this machine"
    if definition.warm_start:
        yield f"{definition.name}: warm_start reads the results of {', '.join(definition.warm_start)}, which are here"
    yield from _unresolved(spec, asked)


def _unresolved(spec: ExperimentSpec, asked: RemoteOptions) -> Iterator[str]:
    """Yield why the definition cannot be read where nothing is installed but Outrider and what travels."""
    foreign = {
        point.name for point in installed(_GROUPS["method"]) if point.dist is not None and canonical(point.dist.name) not in _named(asked)
    }
    known = {*METHODS, *(point.name for point in installed(_GROUPS["method"]))} - (foreign - {*METHODS})
    source = parse_yaml(render(spec.resolved), Path("definition.yaml"))
    try:
        resolve(source, spec.backend, check_files=False, methods=[*known], environ={})
    except UserError as error:
        text = str(error).replace("\n  ", "; ")
        yield f"{spec.definition.name}: its definition can be read on this machine alone: {text}"


def _notes(spec: ExperimentSpec) -> Iterator[str]:
    definition = spec.definition
    if definition.reuse:
        yield f"{definition.name}: reuse: what was measured on this machine is not there"
    values = {f"arguments.{key}": value for key, value in definition.arguments.items()}
    values |= {f"environment.{key}": value for key, value in definition.environment.items()}
    for key, value in values.items():
        if isinstance(value, str) and _is_here(value):
            yield f"{definition.name}: {key} = {value} is a path of this machine"


def _is_here(value: str) -> bool:
    if not value.startswith(("/", "~/")) or _EVERYWHERE.match(value):
        return False
    try:
        return Path(value).expanduser().exists()
    except (OSError, RuntimeError):
        return False


def _distribution(kind: str, name: str) -> str | None:
    for point in installed(_GROUPS[kind]):
        if point.name == name:
            return point.dist.name if point.dist is not None else "that brings it"
    return None


def _named(asked: RemoteOptions) -> set[str]:
    """Return the packages that remote.requirements names, also those that are given by the name of a wheel or a repository."""
    found = set()
    for line in asked.requirements or ():
        name = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", line.rpartition("egg=")[2] or line)
        if name is not None:
            found.add(canonical(name[0]))
    return found
