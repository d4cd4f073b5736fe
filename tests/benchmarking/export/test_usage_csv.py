import pytest

from backends.events import Accepted, Closed, Ended, Started
from backends.failures import Cause, Outcome
from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.export.usage_csv import usage_columns, usage_table, write_usage
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeTable, MemoryJournal, definition
from tests.benchmarking.export.exported import rows_of, run

USAGE = {
    "stages_s": {"Starting": 90.0, "Downloading": 20.0, "Training": 300.0, "Interrupted": 5.0},
    "phases_s": {"startup": 4.0, "load": 16.0, "train": 270.0, "checkpoint": 10.0},
    "usage": {"train": {"sampled_s": 270.0, "cpu_percent": {"mean": 80.0, "p99": 99.0}}},
    "warm": True,
    "samples": 5000,
}


def journal_of(*events):
    journal = MemoryJournal()
    journal.append(0.0, "suggest", {"evaluation": 0, "configuration": {"instance_type": "a"}, "level": None, "repeat": 0, "block_of": 1})
    journal.append(10.0, "start", {"job": "j", "trial": 0, "attempt": 1, "restore_from": None, "worst_usd": 1.0})
    for event in events:
        journal.append(event.at, *event_record(event))
    return journal


def folded(journal):
    state = ExperimentState(StateSetup({"loss": "min"}))
    for record in journal.records():
        state.apply(record)
    return state


def test_stages_and_phases_of_a_job():
    closed = Closed("j", 430.0, Outcome.COMPLETED, started_at=100.0, ended_at=420.0, billable_s=320.0, usage=USAGE, instance_type="b")
    journal = journal_of(Accepted("j", 11.0), Started("j", 105.0), Ended("j", 425.0), closed)
    journal.append(431.0, "settle", {"job": "j", "trial": 0, "status": "completed", "cause": None, "message": "", "cost_usd": 0.5,
                                     "counts": False})  # fmt: skip
    (row,) = usage_table(folded(journal), journal.records())
    assert (row["job"], row["instance_type"], row["outcome"], row["warm"]) == ("j", "b", "completed", "true")
    assert (row["queued_s"], row["duration_s"], row["billable_s"], row["cost_usd"]) == (90.0, 320.0, 320.0, 0.5)
    stages = {name: value for name, value in row.items() if name.startswith("stage_")}
    assert stages == {
        "stage_starting_s": 90.0,
        "stage_downloading_s": 20.0,
        "stage_training_s": 300.0,
        "stage_uploading_s": None,
        "stage_interrupted_s": 5.0,
    }
    assert [row[f"{name}_s"] for name in ("startup", "load", "train", "checkpoint")] == [4.0, 16.0, 270.0, 10.0]
    assert (row["cpu_util"], row["cpu_util_p99"], row["rows"], row["gpu_util"]) == (80.0, 99.0, 5000.0, None)


def test_a_job_that_is_open_has_a_row_without_an_end():
    journal = journal_of(Accepted("j", 11.0), Started("j", 15.0))
    (row,) = usage_table(folded(journal), journal.records())
    assert (row["outcome"], row["queued_s"], row["instance_type"]) == ("open", 5.0, "a")
    assert row["ended_at"] is row["duration_s"] is row["cost_usd"] is None


def test_each_attempt_is_a_row(tmp_path):
    benchmark = definition(space={"x": {"choice": [0, 1]}})
    backend = SimulatedBackend(FakeTable(fails={1: Cause.SCRIPT_ERROR}))
    state, journal = run(benchmark, method="GRID", backend=backend, n_workers=1)
    write_usage(tmp_path / "usage.csv", state, journal)
    rows = rows_of(tmp_path / "usage.csv")
    assert [(row["trial"], row["outcome"], row["cause"]) for row in rows] == [("0", "completed", ""), ("1", "failed", "script_error")]
    assert float(rows[0]["duration_s"]) == pytest.approx(3.25, abs=1e-6)
    assert float(rows[0]["cost_usd"]) == pytest.approx(3.25 / 3600 * 3.6, abs=1e-9)


def test_the_columns_are_there_where_no_job_is():
    assert usage_columns([])[:5] == ["trial", "repeat", "job", "attempt", "instance_type"]
    state, journal = run(definition(budget=Budget(max_num_trials=1)))
    assert usage_columns([]) == usage_columns(usage_table(state, journal.records()))
