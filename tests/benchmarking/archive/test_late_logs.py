"""A log whose end came late is read again."""

from __future__ import annotations

import pytest

from backends.failures import LOG_INCOMPLETE
from backends.late_logs import LateLog
from backends.reports import Report
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.late_logs import read_late_logs
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from definitions.resolve import resolve_python
from tests.benchmarking.experiments import MemoryJournal, definition


def report(sequence, loss):
    return Report(sequence=sequence, metrics={"loss": loss}, elapsed_s=float(sequence), incarnation=0)


def left(tmp_path):
    """A journal as a run left it: trial 0 whole, of trial 1 the last report was not seen."""
    made = definition(script="train.py", source_dir=str(tmp_path))
    (tmp_path / "train.py").write_text("", encoding="utf-8")
    spec = ExperimentSpec(resolve_python(made, "local"), "RS", 0, "t", tmp_path, hears_levels=False, repeats=1)
    journal = MemoryJournal()
    for trial, message in ((0, ""), (1, f"{LOG_INCOMPLETE}, 1 of 2 epochs")):
        job = f"job-{trial}"
        journal.append(1.0, "suggest", {"evaluation": trial, "configuration": {"x": trial}, "level": None, "repeat": 0, "block_of": 1})
        start = {"trial": trial, "evaluation": trial, "repeat": 0, "attempt": 1, "job": job, "restore_from": None, "worst_usd": None}
        journal.append(2.0, "start", start)
        journal.append(3.0, "reported", {"job": job, "sequence": 1, "metrics": {"loss": 2.0}, "elapsed_s": 1.0})
        closed = {"outcome": "completed", "cause": None, "message": message, "started_at": 2.0, "ended_at": 4.0, "billable_s": 2.0}
        journal.append(4.0, "closed", {"job": job, **closed, "usage": {}, "log_tail": []})
        settled = {"status": "completed", "cause": None, "message": message, "counts": False, "retry_at": None, "cost_usd": 0.0}
        journal.append(5.0, "settle", {"job": job, "trial": trial, **settled})
        journal.append(6.0, "tell", {"call": "complete", "evaluation": trial, "level": None, "decision": "CONTINUE"})
    return spec, journal


def state_of(journal):
    state = ExperimentState(StateSetup({"loss": "min"}))
    for record in journal.records():
        state.apply(record)
    return state


@pytest.mark.parametrize(("whole", "message", "says"), [(True, "", "it is whole now"), (False, LOG_INCOMPLETE, "its end is not there yet")])
def test_what_came_late_counts_and_is_read_until_it_is_whole(tmp_path, whole, message, says):
    spec, journal = left(tmp_path)
    assert state_of(journal).incomplete == {"job-1": 1}
    asked = []

    def read(job, region, received, sources):
        asked.append((job, region, received))
        return LateLog([report(2, 0.5)], whole)

    assert read_late_logs(spec, journal, "eu-west-1", read, tmp_path / "logs") == [
        f"the log of trial 1 was read again: 1 reports more, {says}"
    ]
    assert asked == [("job-1", "eu-west-1", {(0, 1): {"loss": 2.0}})]
    state = state_of(journal)
    trial = state.trials[1]
    assert (trial.value_of("loss"), trial.best["loss"], trial.reports) == (0.5, 0.5, 2)
    assert trial.message[: len(LOG_INCOMPLETE)] == message
    # No time of the run is counted for it.
    assert state.last_at == 6.0
    asked.clear()
    read_late_logs(spec, journal, "eu-west-1", read, tmp_path / "logs")
    assert [one[2] for one in asked] == ([] if whole else [{(0, 1): {"loss": 2.0}, (0, 2): {"loss": 0.5}}])


@pytest.mark.parametrize(("lines", "text"), [(["one", "two ", "Ende: \u00fc"], "one\ntwo \nEnde: \u00fc\n"), ([], "one\n")])
def test_a_copy_that_was_kept_has_the_late_lines_too(tmp_path, lines, text):
    spec, journal = left(tmp_path)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "job-1.log").write_text("one\n", encoding="utf-8")
    read_late_logs(spec, journal, "eu-west-1", lambda *_: LateLog([], True, lines), logs)
    assert (logs / "job-1.log").read_text(encoding="utf-8") == text
    assert [path.name for path in logs.iterdir()] == ["job-1.log"]


def test_where_no_copy_was_kept_none_is_made(tmp_path):
    spec, journal = left(tmp_path)
    (tmp_path / "logs").mkdir()
    read_late_logs(spec, journal, "eu-west-1", lambda *_: LateLog([report(2, 0.5)], False, ["one"]), tmp_path / "logs")
    assert list((tmp_path / "logs").iterdir()) == []


def test_a_service_that_fails_changes_nothing(tmp_path):
    spec, journal = left(tmp_path)

    def read(job, region, received, sources):
        raise ConnectionError("no way there")

    before = list(journal.rows)
    assert read_late_logs(spec, journal, "eu-west-1", read, tmp_path / "logs") == [
        "the log of trial 1 is incomplete and cannot be read again: no way there"
    ]
    assert journal.rows == before
