"""A study that is asked for, by a definition's `study:` block or a file of its own, laid under what the flags say."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from benchmarking.methods.registry import known_methods
from definitions.backend_registry import backend_names
from definitions.draft import PYTHON
from definitions.errors import UserError, did_you_mean
from definitions.problems import Problem, complaint, problems_of
from definitions.python_source import python_source
from definitions.registry import Registry
from definitions.remote import remote_settings
from definitions.resolve import Resolved, resolve, resolve_python
from definitions.schema import BenchmarkDefinition
from definitions.settings import PlacedSetting, of_study, settings_of
from definitions.study import Shares, Study, StudyFile, StudyOrder
from definitions.yaml_source import KeyPath, Source, SourceLocation, read_yaml
from launch.request import RunRequest

_FORM = f"a study's file is a mapping: benchmarks, and what is wanted of {', '.join(sorted({*StudyFile.model_fields} - {'benchmarks'}))}"


def with_study(request: RunRequest, registry: Registry | None = None) -> RunRequest:
    """Return the request with all that it does not say itself taken from the study that it names; where it names none, as it is.

    Args:
        request: its `study` says which one.
        registry: knows benchmarks by name.

    Raises:
        UserError: the study cannot be read, has wrong keys or values, or there is none; with file and line.
    """
    registry = registry or Registry()
    if request.study is None or request.study is False:
        return request
    if request.study is True:
        study, place = _of_definitions(request, registry)
        return _laid_under(study, request, request.benchmark, lambda path: place(("study", *path)), "study.")
    if not isinstance(request.study, (Mapping, str, os.PathLike)):
        raise UserError(f"study={request.study!r}", "it is True for the `study:` block of a definition, the path of a file, or a mapping")
    source = python_source(request.study, Path()) if isinstance(request.study, Mapping) else _read(Path(request.study).expanduser())
    try:
        study = StudyFile.model_validate(source.data)
    except ValidationError as error:
        raise complaint(problems_of(error, source.data, StudyFile), source.place, source.about) from None
    given = [benchmark if isinstance(benchmark, (BenchmarkDefinition, Source)) else registry.find(str(benchmark))
             for benchmark in request.benchmark]  # fmt: skip
    found = given or [_find(number, name, source, registry) for number, name in enumerate(study.benchmarks)]
    variants = [name for one in found for name in _names(one, "methods")]
    objectives = [*dict.fromkeys(name for one in found for name in _names(one, "objectives"))]
    problems = [Problem(*one) for one in study.problems([*known_methods(), *variants], objectives, backend_names())]
    twice = [number for number, name in enumerate(study.benchmarks) if name in study.benchmarks[:number]]
    problems += [Problem(("benchmarks", number), f"{study.benchmarks[number]!r} is named twice") for number in twice]
    problems += [] if found else [Problem(("benchmarks",), "is missing, and no --benchmark is given")]
    if problems:
        raise complaint(problems, source.place, source.about)
    return _laid_under(study, request, found, source.place)


def check_choices(request: RunRequest) -> None:
    """Raise `UserError` where an order or a way of sharing is asked for that there is not, as a call from Python can."""
    for name, given, known in (("study_order", request.study_order, get_args(StudyOrder)), ("shares", request.shares, get_args(Shares))):
        if given and given not in known:
            raise UserError(f"{name}: {given!r}", f"it is one of {', '.join(known)}", did_you_mean(given, known))


def resolve_benchmark(
    benchmark: Any,
    registry: Registry,
    backend: str,
    settings: Sequence[str],
    methods: Sequence[str],
    *,
    check_files: bool = True,
) -> Resolved:
    """Return a benchmark resolved for a back-end.

    Args:
        benchmark: a name, a path, what a file or mapping says, or a definition.
        registry: knows benchmarks by name.
        backend: name of the back-end.
        settings: `key=value` texts, as after `--set`.
        methods: names of all known methods.
        check_files: whether its script must exist.

    Raises:
        UserError: there is no such benchmark, or something is wrong with it.
    """
    found = benchmark if isinstance(benchmark, (BenchmarkDefinition, Source)) else registry.find(str(benchmark))
    if isinstance(found, BenchmarkDefinition):
        return resolve_python(found, backend, settings, methods=methods, check_files=check_files, environ=os.environ)
    return resolve(found, backend, settings, methods=methods, check_files=check_files, environ=os.environ)


def unused_block(resolved: Resolved) -> str:
    """Return in a line that a definition has a `study:` block that is not used; empty where it has none, or one that says nothing."""
    place = _block_of(resolved)
    said = place and resolved.definition.study != Study()
    return f"{place}: the `study:` block of {resolved.definition.name} is not used: --study takes it" if said else ""


def _block_of(resolved: Resolved) -> str:
    """Return where the `study:` block of a definition is written; empty where it has none."""
    return next((origin for key, origin in resolved.origins.items() if key.startswith("study.") and origin != "default"), "")


def _of_definitions(request: RunRequest, registry: Registry) -> tuple[Study, Callable[[KeyPath], SourceLocation]]:
    """Return the study of the definitions that are asked for, and where its keys are written."""
    if not request.benchmark:
        raise UserError(
            "--study without --benchmark", "it takes the `study:` block of a definition", "name one, or a file: --study FILE.yaml"
        )
    methods, given = tuple(known_methods()), dict[str, tuple[Study, Callable[[KeyPath], SourceLocation]]]()
    for benchmark in request.benchmark:
        found = benchmark if isinstance(benchmark, (BenchmarkDefinition, Source)) else registry.find(str(benchmark))
        backend = request.backend or _backend_of(found) or request.backend_name
        resolved = resolve_benchmark(found, registry, backend, request.laid_over, methods, check_files=False)
        if _block_of(resolved):
            given[resolved.definition.name] = (resolved.definition.study, found.place if isinstance(found, Source) else lambda _: PYTHON)
    if not given:
        raise UserError(
            "--study: no benchmark that is named has a `study:` block", "", "add one, e.g. study: {methods: [RS, BO], seeds: 8}"
        )
    first, *others = given
    other = next((name for name in others if given[name][0] != given[first][0]), None)
    if other is not None:
        fact = "one command is one study, with one list of methods and seeds"
        raise UserError(f"--study: the `study:` blocks of {first} and {other} differ", fact, "write it into a file: --study FILE.yaml")
    return given[first]


def _backend_of(found: Source | BenchmarkDefinition) -> str:
    """Return the back-end that a definition's study names; empty where it names none that there is."""
    block: Any = found.data.get("study") if isinstance(found, Source) else found.study.model_dump()
    name = block.get("backend") if isinstance(block, Mapping) else None
    return name if isinstance(name, str) and name in backend_names() else ""


def _read(path: Path) -> Source:
    source = read_yaml(path, _FORM)
    if "objectives" in source.data and "benchmarks" not in source.data:
        raise UserError(
            f"--study {path}: this is the definition of a benchmark",
            "a study's file names benchmarks, methods and seeds",
            f"for its own `study:` block: --benchmark {path} --study",
        )
    return source


def _find(number: int, name: str, source: Source, registry: Registry) -> Source | BenchmarkDefinition:
    """Return a benchmark that a study names, the first being number 0; raises `UserError` with its line where there is none."""
    try:
        return registry.find(name, source.path.parent)
    except UserError as error:
        path = ("benchmarks", number)
        raise UserError(f"{source.place(path).text}: benchmarks.{number}: {error.asked}", error.fact, error.advice) from None


def _names(found: Source | BenchmarkDefinition, key: str) -> list[str]:
    """Return the names that a benchmark gives its methods or objectives; of a file that is not as it should be, those that can be read."""
    named: Any = found.data.get(key) if isinstance(found, Source) else getattr(found, key)
    return [*named] if isinstance(named, Mapping) else []


def _laid_under(
    study: Study, request: RunRequest, benchmarks: Sequence[Any], place: Callable[[KeyPath], SourceLocation], inside: str = ""
) -> RunRequest:
    """Return the request with what a study says wherever it says nothing itself.

    Args:
        study: that is asked for.
        request: by which it is.
        benchmarks: of the study.
        place: says where a key of the study is written.
        inside: what its keys begin with there.
    """
    given = study.set or {}
    settings = [PlacedSetting(text, of_study(place(("set", key)), f"{inside}set.{key}"))
                for key, text in zip(given, settings_of(given), strict=True)]  # fmt: skip
    if study.max_cost is not None:
        settings.append(PlacedSetting(f"budget.max_cost={study.max_cost}", of_study(place(("max_cost",)), f"{inside}max_cost")))
    if isinstance(study, StudyFile):
        settings += [PlacedSetting(text, of_study(place(("remote",)), "remote")) for text in remote_settings(study.remote)]
    seeds = study.seeds if "seeds" in study.model_fields_set or not request.resume else None
    return dataclasses.replace(
        request,
        benchmark=tuple(benchmarks),
        method=request.method or study.methods,
        backend=request.backend or study.backend or "",
        num_seeds=seeds if request.num_seeds is None else request.num_seeds,
        start_seed=study.start_seed if request.start_seed is None else request.start_seed,
        settings=(*settings, *request.settings),
        method_args={**({} if study.shared_start is None else {"shared_start": study.shared_start}), **request.method_args},
        parallel=study.parallel if request.parallel is None else request.parallel,
        study_order=request.study_order or study.order or "",
        shares=request.shares or study.shares or "",
        skip_unfit=study.skip_unfit if request.skip_unfit is None else request.skip_unfit,
        compare={} if study.compare is None else study.compare.model_dump(mode="json", exclude_defaults=True),
    )
