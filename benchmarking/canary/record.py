"""The canaries of an experiment: from its state to canaries, forecasts.csv, and the two tables at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarking.canary.answer import Forecast
from benchmarking.canary.forecast import Question, forecast
from benchmarking.canary.ladder import is_canary, label, split, varying_keys
from benchmarking.canary.measured import canary_from, measurements
from benchmarking.canary.table import COMPLETED, OUT_OF_MEMORY, Canary, CanaryTable, checked
from benchmarking.export.files import write_csv
from benchmarking.policy import TrialStatus
from benchmarking.state import ExperimentState, TrialState
from definitions.configuration import configuration_id
from definitions.schema import BenchmarkDefinition, PerJob


def canaries_of(definition: BenchmarkDefinition, state: ExperimentState) -> CanaryTable:
    """Return the canaries of an experiment, full runs among them at fraction 1; empty where there are none.

    Fractions are shares of the full job's level, whatever the level counts.
    """
    fidelity = definition.fidelity
    trials = [trial for trial in state.trials.values() if is_canary(trial.configuration) and trial.status.is_final]
    if not isinstance(fidelity, PerJob) or not trials:
        return CanaryTable(())
    keys = varying_keys([split(trial.configuration)[0] for trial in trials])
    return checked([_canary(definition, trial, keys, fidelity.full) for trial in trials])


def _canary(definition: BenchmarkDefinition, trial: TrialState, keys: Sequence[str], full: float) -> Canary:
    base, level, repeat = split(trial.configuration)
    status = {TrialStatus.COMPLETED: COMPLETED, TrialStatus.INFEASIBLE: OUT_OF_MEMORY}.get(trial.status, str(trial.status))
    if status == COMPLETED and trial.attempts > 1:
        status = "interrupted"
    values = measurements(trial.usage, trial.last, trial.duration_s, trial.billable_s, trial.cost_usd)
    instance_type = base.get("instance_type") or definition.arguments.get("instance_type") or "local.1cpu"
    count = base.get("instance_count") or definition.arguments.get("instance_count") or 1
    return canary_from(
        label(base, keys),
        (full if level is None else level) / full,
        repeat or 0,
        values,
        status=status,
        instance_type=str(instance_type),
        instance_count=int(count),
        family=(definition.fidelity.family or "") if isinstance(definition.fidelity, PerJob) else "",
        about={"trial": trial.trial, "configuration_id": configuration_id(base)},
    )


def forecasts_of(definition: BenchmarkDefinition, state: ExperimentState, question: Question | None = None) -> list[Forecast]:
    """Return the forecasts that an experiment's canaries allow; full runs of the same configurations do not enter them."""
    table = canaries_of(definition, state)
    small = [canary for canary in table.canaries if canary.fraction < 1.0]
    return forecast(CanaryTable(tuple(small), table.notes), question) if small else []


def write_forecasts(path: Path, definition: BenchmarkDefinition, state: ExperimentState) -> None:
    """Write forecasts.csv where an experiment has canaries; raises `UserError` where it cannot be written."""
    found = forecasts_of(definition, state)
    if found:
        from benchmarking.canary.forms import FIELDS, as_rows

        write_csv(path, FIELDS, [list(row.values()) for row in as_rows(found)])


def raw_rows(table: CanaryTable) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of the raw measurements: status, fraction, what was used, means and 95 % quantiles where they were sampled."""
    header = ["configuration", "status", "fraction", "repeat", "trial", "rows", "total_s", "train_s", "cpu_s", "memory", "CPU %", "CPU p95",
              "GPU %", "GPU p95", "GPU memory"]  # fmt: skip
    rows = [
        [
            canary.configuration, canary.status, canary.fraction, canary.repeat, canary.about.get("trial"),
            None if canary.rows is None else int(canary.rows), canary.total_s, canary.train_s, canary.cpu_s, _gib(canary.rss_bytes),
            canary.cpu_util, canary.about.get("cpu_util_p95"), canary.gpu_util, canary.about.get("gpu_util_p95"), _gib(canary.gpu_bytes),
        ]
        for canary in table.canaries
    ]  # fmt: skip
    kept = [k for k in range(len(header)) if k < 5 or any(row[k] is not None for row in rows)]
    return [header[k] for k in kept], [[row[k] for k in kept] for row in rows]


def _gib(value: float | None) -> str | None:
    return None if value is None else f"{value / 1024**3:.2f} GiB"


def report(definition: BenchmarkDefinition, state: ExperimentState, question: Question | None = None) -> str:
    """Return the two tables: the forecast of the full job by configuration with price and cost, and the raw measurements.

    Empty where the experiment has no canaries.
    """
    from benchmarking.canary.forms import summary_rows
    from benchmarking.report.text import table

    question = question or Question()
    canaries = canaries_of(definition, state)
    if not canaries.canaries:
        return ""
    found = forecasts_of(definition, state, question)
    lines = []
    if found:
        prices = {canary.configuration: question.billing.usd_per_hour(canary.instance_type) for canary in canaries.canaries}
        lines += ["Forecast of the full job (median, 80 % interval):", "", table(*summary_rows(found, prices)), ""]
        lines += [f"{one.configuration}: {one.metric} {one.status}: {one.why}" for one in found
                  if one.metric in ("total_s", "rss_bytes", "gpu_bytes") and str(one.status) != "ok"][:12]  # fmt: skip
        lines.append("")
    lines += ["What was measured:", "", table(*raw_rows(canaries))]
    return "\n".join(lines)
