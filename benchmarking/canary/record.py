"""The canaries of an experiment: from its state to canaries, forecasts.csv, and the two tables at the end of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarking.canary.answer import Forecast
from benchmarking.canary.forecast import Question, forecast
from benchmarking.canary.forms import readable
from benchmarking.canary.ladder import is_canary, label, split, varying_keys
from benchmarking.canary.measured import canary_from, measurements
from benchmarking.canary.sampling import sample_name
from benchmarking.canary.table import COMPLETED, OUT_OF_MEMORY, Canary, CanaryTable, checked
from benchmarking.entries import TrialState
from benchmarking.export.files import write_csv
from benchmarking.policy import TrialStatus
from benchmarking.state import ExperimentState
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
    return checked([_canary(definition, trial, keys, fidelity.full, state.setup.seed) for trial in trials])


def _canary(definition: BenchmarkDefinition, trial: TrialState, keys: Sequence[str], full: float, seed: int) -> Canary:
    base, level, repeat = split(trial.configuration)
    status = {TrialStatus.COMPLETED: COMPLETED, TrialStatus.INFEASIBLE: OUT_OF_MEMORY}.get(trial.status, str(trial.status))
    if status == COMPLETED and trial.attempts > 1:
        status = "interrupted"
    values = measurements(trial.usage, trial.last, trial.duration_s, trial.billable_s, trial.cost_usd)
    instance_type = base.get("instance_type") or definition.arguments.get("instance_type") or "local.1cpu"
    count = base.get("instance_count") or definition.arguments.get("instance_count") or 1
    fraction = (full if level is None else level) / full
    return canary_from(
        label(base, keys),
        fraction,
        repeat or 0,
        values,
        status=status,
        instance_type=str(instance_type),
        instance_count=int(count),
        family=(definition.fidelity.family or "") if isinstance(definition.fidelity, PerJob) else "",
        about={"trial": trial.trial, "configuration_id": configuration_id(base), **_manifest(definition, fraction, seed, repeat or 0)},
    )


def _manifest(definition: BenchmarkDefinition, fraction: float, seed: int, repeat: int) -> dict[str, str]:
    """Return by which sample of its data a canary ran, where whole objects are sampled."""
    sampled = any(channel.sampled for channel in definition.inputs.values())
    return {"manifest": sample_name(fraction, seed, repeat)} if sampled and fraction < 1.0 else {}


def full_runs_of(definition: BenchmarkDefinition, state: ExperimentState) -> CanaryTable:
    """Return the runs of the full job that no canary method asked for, as canaries at fraction 1; empty where there are none."""
    fidelity = definition.fidelity
    trials = [trial for trial in state.trials.values() if not is_canary(trial.configuration) and trial.status is TrialStatus.COMPLETED]
    if not isinstance(fidelity, PerJob) or not trials:
        return CanaryTable(())
    keys = varying_keys([trial.configuration for trial in trials])
    return checked([replace(_canary(definition, trial, keys, fidelity.full, 0), repeat=trial.repeat) for trial in trials])


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
    """Return header and rows of the raw measurements: status, fraction, job, sample, times, and of what was sampled the mean and p99.

    A column that nothing was measured for is left out.
    """
    header = ["configuration", "status", "fraction", "repeat", "job", "manifest", "rows", "total_s", "train_s", "cpu_s"]
    rows: list[list[Any]] = [
        [
            canary.configuration, canary.status, canary.fraction, canary.repeat, canary.about.get("job", canary.about.get("trial")),
            canary.about.get("manifest"), None if canary.rows is None else int(canary.rows), canary.total_s, canary.train_s, canary.cpu_s,
        ]
        for canary in table.canaries
    ]  # fmt: skip
    percentages = {"CPU %": "cpu_util", "I/O wait %": "io_wait", "GPU %": "gpu_util"}
    for name, column in percentages.items():
        header += [name, f"{name} p99"]
        for canary, row in zip(table.canaries, rows, strict=True):
            mean = getattr(canary, column, None)
            row += [canary.about.get(column) if mean is None else mean, canary.about.get(f"{column}_p99")]
    for name, mean, peak in (("memory", "rss_mean", "rss_bytes"), ("GPU memory", "gpu_memory_mean", "gpu_bytes")):
        header += [name, f"{name} p99", f"{name} peak"]
        for canary, row in zip(table.canaries, rows, strict=True):
            row += [_gib(canary.about.get(mean)), _gib(canary.about.get(f"{mean}_p99")), _gib(getattr(canary, peak))]
    kept = [k for k in range(len(header)) if k < 5 or any(row[k] is not None for row in rows)]
    return [header[k] for k in kept], [[row[k] for k in kept] for row in rows]


def _gib(value: float | None) -> str | None:
    return None if value is None else f"{value / 1024**3:.2f} GiB"


def outcomes(table: CanaryTable, forecasts: Sequence[Forecast]) -> list[str]:
    """Return a line for each configuration that also ran in full: what it took beside what was forecast from its canaries."""
    full: dict[str, list[float]] = {}
    for canary in table.canaries:
        if canary.fraction >= 1.0 and canary.status == COMPLETED and canary.total_s:
            full.setdefault(canary.configuration, []).append(canary.total_s)
    lines = []
    for one in forecasts:
        if one.metric != "total_s" or one.configuration not in full or one.median is None or one.lo90 is None or one.hi90 is None:
            continue
        actual_s = math.fsum(full[one.configuration]) / len(full[one.configuration])
        where = "inside" if one.lo90 <= actual_s <= one.hi90 else "outside"
        took, said = readable("total_s", actual_s), readable("total_s", one.median)
        lines.append(
            f"{one.configuration} ran in full: {took}; forecast {said}, {one.median / actual_s - 1:+.0%}, {where} its 90 % interval"
        )
    return lines


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
        lines += [*outcomes(canaries, found), ""]
    lines += ["What was measured:", "", table(*raw_rows(canaries))]
    return "\n".join(lines)
