"""trials.csv: one row a trial, from the state of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.export.files import utc, write_csv
from definitions.columns import PREFIX, column_of
from definitions.configuration import configuration_id
from definitions.schema import DERIVED_OBJECTIVES, BenchmarkDefinition, PerJob, Progressive
from definitions.trial import seed_of


def trials_header(definition: BenchmarkDefinition, state: ExperimentState | None = None) -> list[str]:
    """Return the columns of trials.csv.

    Objectives that Outrider measures itself have their column once. The version of the code has one where the trials of `state` ran
    several.
    """
    reported = [name for name in definition.objectives if name not in DERIVED_OBJECTIVES]
    derived = [name for name in definition.objectives if name in DERIVED_OBJECTIVES and name not in ("duration_s", "cost_usd")]
    objectives = [f"{which}_{name}" for which in ("last", "best") for name in reported]
    seed = [PREFIX + definition.seed_argument] if definition.seed_argument is not None else []
    return [
        "trial",
        *(PREFIX + key if key in (*objectives, *seed) else column_of(key) for key in definition.configuration_keys),
        *seed,
        "fidelity",
        "repeat",
        "attempts",
        "status",
        "cause",
        "started_at",
        "ended_at",
        "duration_s",
        "cost_usd",
        *derived,
        *objectives,
        "configuration_id",
        *(
            ["code" if "code" not in definition.configuration_keys else "code_version"]
            if state is not None and len(state.codes) > 1
            else []
        ),
        "message",
    ]


def trials_table(definition: BenchmarkDefinition, state: ExperimentState) -> list[dict[str, Any]]:
    """Return the rows of trials.csv, each by its columns' names."""
    header = trials_header(definition, state)
    return [dict(zip(header, row, strict=True)) for row in trials_rows(definition, state)]


def trials_rows(definition: BenchmarkDefinition, state: ExperimentState) -> Iterator[Sequence[Any]]:
    """Yield the rows of trials.csv, in the order of the trials."""
    reported = [name for name in definition.objectives if name not in DERIVED_OBJECTIVES]
    derived = [name for name in definition.objectives if name in DERIVED_OBJECTIVES and name not in ("duration_s", "cost_usd")]
    several = len(state.codes) > 1
    for trial in state.trials.values():
        yield [
            trial.trial,
            *(trial.configuration.get(key) for key in definition.configuration_keys),
            *([seed_of(state.setup.seed, trial.repeat)] if definition.seed_argument is not None else []),
            _fidelity(definition, trial) if trial.level is None else trial.level,
            trial.repeat,
            trial.starts,
            str(trial.status),
            None if trial.cause is None else str(trial.cause),
            utc(trial.started_at),
            utc(trial.ended_at),
            trial.value_of("duration_s"),
            trial.cost_usd,
            *(trial.value_of(name) for name in derived),
            *(trial.last.get(name) for name in reported),
            *(trial.best.get(name) for name in reported),
            configuration_id(trial.configuration),
            *([trial.code] if several else []),
            trial.message,
        ]


def write_trials(path: Path, definition: BenchmarkDefinition, state: ExperimentState) -> None:
    """Write trials.csv; raises `UserError` where it cannot be written."""
    write_csv(path, trials_header(definition, state), trials_rows(definition, state))


def _fidelity(definition: BenchmarkDefinition, trial: TrialState) -> Any:
    match definition.fidelity:
        case PerJob():
            return definition.fidelity.full
        case Progressive():
            return trial.last.get(definition.fidelity.reported_as)
    return None
