"""The canaries and the full runs of an experiment, from its state."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.analysis.measurements import measurements
from benchmarking.controller.prefixes import is_prefix
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import StateSetup, TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.data.canary import COMPLETED, OUT_OF_MEMORY, PREFIX, Canary, CanaryTable, canary_from, checked
from benchmarking.forecasting.prefix.measured import measured
from benchmarking.planning.sampling import sample_name
from benchmarking.report.labels import label, varying_keys
from definitions.configuration import configuration_id
from definitions.schema import BenchmarkDefinition, Fidelity, PerJob


def canaries_of(definition: BenchmarkDefinition, state: ExperimentState) -> CanaryTable:
    """Return the canaries of an experiment, full runs among them at fraction 1; empty where there are none.

    Fractions are shares of the full job's level, whatever the level counts.
    """
    # A definition without levels has prefixes alone.
    has_levels = isinstance(definition.fidelity, PerJob)
    small = [trial for trial in state.trials.values() if trial.level is not None and (has_levels or is_prefix(trial))]
    trials = [trial for trial in small if trial.status.is_final]
    if not trials:
        return CanaryTable(())
    keys = varying_keys([trial.configuration for trial in trials])
    return checked([_canary(definition, trial, keys, full_level(definition.fidelity), state.setup) for trial in trials])


def full_level(fidelity: Fidelity | None) -> float:
    """Return the level of the full job, whole where it is; 1 where a definition has no levels, so that its canaries are prefixes alone."""
    return 1.0 if fidelity is None else fidelity.full


def _canary(definition: BenchmarkDefinition, trial: TrialState, keys: Sequence[str], full: float, setup: StateSetup) -> Canary:
    base = trial.configuration
    status = {TrialStatus.COMPLETED: COMPLETED, TrialStatus.INFEASIBLE: OUT_OF_MEMORY}.get(trial.status, str(trial.status))
    if status == COMPLETED and is_prefix(trial):
        status = PREFIX
    elif status == COMPLETED and trial.starts > 1:
        status = "interrupted"
    values = measurements(trial.usage, trial.last, trial.duration_s, trial.value_of("billable_s") or 0.0, trial.value_of("cost_usd"))
    instance_type = base.get("instance_type") or setup.default_instance_type
    count = base.get("instance_count") or definition.arguments.get("instance_count") or 1
    fraction = (full if trial.level is None else trial.level) / full
    return canary_from(
        label(base, keys),
        fraction,
        trial.repeat,
        values,
        status=status,
        instance_type=str(instance_type),
        instance_count=int(count),
        progress=None if trial.progress is None else measured(trial.progress),
        family=(definition.fidelity.family or "") if isinstance(definition.fidelity, PerJob) else "",
        about={
            "trial": trial.trial,
            "configuration_id": configuration_id(base),
            **_manifest(definition, fraction, setup.seed, trial.repeat),
        },
    )


def _manifest(definition: BenchmarkDefinition, fraction: float, seed: int, repeat: int) -> dict[str, str]:
    """Return by which sample of its data a canary ran, where whole objects are sampled."""
    sampled = any(channel.sampled for channel in definition.inputs.values())
    return {"manifest": sample_name(fraction, seed, repeat)} if sampled and fraction < 1.0 else {}


def full_runs_of(definition: BenchmarkDefinition, state: ExperimentState) -> CanaryTable:
    """Return the runs of the full job that no canary method asked for, as canaries at fraction 1; empty where there are none."""
    fidelity = definition.fidelity
    trials = [trial for trial in state.trials.values() if trial.level is None and trial.status is TrialStatus.COMPLETED]
    if not isinstance(fidelity, PerJob) or not trials:
        return CanaryTable(())
    keys = varying_keys([trial.configuration for trial in trials])
    return checked([_canary(definition, trial, keys, fidelity.full, state.setup) for trial in trials])
