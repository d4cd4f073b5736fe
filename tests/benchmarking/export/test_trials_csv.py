import pytest

from backends.failures import Cause
from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.export.reports_csv import write_reports
from benchmarking.export.trials_csv import trials_header, write_trials
from definitions.configuration import configuration_id
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeJobs, FakeTable, definition
from tests.benchmarking.export.exported import PROGRESSIVE, rows_of, run


def test_the_columns_of_trials_csv_are_the_contract():
    benchmark = definition(
        space={"x": {"choice": [1]}, "instance_type": {"choice": ["a"]}}, objectives={"loss": "min", "cost_usd": "min", "acc": "max"}
    )
    assert trials_header(benchmark)[:17] == [
        "trial",
        "x",
        "instance_type",
        "fidelity",
        "repeat",
        "attempts",
        "status",
        "cause",
        "started_at",
        "ended_at",
        "duration_s",
        "cost_usd",
        "last_loss",
        "last_acc",
        "best_loss",
        "best_acc",
        "configuration_id",
    ]


def test_each_column_is_there_once_whatever_the_objectives():
    for objectives in ({"cost_usd": "min"}, {"billable_s": "min", "duration_s": "min", "loss": "min"}):
        header = trials_header(definition(objectives=objectives))
        assert len(header) == len(set(header))
        assert set(objectives) <= {*header, *(name.removeprefix("last_") for name in header)}


def test_trials_csv_row_by_row(tmp_path):
    benchmark = definition(space={"x": {"choice": [0, 1, 2]}}, repeats=2, fidelity=PROGRESSIVE)
    backend = SimulatedBackend(FakeTable(fails={1: Cause.OUT_OF_MEMORY}), start_at=1795817069.123)
    state, _ = run(benchmark, method="GRID", backend=backend, n_workers=1)
    write_trials(tmp_path / "trials.csv", benchmark, state)
    rows = rows_of(tmp_path / "trials.csv")
    assert list(rows[0]) == trials_header(benchmark)
    assert [(row["trial"], row["x"], row["repeat"]) for row in rows] == [
        ("0", "0", "0"), ("1", "0", "1"), ("2", "1", "0"), ("3", "1", "1"), ("4", "2", "0"), ("5", "2", "1"),
    ]  # fmt: skip
    first, failed = rows[0], rows[2]
    assert (first["fidelity"], first["attempts"], first["status"], first["cause"]) == ("3", "1", "completed", "")
    assert (first["started_at"], first["ended_at"]) == ("2026-11-27T22:04:29.123Z", "2026-11-27T22:04:32.373Z")
    assert float(first["duration_s"]) == pytest.approx(3.25, abs=1e-6)
    assert float(first["cost_usd"]) == pytest.approx(3.25 / 3600 * 3.6, abs=1e-9)
    assert (float(first["last_loss"]), float(first["best_loss"])) == (1 / 3, 1 / 3)
    assert first["configuration_id"] == configuration_id({"x": 0})
    assert (failed["status"], failed["cause"]) == ("infeasible", "out_of_memory")
    assert failed["message"] == "the measured run ended with out_of_memory"


def test_unknown_prices_are_empty_cells(tmp_path):
    benchmark = definition(budget=Budget(max_num_trials=1))
    state, _ = run(benchmark, jobs=FakeJobs(usd_per_hour=None))
    write_trials(tmp_path / "trials.csv", benchmark, state)
    assert rows_of(tmp_path / "trials.csv")[0]["cost_usd"] == ""


def test_the_same_files_come_from_a_journal_on_disk(tmp_path):
    benchmark = definition(budget=Budget(max_num_trials=3))
    stored = SqliteJournal(tmp_path / "journal.sqlite")
    state, _ = run(benchmark, journal=stored)
    write_reports(tmp_path / "stored.csv", benchmark, state, stored)
    memory_state, memory = run(benchmark)
    write_reports(tmp_path / "memory.csv", benchmark, memory_state, memory)
    stored.close()
    assert (tmp_path / "stored.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()
