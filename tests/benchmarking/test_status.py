"""Experiments as another terminal sees them: each state, half a journal, and what result.json stands for."""

import json
import shutil
from contextlib import closing

import pytest

from benchmarking.archive.stored import load
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.results import write_results
from benchmarking.status import Standing, StatusReader, forecast_text
from benchmarking.studies.files import write_study
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord
from tests.benchmarking.archive.stored_folders import change_identity, copied, present


@pytest.fixture
def ended(tmp_path):
    """An experiment that ended and left its result.json."""
    folder = present(copied(tmp_path, "race"))
    stored = load(folder)
    with stored.journal() as journal:
        write_results(stored.spec, stored.state(journal), journal, stored.region)
    return folder


def look(folder, *running):
    return StatusReader(lambda: lambda one: one in running).look([folder.parent.parent])


def test_what_result_json_says_is_what_the_journal_says(ended):
    (short,) = look(ended)
    (ended / "result.json").unlink()
    (whole,) = look(ended)
    assert short == whole
    assert short.standing is Standing.FINISHED


def test_a_result_of_an_earlier_end_stands_for_nothing_once_the_journal_went_on(ended):
    path = ended / "result.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "records": document["records"] - 1, "best": 99.0}), encoding="utf-8")
    (found,) = look(ended)
    assert found.best != 99.0


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 1, "finished": true}'])
def test_a_damaged_result_costs_only_time(ended, text):
    (before,) = look(ended)
    (ended / "result.json").write_text(text, encoding="utf-8")
    assert look(ended) == [before]


def test_one_that_was_killed_and_one_that_runs(tmp_path):
    folder = copied(tmp_path, "repeated")
    (killed,) = look(folder)
    assert (killed.standing, killed.objective, sum(killed.trials.values())) == (Standing.KILLED, "loss", 6)
    (running,) = look(folder, folder)
    assert running.standing in (Standing.RUNNING, Standing.WAITING)


def test_one_that_somebody_interrupted_is_not_finished(tmp_path):
    folder = present(copied(tmp_path, "repeated"))
    with closing(SqliteJournal(folder / "journal.sqlite")) as journal:
        journal.append(2e9, "end", {"reason": "interrupted", "message": "interrupted", "exit_code": 130})
        journal.commit()
    (found,) = look(folder)
    assert found.standing is Standing.INTERRUPTED


def test_what_has_not_begun_waits_for_its_turn_while_another_runs(tmp_path):
    folder = copied(tmp_path, "repeated")
    other = folder.with_name("GRID-simulated-1")
    shutil.copytree(folder, other)
    (other / "journal.sqlite").unlink()
    change_identity(other, number=1)
    planned = [PlannedExperiment("stored", "GRID", number, number, "h", hears_levels=False, repeats=1) for number in range(3)]
    write_study(folder.parent.parent, StudyRecord(StudyFlags("simulated"), {"stored": "name: stored"}, tuple(planned)))
    assert [(one.seed, one.standing) for one in look(folder)][1:] == [(1, Standing.NOT_STARTED), (2, Standing.NOT_STARTED)]
    assert [(one.seed, one.standing) for one in look(folder, folder)][1:] == [(1, Standing.WAITING), (2, Standing.WAITING)]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_half_a_journal_is_named_and_the_others_are_shown(tmp_path, share):
    folder = copied(tmp_path, "repeated")
    half = folder.with_name("GRID-simulated-1")
    shutil.copytree(folder, half)
    change_identity(half, number=1)
    content = (half / "journal.sqlite").read_bytes()
    (half / "journal.sqlite").write_bytes(content[: int(len(content) * share)])
    whole, torn = look(folder)
    assert sum(whole.trials.values()) == 6
    assert torn.seed == 1
    assert torn.note
    assert torn.standing in (Standing.UNREADABLE, Standing.KILLED)


@pytest.mark.parametrize("name", ["experiment.json", "definition.yaml"])
def test_a_damaged_folder_is_named(tmp_path, name):
    folder = copied(tmp_path, "repeated")
    (folder / name).write_text("{", encoding="utf-8")
    (found,) = look(folder)
    assert found.standing is Standing.UNREADABLE
    assert name in found.note


def test_the_next_look_takes_in_what_came_since(tmp_path):
    folder = copied(tmp_path, "repeated")
    reader = StatusReader(lambda: lambda one: True)
    first = reader.look([folder.parent.parent])
    assert reader.look([folder.parent.parent]) == first


def test_a_forecast_in_a_line():
    rows = [
        {"configuration": "x=1", "metric": "total_s", "median": 7200.0, "lo80": 3600.0, "hi80": 9000.0, "status": "ok"},
        {"configuration": "x=2", "metric": "total_s", "median": 9000.0, "lo80": None, "hi80": None, "status": "wide"},
        {"configuration": "x=1", "metric": "cost_usd", "median": 1.0},
    ]
    assert forecast_text(rows) == "x=1: 2 h 0 min (60 min 0 s to 2 h 30 min), ok; 1 more take longer"
    assert forecast_text([]) == ""


def test_what_has_not_begun_has_its_objective_as_the_study_defines_it(tmp_path):
    folder = copied(tmp_path, "repeated")
    prepared = folder.with_name("GRID-simulated-1")
    shutil.copytree(folder, prepared)
    (prepared / "journal.sqlite").unlink()
    change_identity(prepared, number=1)
    planned = [PlannedExperiment("stored", "GRID", number, number, "h", hears_levels=False, repeats=1) for number in range(3)]
    planned.append(PlannedExperiment("torn", "GRID", 3, 3, "h", hears_levels=False, repeats=1))
    other = (folder / "definition.yaml").read_text(encoding="utf-8").replace("loss: min", "regret: max")
    write_study(folder.parent.parent, StudyRecord(StudyFlags("simulated"), {"stored": other, "torn": "name: torn"}, tuple(planned)))
    assert [(one.seed, one.objective) for one in look(folder)] == [(0, "loss"), (1, "loss"), (2, "regret"), (3, "")]
    assert [one.objective for one in look(folder, folder)] == ["loss", "loss", "regret", ""]


def test_a_torn_study_costs_only_what_has_not_begun(tmp_path):
    folder = copied(tmp_path, "repeated")
    (folder.parent.parent / "study.json").write_text('{"schema_version": 1, "exper', encoding="utf-8")
    assert [one.seed for one in look(folder)] == [0]
