"""What is decided for the user before an experiment starts, gathered where it is known: definition, back-end, machine, earlier runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from backends.base import Backend
from backends.common.disk import free_bytes
from backends.common.hints import interpreter_remark
from benchmarking.archive.earlier_files import earlier_files
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.export.trials_csv import trials_header
from benchmarking.planning.checkpoints import left_out
from benchmarking.planning.concurrency import instance_types
from benchmarking.planning.decisions import Disk, Facts, decisions
from benchmarking.planning.unheard_keys import unheard_keys
from benchmarking.planning.unknown_values import unknown_values
from definitions.backend_description import BackendDescription
from definitions.backend_registry import backend_description
from definitions.scaling import scale_lines
from definitions.schema import BenchmarkDefinition, PerJob


def decided(
    spec: ExperimentSpec,
    backend: Backend,
    n_workers: int,
    *,
    finite: bool,
    environ: Mapping[str, str],
    trials: Callable[[], int | None],
) -> list[str]:
    """Return a line for each thing that is decided for the user.

    Args:
        spec: the experiment.
        backend: where its jobs run.
        n_workers: jobs that run at once.
        finite: whether the method ends by itself.
        environ: the controller's environment.
        trials: returns how many trials there will be, None where that is open; asked where it matters.
    """
    definition, described = spec.definition, backend_description(spec.backend)
    types = instance_types(definition, spec.backend)
    block = definition.block(spec.backend, described.block)
    fits = {name: backend.capacity(name) for name in types if described.instance_problem(name) is None}
    return decisions(
        Facts(
            definition.budget,
            described.default_max_run_s,
            finite,
            definition.n_workers,
            n_workers,
            fits,
            described.shares_this_machine and definition.is_exclusive,
            definition.preload,
            backend.capabilities.price_label,
            backend.capabilities.real_money,
            _disk(spec, described, n_workers, trials),
            (
                *(described.remarks if definition.endpoint is None else described.endpoint_remarks)(block, types, backend.region, environ),
                *what_travels(definition, described, whole=False),
                *_interpreter(definition, described),
                *_start(spec, described),
                *_told(definition),
                *scale_lines(definition),
                *left_out(definition, spec.backend),
            ),
            _forecast_limit(definition),
        )
    )


def _disk(spec: ExperimentSpec, described: BackendDescription[Any], n_workers: int, trials: Callable[[], int | None]) -> Disk | None:
    free = free_bytes(spec.results_dir)
    if free is None:
        return None
    if not described.shares_this_machine:
        return Disk(free, str(spec.results_dir))
    earlier = earlier_files(spec.results_dir, spec.definition.name, spec.backend)
    keep, asked = spec.definition.keep, spec.resolved.origins.get("keep", "default") != "default"
    if earlier is None or earlier.tag == spec.tag:
        return Disk(free, str(spec.results_dir), keep, keep_is_default=not asked)
    return Disk(free, str(spec.results_dir), keep, not asked, earlier.tag, earlier.left, trials(), n_workers)


def what_travels(definition: BenchmarkDefinition, described: BackendDescription[Any], *, whole: bool) -> list[str]:
    """Return lines on what goes to jobs elsewhere; none where nothing does.

    Args:
        definition: resolved for the back-end.
        described: the back-end.
        whole: whether each file is listed; else what somebody has to know.
    """
    found: list[str] = resolve_name(described.travels)(definition, whole=whole) if described.travels else []
    return found


def _forecast_limit(definition: BenchmarkDefinition) -> str:
    """Return in words how long a job may run by its forecast; empty where there are no forecasts."""
    if not isinstance(definition.fidelity, PerJob):
        return ""
    from benchmarking.forecasting.lookup import LIMIT_WORDS

    return LIMIT_WORDS


def _start(spec: ExperimentSpec, described: BackendDescription[Any]) -> list[str]:
    """Return what is to be said of where jobs start, where somebody asked for something else."""
    asked = spec.resolved.origins.get("working_dir", "default") != "default" and spec.definition.working_dir == "job"
    return [f"working_dir: job is not done on {described.name}, whose jobs start in the source"] * (asked and described.starts_in_source)


def _told(definition: BenchmarkDefinition) -> list[str]:
    """Return what is to be said of keys: which the script cannot hear, and which have other names in the tables."""
    unheard = unheard_keys(definition)
    found = [] if unheard is None else [f"{unheard.asked}: {unheard.fact}; {unheard.advice}"]
    found += unknown_values(definition)
    keys = definition.configuration_keys
    columns = zip(keys, trials_header(definition)[1 : 1 + len(keys)], strict=True)
    renamed = ", ".join(f"{key} is {column}" for key, column in columns if column != key)
    if renamed:
        found.append(f"in the columns of trials.csv and reports.csv {renamed}, as they have others of that name")
    return found


def _interpreter(definition: BenchmarkDefinition, described: BackendDescription[Any]) -> list[str]:
    """Return what is to be said of who runs the script."""
    if definition.script is None or definition.command is not None or definition.python is not None:
        return []
    python = sys.executable if described.shares_this_machine else "the image's interpreter"
    return [remark for remark in [interpreter_remark(Path(definition.source_dir) / definition.script, python)] if remark]
