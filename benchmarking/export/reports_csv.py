"""reports.csv: one row a report, streamed from the journal. It can be replayed by the simulated back-end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.controller.journal import Journal, Record
from benchmarking.controller.state import ExperimentState
from benchmarking.export.files import utc, write_csv
from definitions.columns import OUR_COLUMNS, column_of
from definitions.schema import BenchmarkDefinition, PerJob

_CODE = "code_version"
_FIXED = ("trial", "repeat", "job", "attempt", "incarnation", "sequence", "at", "elapsed_s", "after_stop")
_LEVEL = "level"
"""Column of the per-job fidelity, where the benchmark has one: by it the simulated back-end tells runs apart."""


def metric_columns(records: Iterable[Record], taken: Sequence[str]) -> dict[str, str]:
    """Return metric name -> column, in order of appearance; a name that is taken by another column gets the prefix `metric_`."""
    names: dict[str, str] = {}
    used = {*taken, *OUR_COLUMNS, *_FIXED, _LEVEL, _CODE}
    for record in records:
        if record.kind == "reported":
            for name in record.body["metrics"]:
                if name not in names:
                    column = name
                    while column in used:
                        column = f"metric_{column}"
                    used.add(column)
                    names[name] = column
    return names


def report_rows(
    definition: BenchmarkDefinition, state: ExperimentState, records: Iterable[Record], metrics: Sequence[str]
) -> Iterator[list[Any]]:
    """Yield the rows: fixed columns, level, configuration, metrics, and the version of the code where there were several.

    `after_stop` marks what came after the job was asked to stop.
    """
    full = [definition.fidelity.full] if isinstance(definition.fidelity, PerJob) else []
    jobs: dict[str, Mapping[str, Any]] = {}
    stopped: set[str] = set()
    several, code, codes = len(state.codes) > 1, "", dict[str, str]()
    for record in records:
        if record.sequence > state.sequence:
            break  # written by who runs it, since the state was read
        body = record.body
        if record.kind == "code":
            code = body["code"]
        elif record.kind == "start":
            jobs[body["job"]], codes[body["job"]] = body, code
        elif record.kind == "stop":
            stopped.add(body["job"])
        elif record.kind == "reported" and body["job"] in jobs:
            start = jobs[body["job"]]
            trial = state.trials[start["trial"]]
            yield [
                trial.trial,
                trial.repeat,
                body["job"],
                start["attempt"],
                body.get("incarnation", 0),
                body["sequence"],
                utc(record.at),
                body["elapsed_s"],
                "true" if body["job"] in stopped else "false",
                *(full if trial.level is None else [trial.level]),
                *(trial.configuration.get(key) for key in definition.configuration_keys),
                *(body["metrics"].get(name) for name in metrics),
                *([codes.get(body["job"], "")] if several else []),
            ]


def reports_table(definition: BenchmarkDefinition, state: ExperimentState, journal: Journal) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the columns of reports.csv, and its rows by their names."""
    header, rows = _streamed(definition, state, journal)
    return header, [dict(zip(header, row, strict=True)) for row in rows]


def write_reports(path: Path, definition: BenchmarkDefinition, state: ExperimentState, journal: Journal) -> None:
    """Write reports.csv; raises `UserError` where it cannot be written."""
    write_csv(path, *_streamed(definition, state, journal))


def _streamed(definition: BenchmarkDefinition, state: ExperimentState, journal: Journal) -> tuple[list[str], Iterator[list[Any]]]:
    keys = [column_of(key) for key in definition.configuration_keys]
    columns = metric_columns(journal.records(), keys)
    level = [_LEVEL] if isinstance(definition.fidelity, PerJob) else []
    header = [*_FIXED, *level, *keys, *columns.values(), *([_CODE] if len(state.codes) > 1 else [])]
    return header, report_rows(definition, state, journal.records(), list(columns))
