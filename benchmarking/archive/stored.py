"""The state of an experiment, read from its folder without running anything."""

from __future__ import annotations

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.journal import Journal
from benchmarking.controller.method import Method
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.methods.registry import build_method
from definitions.schema import BenchmarkDefinition, Progressive


def repeats_for(method: Method, definition: BenchmarkDefinition) -> int:
    """Return how often each suggestion is measured: as the definition says, unless the method repeats its measurements itself."""
    return 1 if getattr(method, "measures_repeats", False) else definition.repeats


def state_setup(definition: BenchmarkDefinition, seed: int, *, hears_levels: bool, repeats: int | None = None) -> StateSetup:
    """Return what the fold of an experiment's journal depends on besides the records; `repeats` are the definition's where None."""
    fidelity = definition.fidelity if isinstance(definition.fidelity, Progressive) else None
    return StateSetup(
        objectives=definition.objectives,
        repeats=definition.repeats if repeats is None else repeats,
        order=definition.order if repeats in (None, definition.repeats) else "default",
        seed=seed,
        level_name=fidelity.reported_as if fidelity is not None and hears_levels else None,
        full_level=None if fidelity is None else fidelity.full,
    )


def read_state(spec: ExperimentSpec, journal: Journal) -> ExperimentState:
    """Return the state that an experiment's journal amounts to, without running anything."""
    method = build_method(spec.method, spec.definition, spec.seed, spec.method_arguments)
    repeats = repeats_for(method, spec.definition)
    state = ExperimentState(state_setup(spec.definition, spec.seed, hears_levels=method.hears_levels, repeats=repeats))
    for record in journal.records():
        state.apply(record)
    return state
