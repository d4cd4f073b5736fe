"""Experiments recorded by the first version of the journal and of experiment.json: they export and go on as they did then."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import CsvTable
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.experiment import run_experiment
from benchmarking.surroundings import Surroundings
from launch.__main__ import main
from launch.planning import plan
from launch.request import RunRequest
from tests.benchmarking.archive.stored_folders import METHODS, VERSION_1, copied


def version_of(folder: Path) -> str:
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as database:
        return database.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()[0]


def simulated(name, context):
    return SimulatedBackend(CsvTable(VERSION_1 / "table.csv", ("x",)), seed=context.seed, start_delay_s=1.0)


@pytest.mark.parametrize("name", METHODS)
def test_its_csv_files_are_exported_as_that_version_wrote_them_and_its_journal_is_left_alone(tmp_path, name, capsys):
    folder = copied(tmp_path, name)
    assert main(["export", name, "--results_dir", str(tmp_path / "results")]) == 0
    assert version_of(folder) == "1"
    for file in ("trials.csv", "reports.csv"):
        assert (folder / file).read_text(encoding="utf-8") == (folder / f"exported_{file}").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["canary", "repeated"])
def test_it_goes_on_to_the_same_end_and_is_of_the_present_version_then(tmp_path, name, caplog):
    folder = copied(tmp_path, name)
    (spec,) = plan(RunRequest(resume=name, results_dir=tmp_path / "results")).specs
    result = run_experiment(spec, Surroundings({}, tmp_path, make_backend=simulated))
    assert result.ending.message == f"all {len(result.trials)} trials are done"
    assert "the journal wins" not in caplog.text
    for file in ("trials.csv", "reports.csv"):
        assert (folder / file).read_text(encoding="utf-8") == (folder / f"resumed_{file}").read_text(encoding="utf-8")
    assert version_of(folder) == "2"


def test_a_suggestions_level_and_repeat_are_fields_of_its_record_whichever_version_wrote_it(tmp_path):
    folder = copied(tmp_path, "canary")

    def suggestions():
        with contextlib.closing(SqliteJournal(folder / "journal.sqlite", read_only=True)) as journal:
            return [record.body for record in journal.records() if record.kind == "suggest"]

    read = suggestions()
    assert [(one["configuration"], one["level"], one["repeat"]) for one in read[2:5]] == [
        ({"x": 3}, 0.1, 0),
        ({"x": 1}, 0.1, 1),
        ({"x": 2}, 0.1, 1),
    ]
    SqliteJournal(folder / "journal.sqlite").close()
    assert version_of(folder) == "2"
    assert suggestions() == read
