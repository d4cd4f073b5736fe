import csv

from backends.events import Accepted, Closed, Ended, Reported, Started
from backends.failures import Outcome
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.export.pipeline_csv import ceilings_table, pipeline_table, write_pipeline
from tests.benchmarking.experiments import MemoryJournal, definition

EPOCH = {"samples_per_s": 100.0, "first_batch_s": 0.5, "wait_max_s": 0.2, "custom": 3, "disturbed": False}
BOUND = {"bound_by": "decode", "bound_why": "the lowest", "ceiling_compute": 900.0, "ceiling_decode": 120.0, "ceiling_decode_error": 0.02}


def experiment(*reports):
    journal = MemoryJournal()
    journal.append(0.0, "suggest", {"evaluation": 0, "configuration": {"x": 0.5}, "level": None, "repeat": 0, "block_of": 1})
    journal.append(1.0, "start", {"job": "j", "trial": 0, "attempt": 1, "restore_from": None, "worst_usd": None})
    events = [Accepted("j", 2.0), Started("j", 3.0)]
    events += [Reported("j", 4.0 + number, number, metrics, 1.0 * number) for number, metrics in enumerate(reports)]
    events += [Ended("j", 9.0), Closed("j", 10.0, Outcome.COMPLETED, started_at=3.0, ended_at=9.0, billable_s=6.0)]
    for event in events:
        journal.append(event.at, *event_record(event))
    state = ExperimentState(StateSetup({"loss": "min"}))
    for record in journal.records():
        state.apply(record)
    return definition(), state, journal


def test_a_row_for_each_epoch_with_the_trials_bound():
    one, state, journal = experiment({"epoch": 1, **EPOCH}, {"epoch": 2, **EPOCH, "samples_per_s": "too short: 4 batches"}, BOUND)
    header, rows = pipeline_table(one, state, journal.records())
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert [row["epoch"] for row in found] == [1, 2]
    assert [row["samples_per_s"] for row in found] == [100.0, "too short: 4 batches"]
    assert [row["bound_by"] for row in found] == ["decode", "decode"]
    assert (found[0]["trial"], found[0]["repeat"], found[0]["x"]) == (0, 0, 0.5)
    assert header.index("samples_per_s") < header.index("wait_max_s") < header.index("custom")


def test_a_row_for_each_ceiling_lowest_first():
    _, state, _ = experiment({"epoch": 1, **EPOCH}, BOUND)
    header, rows = ceilings_table(state)
    assert header == ["trial", "repeat", "ceiling", "samples_per_s", "relative_error", "bound_by", "why"]
    assert rows == [
        [0, 0, "decode", 120.0, 0.02, "decode", "the lowest"],
        [0, 0, "compute", 900.0, None, "decode", "the lowest"],
    ]


def test_scripts_without_a_pipeline_leave_no_such_files(tmp_path):
    one, state, journal = experiment({"loss": 1.0})
    assert write_pipeline(tmp_path, one, state, journal.records()) == []
    assert list(tmp_path.iterdir()) == []


def test_the_files(tmp_path):
    one, state, journal = experiment({"epoch": 1, **EPOCH}, BOUND)
    assert [path.name for path in write_pipeline(tmp_path, one, state, journal.records())] == ["pipeline.csv", "ceilings.csv"]
    with (tmp_path / "pipeline.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["bound_by"], row["disturbed"], row["wait_max_s"]) == ("decode", "False", "0.2")
