"""What experiments measured as tables of pandas, for who goes on in Python: `benchmarking.analysis.load`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarking.archive.stored import StoredExperiment, experiments_of
from benchmarking.comparison.loading import load_experiments
from benchmarking.export.exporter import ExportedExperiment
from benchmarking.export.files import csv_text
from benchmarking.export.syne_tune_exporter import experiment_name, metadata, results_table
from benchmarking.export.tables import tables_of
from benchmarking.results import exported
from definitions.columns import PREFIX
from definitions.errors import UserError
from definitions.results_folder import default_results_dir

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]

_TABLES = ("trials", "reports", "usage", "forecasts")


@dataclass(frozen=True)
class ExperimentFrames:
    """The tables of some experiments, each with `tag`, `benchmark`, `method`, `backend` and `seed` before its own columns.

    Args:
        trials: a row a trial, as in trials.csv.
        reports: a row a report, as in reports.csv.
        usage: a row a job, as in usage.csv.
        forecasts: a row a forecast, as in forecasts.csv; empty where there are no canaries.
        syne_tune: a row a report, as Syne Tune's `load_experiments_df` reads what `outrider export --to syne_tune` writes.
    """

    trials: pandas.DataFrame
    reports: pandas.DataFrame
    usage: pandas.DataFrame
    forecasts: pandas.DataFrame
    syne_tune: pandas.DataFrame


def load(tag: str | Path, results_dir: str | Path | None = None) -> ExperimentFrames:
    """Return what the experiments of a tag measured so far, from their journals, as tables of pandas.

    What cannot be read is warned of, and the rest is returned.

    Args:
        tag: the tag, or its folder.
        results_dir: folder of results; by default `results`, or that of OUTRIDER_RESULTS.

    Raises:
        UserError: there is nothing of this tag, nothing of it can be read, or pandas is not installed.
    """
    try:
        import pandas  # type: ignore[import-untyped, unused-ignore]
    except ModuleNotFoundError as error:
        raise UserError(f"load({str(tag)!r})", "pandas is not installed here", "pip install pandas, or read the CSV files") from error
    folder = Path(tag) if Path(tag).is_dir() else (default_results_dir() if results_dir is None else Path(results_dir)) / tag
    folders = experiments_of(folder.expanduser())
    if not folders:
        raise UserError(f"load({str(tag)!r})", f"there is no experiment in {folder}", "give results_dir, if results are elsewhere")
    loaded = load_experiments(folders, _read, lambda stored, facts: None)
    for line in loaded.warnings:
        warnings.warn(line, stacklevel=2)
    if not loaded.found and loaded.error is not None:
        raise loaded.error
    tables: dict[str, list[Any]] = {name: [] for name in (*_TABLES, "syne_tune")}
    for one in loaded.found:
        for name, table in one.items():
            tables[name].append(table)
    return ExperimentFrames(**{name: _together(found, pandas) for name, found in tables.items()})


def _read(stored: StoredExperiment, facts: Mapping[str, str]) -> dict[str, pandas.DataFrame]:
    if not stored.is_started:
        return {}
    import pandas  # type: ignore[import-untyped, unused-ignore]

    with stored.journal() as journal:
        one = exported(stored.spec, stored.folder, stored.state(journal), journal, stored.region)
        about = {"tag": one.tag, "benchmark": one.benchmark, "method": one.method, "backend": one.backend, "seed": one.number}
        made = {}
        for name, table in tables_of(one).items():
            own = [PREFIX + column if column in about else column for column in table.columns]
            rows = [[*about.values(), *(row[column] for column in table.columns)] for row in table.rows]
            made[name] = pandas.DataFrame(rows, columns=[*about, *own])
        return {**made, "syne_tune": _syne_tune(one)}


def _syne_tune(one: ExportedExperiment) -> pandas.DataFrame:
    """Return the rows of results.csv with what metadata.json says in columns of its own, as their loader lays it beside them."""
    import pandas  # type: ignore[import-untyped, unused-ignore]

    header, rows = results_table(one)
    # Through CSV, so that columns have the types with which it is read.
    found = pandas.read_csv(io.StringIO(csv_text(header, rows)))
    beside: dict[str, Any] = {"tuner_name": experiment_name(one)}
    for name, value in metadata(one).items():
        several = isinstance(value, list) and len(value) != 1
        beside |= {f"{name}-{number}": each for number, each in enumerate(value)} if several else {name: _only(value)}
    return found.assign(**beside)


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value


def _together(tables: Sequence[pandas.DataFrame], pandas: Any) -> pandas.DataFrame:
    """Return tables one below the other, with the columns of all; what one of them has not is absent there."""
    there = [table for table in tables if len(table)]
    return pandas.concat(there, ignore_index=True) if there else (tables[0] if tables else pandas.DataFrame())
