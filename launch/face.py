"""`outrider.run` and `outrider.load`: the planning and execution of the command line, for definitions, mappings and functions."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarking.controller.ending import Reason
from benchmarking.export.files import utc
from definitions.backend_description import DataAccess
from definitions.backend_registry import backend_description, backend_names
from definitions.errors import UserError, did_you_mean
from definitions.python_source import laid_over, python_source
from definitions.registry import Registry
from definitions.results_folder import default_results_dir
from definitions.schema import BenchmarkDefinition
from definitions.settings import settings_of
from definitions.yaml_source import parse_scalar
from launch.cli import BUDGET_FLAGS, backend_of
from launch.compared_results import compared_methods
from launch.confirm import confirm
from launch.dry_run import describe
from launch.emulated import emulated
from launch.experiment_outcome import with_results
from launch.experiments import execute, resume_command
from launch.functions import definition_of
from launch.launching.agreement import agree, missing
from launch.launching.going_on import go_on
from launch.launching.launched_here import check_not_launched
from launch.launching.launching import Launched, launch, launching
from launch.launching.remote_run import RemoteRun
from launch.launching.words import dry_run_text
from launch.panels import in_notebook, panel_here
from launch.planning import folders_of, plan
from launch.progress import Progress
from launch.request import RunRequest
from launch.result import Interrupted, Result, Results, result_of
from launch.study_report import leave_report
from launch.study_request import with_study
from launch.tracking import check_tracking, tracking

_LISTS = ("method", "warm_start", "track")
"""Fields of a request that one value is enough for."""

_DERIVED = ("compare",)
"""Fields of a request that a study fills in."""

_SHORT = ("ladder", "shared_start", "warm_pool")
"""Flags that are short for something else."""

_KINDS = {"str": (str, "text"), "int | None": (int, "a whole number"), "bool": (bool, "True or False")}
_KINDS |= {"bool | None": _KINDS["bool"]}
"""Types of a request's fields, and how they are called."""


def run(
    benchmark: Any, options: Mapping[str, Any], modules: Mapping[str, ModuleType] = sys.modules
) -> Result | Results | RemoteRun[Result | Results] | None:
    """Run experiments; see `outrider.run`.

    Args:
        benchmark: as there.
        options: as there.
        modules: what the caller's imports have led to.
    """
    rest = dict(options)
    yes, emulate = bool(rest.pop("yes", False)), bool(rest.pop("emulate", False))
    remote = bool(rest.get("remote"))
    if not isinstance(rest.get("remote"), Mapping):
        rest.pop("remote", None)  # else it says what the controllers are like
    elif rest.get("resume"):
        # There is no benchmark whose definition it could be laid over.
        rest["settings"] = [*_settings(rest.get("settings") or ()), *_of_controllers(rest.pop("remote"))]
    several = isinstance(benchmark, (list, tuple))
    with emulated(os.environ) if emulate else contextlib.nullcontext():
        request = with_study(_request(benchmark, rest, modules))
        if remote:
            launched = _launched(request, yes=yes)
            # The emulator of this call ends with it.
            return launched.wait() if emulate and launched is not None else launched
        planned = plan(request)
        if request.dry_run:
            print(describe(planned.specs, os.environ, planned.study))
            return None
        check_not_launched(planned.tag_folder, request)
        check_tracking(request.track, os.environ)
        is_answered = in_notebook() or (sys.stdin is not None and sys.stdin.isatty())
        confirm(
            planned.specs, study=planned.study, yes=yes, ask=input if is_answered else None, say=lambda text: print(text, file=sys.stderr)
        )
        progress = Progress(sys.stderr, panel=panel_here(sys.stderr, os.environ), verbose=request.verbose)
        with tracking(request.track, planned.specs[0].folder.parent.parent, os.environ, progress.say):
            outcomes = execute(planned, request, progress)
    found = [one.result for one in with_results(outcomes) if one.result is not None]
    results = Results(result_of(one.spec, one.state, one.price_label, keeps_warm=one.described.keeps_warm) for one in found)
    if any(one.reason in (Reason.INTERRUPTED, Reason.ALONE) for one in outcomes):
        raise Interrupted(results, resume_command(planned.specs[0].tag, request))
    if several or len(results) > 1:
        results.comparison = compared_methods([one.spec.folder for one in results], request.results_dir)
    if planned.study is not None:
        leave_report(planned.tag_folder, progress.say, progress.say, is_asked_anew=bool(request.compare))
    return results[0] if len(results) == 1 and not several else results


def _launched(request: RunRequest, *, yes: bool) -> RemoteRun[Result | Results] | None:
    """Launch a request, or go on with a launched run; None after a dry run, which only prints."""
    say = functools.partial(print, file=sys.stderr)
    if request.resume:
        return _handle(go_on(request, os.environ, utc(time.time()) or "", say), request, say)
    planned = plan(request)
    with launching(planned, request, os.environ) as found:
        if request.dry_run:
            print("\n".join(filter(None, (dry_run_text(found), missing(found)))))
            return None
        for note in found.notes:
            say(note)
        is_answered = in_notebook() or (sys.stdin is not None and sys.stdin.isatty())
        agree(found, yes=yes, ask=input if is_answered else None, say=say)
        launched = launch(found, say)
    return _handle(launched, request, say)


def _handle(launched: Launched, request: RunRequest, say: Callable[[str], None]) -> RemoteRun[Result | Results]:
    tag = launched.place.tag
    return RemoteRun(launched, lambda: load(tag, request.results_dir), request.results_dir / tag, say)


def _request(benchmark: Any, options: Mapping[str, Any], modules: Mapping[str, ModuleType]) -> RunRequest:
    """Return what is asked for; raises `UserError` for an option that there is not, or not of this kind."""
    types = {field.name: str(field.type) for field in dataclasses.fields(RunRequest)}
    fields = {*types} - {"benchmark", *_DERIVED}
    keys = {*BenchmarkDefinition.model_fields, *backend_names()} - {"name"}
    given: dict[str, Any] = {}
    added: dict[str, Any] = {}
    settings = _settings(options.get("settings") or ())
    for name, value in ((name, _python(value)) for name, value in options.items() if value is not None):
        if name in fields:
            given[name] = _tuple(value) if name in _LISTS else value
        elif name in BUDGET_FLAGS:
            settings.append(f"{BUDGET_FLAGS[name]}={str(value).lower() if isinstance(value, bool) else value}")
        elif name in keys:
            added[name] = value
        elif name not in _SHORT:
            known = sorted({*fields, *BUDGET_FLAGS, *keys, *_SHORT, "emulate", "remote", "yes"})
            raise UserError(f"outrider.run({name}=...): there is no such option", did_you_mean(name, known))
    for name, value in given.items():
        kind, called = _KINDS.get(types[name], (None, ""))
        if kind is not None and type(value) is not kind:
            raise UserError(f"outrider.run({name}={value!r})", f"it is {called}")
    if options.get("ladder"):
        ladder = options["ladder"]
        levels = ladder.split(",") if isinstance(ladder, str) else _tuple(_python(ladder))
        given["method_args"] = {**given.get("method_args", {}), "ladder": [parse_scalar(str(level)) for level in levels]}
    if options.get("shared_start") is not None:
        given["method_args"] = {**given.get("method_args", {}), "shared_start": _python(options["shared_start"])}
    given["backend"] = backend_of(given.get("backend"), warm=bool(options.get("warm_pool")))
    given["settings"] = tuple(settings)
    given["results_dir"] = Path(given.get("results_dir") or default_results_dir()).expanduser()
    given["cache_dir"] = Path(given.get("cache_dir") or os.environ.get("OUTRIDER_CACHE") or RunRequest.cache_dir).expanduser()
    request = RunRequest(**given)
    benchmarks = () if benchmark is None else _tuple(benchmark)
    if not benchmarks and added:
        raise UserError(f"outrider.run({', '.join(added)}=...)", "there is no benchmark that this could be said of")
    return dataclasses.replace(request, benchmark=tuple(_benchmark(one, added, request, modules) for one in benchmarks))


def _settings(given: Any) -> list[str]:
    """Return settings as texts, those of a mapping too: its values mean what they are, and a list of them is a sweep."""
    if isinstance(given, Mapping):
        return settings_of({key: _python(value) for key, value in given.items()})
    return [str(one) for one in _tuple(given)]


def _of_controllers(given: Mapping[str, Any]) -> list[str]:
    """Return what is said of the controllers as settings of the block `remote:`."""
    tags = given.get("tags") or {}
    flat = {key: value for key, value in given.items() if key != "tags"} | {f"tags.{key}": value for key, value in tags.items()}
    return _settings({f"remote.{key}": value for key, value in flat.items()})


def load(tag: str, results_dir: Path | str | None) -> Result | Results:
    """Read a tag again; see `outrider.load`."""
    from benchmarking.archive.stored import load as load_stored

    results = Results()
    for folder in folders_of(tag, Path(results_dir or default_results_dir()).expanduser(), "load"):
        stored = load_stored(folder)
        if stored.is_started:
            # A plug-in that is gone tells nothing more of its prices.
            described = backend_description(stored.spec.backend) if stored.spec.backend in backend_names() else None
            label = "nominal" if described is not None and described.nominal else ""
            with stored.journal() as journal:
                state = stored.state(journal)
            results.append(result_of(stored.spec, state, label, keeps_warm=described is not None and described.keeps_warm))
    if len(results) == 1:
        return results[0]
    results.comparison = compared_methods([one.spec.folder for one in results], Path(results_dir or default_results_dir()).expanduser())
    return results


def _benchmark(benchmark: Any, added: Mapping[str, Any], request: RunRequest, modules: Mapping[str, ModuleType]) -> Any:
    """Return what planning takes for one benchmark, keys from Python laid over what it says."""
    here = Path()  # relative paths are so to the current folder
    if isinstance(benchmark, Mapping):
        return python_source({**benchmark, **added}, here)
    if isinstance(benchmark, BenchmarkDefinition):
        return python_source({**benchmark.model_dump(exclude_unset=True), **added}, here) if added else benchmark
    if callable(benchmark):
        described = backend_description(request.backend_name)
        elsewhere = not described.shares_this_machine and described.data_access is not DataAccess.NOTHING
        # Of what is set, limits give a function nothing.
        more = any(one.partition("=")[0] not in BUDGET_FLAGS.values() for one in request.settings)
        keys = definition_of(benchmark, added, request.cache_dir, modules, elsewhere=elsewhere, more=more)
        return python_source(keys, here)
    if not isinstance(benchmark, (str, os.PathLike)):
        raise UserError(
            f"outrider.run({benchmark!r})",
            "it takes a name, the path of a YAML file, a mapping, a definition, a function, or a list of these",
        )
    if not added:
        return str(benchmark)
    found = Registry().find(str(benchmark))
    return _benchmark(found, added, request, modules) if isinstance(found, BenchmarkDefinition) else laid_over(found, added, here)


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _python(value: Any) -> Any:
    """Return numpy's numbers and arrays as Python's, anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value
