"""From a request to the experiments it means: benchmarks x methods x seeds, new ones or those of a tag that is resumed."""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from backends.naming import TAG_FORM
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import experiments_of, load_to_run, not_installed, read_identity
from benchmarking.methods.registry import default_method, experiment_spec, known_methods
from benchmarking.planning.machine_default import with_machine_default
from definitions.errors import UserError, did_you_mean
from definitions.program import command
from definitions.registry import Registry, listing
from definitions.resolve import Resolved, resolve, resolve_python
from definitions.schema import BenchmarkDefinition
from definitions.yaml_source import Source
from launch.request import RunRequest


def experiment_seed(random_seed: int, seed: int) -> int:
    """Return the seed of an experiment: a hash of the master seed and the seed's number, the same for every method."""
    return int.from_bytes(hashlib.sha256(f"{random_seed}-{seed}".encode()).digest()[:4]) >> 1


def make_tag(request: RunRequest, now: datetime.datetime) -> str:
    """Return a tag of date and hash, valid as part of an S3 key and of a job name."""
    content = f"{now.isoformat()}-{request!r}"
    return f"{now:%Y%m%d-%H%M%S}-{hashlib.sha256(content.encode()).hexdigest()[:4]}"


def plan(request: RunRequest, registry: Registry | None = None, now: datetime.datetime | None = None) -> list[ExperimentSpec]:
    """Return the experiments of a request, in the order in which they run.

    Raises:
        UserError: nothing selected, unknown names, wrong values, or an unknown tag to resume.
    """
    if request.resume and not request.benchmark:
        return _resumed(request)
    registry = registry or Registry()
    if not request.benchmark:
        raise UserError("no --benchmark is given", listing(registry.names()), f"e.g. {command('run', '--benchmark', 'demo')}")
    if request.num_seeds < 1:
        raise UserError(f"--num_seeds {request.num_seeds}: nothing would run", "it is the number of seeds", "give 1 or more")
    if request.start_seed < 0:
        raise UserError(f"--start_seed {request.start_seed}: seeds are numbered from 0")
    tag = request.resume or request.experiment_tag or make_tag(request, now or datetime.datetime.now(datetime.UTC))
    _check_tag(tag)
    methods = known_methods()
    specs = []
    for benchmark in request.benchmark:
        resolved = _resolve(benchmark, request, registry, tuple(methods))
        here = with_machine_default(resolved, os.environ)
        for method in request.method or (default_method(resolved.definition),):
            for number in range(request.start_seed, request.start_seed + request.num_seeds):
                seed = experiment_seed(request.random_seed, number)
                given = request.method_args
                earlier = experiment_spec(resolved, method, seed, tag, request.results_dir, given, number, methods)
                spec = experiment_spec(here, method, seed, tag, request.results_dir, given, number, methods)
                # What began on the type that all machines had by default goes on with it.
                specs.append(earlier if spec is not earlier and _is_there(earlier) else spec)
    _check_distinct(specs)
    if request.resume and not any((spec.folder / "experiment.json").is_file() for spec in specs):
        raise _unknown_tag(request.resume, request.results_dir, "--resume")
    return specs


def _is_there(spec: ExperimentSpec) -> bool:
    path = spec.folder / "experiment.json"
    return path.is_file() and bool(read_identity(spec.folder)["hash"] == spec.hash)


def _resolve(benchmark: Any, request: RunRequest, registry: Registry, methods: tuple[str, ...]) -> Resolved:
    found = benchmark if isinstance(benchmark, (BenchmarkDefinition, Source)) else registry.find(str(benchmark))
    if isinstance(found, BenchmarkDefinition):
        return resolve_python(found, request.backend, request.laid_over, methods=methods, environ=os.environ)
    return resolve(found, request.backend, request.laid_over, methods=methods, environ=os.environ)


def _resumed(request: RunRequest) -> list[ExperimentSpec]:
    """Return the experiments of a tag as they were defined; settings given now are laid over (a larger budget, say)."""
    methods = known_methods()
    specs = []
    for folder in folders_of(request.resume, request.results_dir):
        spec = load_to_run(folder, request.laid_over, os.environ).spec
        variant = spec.definition.methods.get(spec.method)
        base = spec.method if variant is None else variant.base
        if base not in methods:
            raise not_installed(folder, "method", base, list(methods))
        specs.append(spec)
    return specs


def folders_of(tag: str, results_dir: Path, asked: str = "--resume") -> list[Path]:
    """Return the folders of a tag's experiments.

    Args:
        tag: what they have in common.
        results_dir: folder of all results.
        asked: what wants them, for the message.

    Raises:
        UserError: there are none.
    """
    _check_tag(tag, asked)
    found = experiments_of(results_dir / tag)
    if not found:
        raise _unknown_tag(tag, results_dir, asked)
    return found


def _check_tag(tag: str, asked: str = "--experiment_tag") -> None:
    if not TAG_FORM.fullmatch(tag):
        raise UserError(f"{asked} {tag!r}", "a tag has letters and digits, hyphens between them, and at most 41 of all")


def _check_distinct(specs: Iterable[ExperimentSpec]) -> None:
    folders: dict[Path, ExperimentSpec] = {}
    for spec in specs:
        if spec.folder in folders:
            raise UserError(f"{spec.title} is selected twice", "each benchmark, method and seed may be named once", "name it once")
        folders[spec.folder] = spec


def _unknown_tag(tag: str, folder: Path, asked: str) -> UserError:
    tags = (
        sorted((path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")), reverse=True)
        if folder.is_dir()
        else []
    )
    advice = did_you_mean(tag, tags[:20]) if tags else "give --results_dir, if results are elsewhere"
    return UserError(f"{asked} {tag}: there is nothing of this tag in {folder}", advice=advice)
