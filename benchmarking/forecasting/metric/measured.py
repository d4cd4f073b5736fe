"""What an experiment measured of an objective at levels below the full one: of canaries, or of the epochs that its jobs passed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from benchmarking.controller.journal import Record
from benchmarking.controller.prefixes import is_prefix
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.data.experiment import full_level
from benchmarking.forecasting.metric.curve import MetricCurve
from benchmarking.report.labels import label, varying_keys
from definitions.schema import BenchmarkDefinition, PerJob, Progressive


def metric_curves(
    definition: BenchmarkDefinition, state: ExperimentState, records: Iterable[Record], metric: str
) -> tuple[dict[str, MetricCurve], float]:
    """Return what was measured of an objective by configuration, and the full level; none where the definition has no levels.

    Args:
        definition: the resolved definition.
        state: of the experiment.
        records: of its journal, which hold what jobs reported on their way.
        metric: the objective.
    """
    fidelity = definition.fidelity
    points: dict[int, list[tuple[float, float]]] = {}
    if isinstance(fidelity, PerJob):
        for trial in state.trials.values():
            value = trial.value_of(metric) if trial.status is TrialStatus.COMPLETED and not is_prefix(trial) else None
            if value is not None and math.isfinite(value):
                points.setdefault(trial.trial, []).append((full_level(fidelity) if trial.level is None else trial.level, value))
    elif isinstance(fidelity, Progressive):
        points = _reported(records, fidelity.reported_as, metric)
    trials = [state.trials[number] for number in points if number in state.trials]
    keys = varying_keys([trial.configuration for trial in trials])
    found: dict[str, list[tuple[float, float]]] = {}
    for trial in trials:
        found.setdefault(label(trial.configuration, keys), []).extend(points[trial.trial])
    curves = {name: MetricCurve(tuple(x for x, _ in one), tuple(y for _, y in one)) for name, one in found.items()}
    return curves, 1.0 if fidelity is None else full_level(fidelity)


def _reported(records: Iterable[Record], level_name: str, metric: str) -> dict[int, list[tuple[float, float]]]:
    """Return by trial each level and the last value that was reported of it."""
    trials: dict[str, int] = {}
    found: dict[int, dict[float, float]] = {}
    for record in records:
        if record.kind == "start":
            trials[record.body["job"]] = record.body["trial"]
        elif record.kind == "reported" and record.body["job"] in trials:
            level, value = (as_number(record.body["metrics"].get(name)) for name in (level_name, metric))
            if level is not None and value is not None and level > 0 and math.isfinite(value):
                found.setdefault(trials[record.body["job"]], {})[level] = value
    return {trial: list(one.items()) for trial, one in found.items()}
