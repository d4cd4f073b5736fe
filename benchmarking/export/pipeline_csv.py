"""pipeline.csv: one row a trial and epoch of scripts that measure their input pipeline; ceilings.csv: what their parts could give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarking.analysis.pipeline_figures import ACCELERATOR_UTIL, BOUND_BY, DISTURBED, ceilings_in
from benchmarking.controller.journal import Record
from benchmarking.controller.state import ExperimentState
from benchmarking.export.epoch_reports import epoch_reports
from benchmarking.export.files import write_csv
from definitions.columns import column_of
from definitions.schema import BenchmarkDefinition

_FIRST = (
    "epoch", "samples_per_s", "bytes_per_s", ACCELERATOR_UTIL, BOUND_BY, DISTURBED, "list_s", "download_s", "first_batch_s", "epoch_s",
    "wait_p50_s", "wait_p95_s", "wait_p99_s", "wait_max_s",
)  # fmt: skip
"""Columns that come first, where there are such figures; the others follow as they appear."""

Table = tuple[list[str], list[list[Any]]]


def pipeline_table(definition: BenchmarkDefinition, state: ExperimentState, records: Iterable[Record]) -> Table:
    """Return columns and rows of pipeline.csv: trial, repeat, configuration, the epoch's figures, and what the trial is bound by.

    Args:
        definition: the resolved definition.
        state: of the experiment.
        records: of its journal.
    """
    found = epoch_reports(state, records)
    names = dict.fromkeys(name for _, metrics in found for name in metrics)
    ordered = [*(name for name in _FIRST if name in names or name == BOUND_BY), *(name for name in names if name not in _FIRST)]
    keys = definition.configuration_keys
    rows = []
    for trial, metrics in found:
        state_of = state.trials[trial]
        figures = {**metrics, BOUND_BY: state_of.last.get(BOUND_BY)}
        rows.append([trial, state_of.repeat, *(state_of.configuration.get(key) for key in keys), *(figures.get(name) for name in ordered)])
    taken = {"trial", "repeat", *map(column_of, keys)}
    return ["trial", "repeat", *map(column_of, keys), *(f"metric_{name}" if name in taken else name for name in ordered)], rows


def ceilings_table(state: ExperimentState) -> Table:
    """Return columns and rows of ceilings.csv: a row for each trial and ceiling, lowest first, with what the trial is bound by, and why."""
    header = ["trial", "repeat", "ceiling", "samples_per_s", "relative_error", BOUND_BY, "why"]
    rows: list[list[Any]] = []
    for trial in state.trials.values():
        said = [trial.last.get(BOUND_BY), trial.last.get("bound_why")]
        ordered = sorted(ceilings_in(trial.last).items(), key=lambda item: item[1][0])
        rows += [[trial.trial, trial.repeat, name, rate, error, *said] for name, (rate, error) in ordered]
    return header, rows


def write_pipeline(folder: Path, definition: BenchmarkDefinition, state: ExperimentState, records: Iterable[Record]) -> Sequence[Path]:
    """Write pipeline.csv and ceilings.csv where there is something to write, and return their paths.

    Args:
        folder: for the files.
        definition: the resolved definition.
        state: of the experiment.
        records: of its journal.

    Raises:
        UserError: one cannot be written.
    """
    written = []
    for name, (header, rows) in (("pipeline", pipeline_table(definition, state, records)), ("ceilings", ceilings_table(state))):
        if rows:
            written.append(folder / f"{name}.csv")
            write_csv(written[-1], header, rows)
    return written
