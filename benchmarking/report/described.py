"""The summary of an experiment as its definition and its back-end have it: what both say of labels and dollars is put together here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarking.analysis.stand_ins import stand_ins
from benchmarking.controller.state import ExperimentState
from benchmarking.report.summary import Summary, summarise
from definitions.builtin_backends import DEFAULT
from definitions.definition_hash import measurement_hash
from definitions.registry import built_in
from definitions.resolve import resolve
from definitions.schema import BenchmarkDefinition


def summary_of(
    definition: BenchmarkDefinition, backend: str, state: ExperimentState, dollars: str, folder: Path, *, keeps_warm: bool = False
) -> Summary:
    """Return the summary of an experiment.

    Args:
        definition: resolved.
        backend: where it ran.
        state: all that its journal amounts to.
        dollars: what kind of dollars its costs are; empty for real ones.
        folder: of the experiment, whose definition is named where commands are told to run more of it.
        keeps_warm: whether its back-end was to keep instances warm.
    """
    return summarise(
        state,
        definition.objectives,
        dollars,
        definition.configuration_keys,
        keeps_warm=keeps_warm,
        stood_in=stand_ins(definition, backend, dollars),
        definition=definition,
        benchmark=(_as_commands_call_it(definition, backend, folder), *_where(backend, dollars)),
    )


def _where(backend: str, dollars: str) -> tuple[str, ...]:
    """Return the words of a command that runs on a back-end, on an imitation of its platform where it did."""
    named = () if backend == DEFAULT else ("--backend", backend)
    return (*named, "--emulate") if dollars == "emulated" else named


def _as_commands_call_it(definition: BenchmarkDefinition, backend: str, folder: Path) -> str:
    """Return the name of a built-in benchmark, and the kept definition of any other, or where more was set than commands say again.

    Commands say the configuration and the scale; a data set or a fixed argument that was set for this run is in the kept definition alone.
    """
    kept = str(folder / "definition.yaml")
    shipped = _shipped(definition.name, backend, definition.scale)
    return definition.name if shipped == (measurement_hash(definition), definition.arguments) else kept


@lru_cache
def _shipped(name: str, backend: str, scale: float) -> tuple[str, Mapping[str, Any]] | None:
    """Return the hash and the fixed arguments of a built-in benchmark as it comes; None where there is none of this name."""
    source = built_in(name)
    if source is None:
        return None
    found = resolve(source, backend, [f"scale={scale}"], check_files=False, keep_foreign=True).definition
    return measurement_hash(found), found.arguments
