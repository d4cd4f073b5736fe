"""The summary of an experiment as its definition and its back-end have it: what both say of labels and dollars is put together here."""

from __future__ import annotations

from pathlib import Path

from benchmarking.analysis.stand_ins import stand_ins
from benchmarking.controller.state import ExperimentState
from benchmarking.report.summary import Summary, summarise
from definitions.registry import is_built_in
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
        benchmark=definition.name if is_built_in(definition.name) else str(folder / "definition.yaml"),
    )
