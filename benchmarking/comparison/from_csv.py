"""A run read from trials.csv, where its journal is missing or damaged."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from benchmarking.analysis.stand_ins import stand_ins
from benchmarking.archive.stored import StoredExperiment
from benchmarking.comparison.reading import facts_of
from benchmarking.comparison.runs import Axis, ComparedRun, MeasuredTrial, Measurement
from definitions.columns import PREFIX, column_of
from definitions.configuration import Configuration
from definitions.scalars import mean
from definitions.schema import DERIVED_OBJECTIVES, BenchmarkDefinition, PerJob, Progressive

_STATUSES_OVER = frozenset({"completed", "failed", "infeasible", "diverged", "stopped"})


def run_from_csv(stored: StoredExperiment, facts: Mapping[str, str]) -> ComparedRun | None:
    """Return what trials.csv of an experiment says; None where there is none that can be read.

    It knows no level below the full one, and nothing of when no controller ran: all is time.

    Args:
        stored: the experiment.
        facts: what else has to be alike.
    """
    try:
        with (stored.folder / "trials.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row.get("trial") and row.get("status")]
    except (OSError, ValueError, csv.Error):
        return None
    spec, definition = stored.spec, stored.spec.definition
    begun = [at for row in rows if (at := _seconds(row.get("started_at"))) is not None]
    over = sorted((row for row in rows if row["status"] in _STATUSES_OVER), key=lambda row: row.get("ended_at") or "")
    trials: list[MeasuredTrial] = []
    measurements: list[Measurement] = []
    groups: dict[str, list[dict[str, float]]] = {}
    spent, unpriced, now = 0.0, False, 0.0
    for finished, row in enumerate(over, 1):
        cost, ended = _number(row.get("cost_usd")), _seconds(row.get("ended_at"))
        spent, unpriced = spent + (cost or 0.0), unpriced or cost is None
        now = max(now, ended - min(begun)) if ended is not None and begun else now
        if row["status"] != "completed" or not _is_full(definition, row.get("fidelity")):
            continue
        values = {name: value for name in definition.objectives if (value := _number(row.get(_column(definition, name)))) is not None}
        configuration: Configuration = {key: _plain(row.get(_key(definition, key), "")) for key in definition.configuration_keys}
        trials.append(MeasuredTrial(configuration, int(row.get("repeat") or 0), values))
        same = groups.setdefault(row.get("configuration_id") or row["trial"], [])
        same.append(values)
        if len(same) == spec.repeats:
            means = {name: found for name in values if (found := mean([one[name] for one in same if name in one])) is not None}
            level = definition.fidelity.full if isinstance(definition.fidelity, Progressive) else None
            place = (now, float(finished), None if unpriced else spent)
            measurements.append(Measurement(len(measurements), configuration, means, *place, True, level))
    ends = {Axis.WALLCLOCK: now, Axis.TRIALS: float(len(over))} | ({} if unpriced else {Axis.COST: spent})
    return ComparedRun(
        spec.tag, definition.name, spec.method, spec.number, spec.backend, definition.objectives, tuple(measurements), ends, "",
        {**facts_of(stored, ()), **facts}, tuple(trials), stood_in=stand_ins(definition, spec.backend, facts.get("dollars", "")),
    )  # fmt: skip


def _is_full(definition: BenchmarkDefinition, level: str | None) -> bool:
    return not level or not isinstance(definition.fidelity, PerJob) or _number(level) == definition.fidelity.full


def _reported(definition: BenchmarkDefinition) -> Sequence[str]:
    return [f"{which}_{name}" for which in ("last", "best") for name in definition.objectives if name not in DERIVED_OBJECTIVES]


def _column(definition: BenchmarkDefinition, objective: str) -> str:
    return objective if objective in DERIVED_OBJECTIVES else f"last_{objective}"


def _key(definition: BenchmarkDefinition, key: str) -> str:
    return PREFIX + key if key in (*_reported(definition), definition.seed_argument) else column_of(key)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _plain(text: str) -> str | float:
    value = _number(text)
    return text if value is None else value


def _seconds(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return None
