"""A run is brought from the store: as it was left, more of it later, and into no folder that holds another."""

from __future__ import annotations

import json

import pytest

from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.remote.restored import read_restored
from benchmarking.remote.restoring import restore
from benchmarking.remote.shipping import Shipper
from benchmarking.studies.files import note_look, read_study, write_study
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord, as_json
from definitions.errors import UserError
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.remote.remote_lab import EXPERIMENT, ONE, Clock, rows_in, rows_of

OTHER = "demo/ASHA-sagemaker-0"


def put_experiment(store, experiment, *sequences, nonce="n"):
    store.put(f"{experiment}/files/experiment.json", json.dumps({"schema_version": 2, "nonce": nonce, "backend": "sagemaker"}).encode())
    store.put(f"{experiment}/files/logs/0/job.log", b"line\n")
    shipper = Shipper(store, experiment, ONE, 0, 0, Clock().pace)
    shipper.add(rows_of(*sequences))
    shipper.ship()


def study(*numbers):
    return StudyRecord(StudyFlags("sagemaker"), {}, tuple(PlannedExperiment("demo", "RS", n, n, "h", False, 1) for n in numbers))


@pytest.fixture
def store():
    found = MemoryStore()
    found.put("launch.json", b'{"nonce": "one"}')
    found.put("study.json", as_json(study(0)).encode())
    found.put(".controllers/1/live.json", b"{}")
    put_experiment(found, EXPERIMENT, 1, 2, 3)
    put_experiment(found, OTHER, 1, 2)
    return found


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "t"


def files_in(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and "journal.sqlite-" not in path.name
    )


def test_a_run_whose_first_objects_are_not_listed_yet_is_one(folder):
    store = MemoryStore()
    store.put("launch.json", b'{"nonce": "one"}')
    store.put("study.json", as_json(study(0)).encode())
    store.hidden = {"launch.json", "study.json"}
    restore(store, folder)
    assert files_in(folder) == ["launch.json", "study.json", "study.lock"]
    with pytest.raises(UserError, match="there is no run"):
        restore(MemoryStore(), folder.with_name("other"))


def test_all_of_it_comes_once_and_later_what_is_new(store, folder):
    found = restore(store, folder)
    assert (found.experiments, found.records, found.files, found.problems) == ((OTHER, EXPERIMENT), 5, 4, {})
    inside = [".restored.json", "experiment.json", "journal.sqlite", "lock", "logs/0/job.log"]
    assert files_in(folder) == sorted(
        ["launch.json", "study.json", "study.lock", *(f"{one}/{name}" for one in (EXPERIMENT, OTHER) for name in inside)]
    )
    assert rows_in(folder / EXPERIMENT) == rows_of(1, 2, 3)
    store.asked.clear()
    assert restore(store, folder).records == restore(store, folder).files == 0
    assert [key for operation, key in store.asked if operation != "list"] == ["launch.json", "study.json"] * 2
    store.put(f"{EXPERIMENT}/files/trials.csv", b"a\n")
    store.put(f"{EXPERIMENT}/files/logs/0/job.log", b"line\nline\n")
    shipper = Shipper(store, EXPERIMENT, ONE, 1, 3, Clock().pace)
    shipper.add(rows_of(4))
    shipper.ship()
    found = restore(store, folder)
    assert (found.records, found.files) == (1, 2)
    assert (folder / EXPERIMENT / "logs/0/job.log").read_bytes() == b"line\nline\n"
    assert rows_in(folder / EXPERIMENT) == rows_of(1, 2, 3, 4)


def test_what_was_deleted_here_comes_again(store, folder):
    restore(store, folder)
    (folder / EXPERIMENT / "journal.sqlite").unlink()
    (folder / OTHER / "logs/0/job.log").unlink()
    restore(store, folder)
    assert rows_in(folder / EXPERIMENT) == rows_of(1, 2, 3)
    assert (folder / OTHER / "logs/0/job.log").read_bytes() == b"line\n"


def test_a_cut_download_continues(store, folder):
    for number in range(20):
        store.put(f"{EXPERIMENT}/files/logs/{number}/job.log", b"line\n")
    left = iter([""] * 9)
    store.failing = lambda operation, key: next(left, "refused") if operation == "download" else ""
    with pytest.raises(Exception, match="refused"):
        restore(store, folder)
    there = len([name for name in files_in(folder) if name.endswith((".log", "experiment.json"))])
    assert there == 9
    store.failing = lambda operation, key: ""
    store.asked.clear()
    restore(store, folder)
    assert len([key for operation, key in store.asked if operation == "download"]) == 23 - 9
    assert rows_in(folder / OTHER) == rows_of(1, 2)


def test_into_a_folder_that_holds_another_run_nothing_is_brought(store, folder):
    restore(store, folder)
    (folder / "launch.json").write_text('{"nonce": "two"}')
    before = files_in(folder)
    with pytest.raises(UserError, match="holds another run than s3://bucket/outrider/runs/t: it was launched at another time"):
        restore(store, folder)
    assert files_in(folder) == before


@pytest.mark.parametrize("experiment", [EXPERIMENT, "demo/PBT-local-0"])
def test_nor_where_an_experiment_there_is_another(store, folder, experiment):
    place = folder / experiment
    place.mkdir(parents=True)
    (place / "experiment.json").write_text(
        '{"schema_version": 2, "nonce": "mine", "backend": "x", "hash": "", "method": "", "number": 0, "seed": 0, "method_arguments": {}}'
    )
    journal = SqliteJournal(place / "journal.sqlite")
    journal.extend(rows_of(1))
    journal.close()
    with pytest.raises(UserError, match=f"its {experiment} is another"):
        restore(store, folder)
    assert rows_in(place) == rows_of(1)
    assert not (folder / OTHER).exists()


def test_one_experiment_that_cannot_be_brought_does_not_keep_the_others_away(store, folder):
    store.delete([f"{OTHER}/journal/00000001"])
    shipper = Shipper(store, OTHER, ONE, 1, 2, Clock().pace)
    shipper.add(rows_of(3))
    shipper.ship()
    with pytest.raises(UserError, match="00000001 is missing"):
        restore(store, folder)
    found = restore(store, folder, problems_end=False)
    assert [*found.problems] == [OTHER]
    assert rows_in(folder / EXPERIMENT) == rows_of(1, 2, 3)
    assert read_restored(folder / OTHER).number == 0


def test_what_was_looked_at_here_is_kept_when_the_study_grows(store, folder):
    restore(store, folder)
    note_look(folder, 1e9)
    store.put("study.json", as_json(study(0, 1)).encode())
    restore(store, folder)
    here = read_study(folder)
    assert (here.numbers, here.looks_before_extension) == ((0, 1), 1)
    write_study(folder, study(0))
    restore(store, folder)
    assert read_study(folder).numbers == (0, 1)


def test_a_run_that_is_not_there_is_said(folder):
    with pytest.raises(UserError, match="there is no run"):
        restore(MemoryStore(), folder)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["../../x", "logs/../../../x", "journal.sqlite", "lock"])
def test_no_file_leads_out_of_its_folder_or_to_what_is_this_machines(store, folder, name):
    store.put(f"{EXPERIMENT}/files/{name}", b"x")
    with pytest.raises(UserError, match="no run of ours has such a file"):
        restore(store, folder)


def test_a_second_time_no_file_of_an_experiment_is_asked_for(store, folder):
    restore(store, folder)
    store.asked.clear()
    found = restore(store, folder)
    assert (found.records, found.files) == (0, 0)
    # A segment that the listing does not show yet may be there as well, which is asked for by its number.
    assert {key for operation, key in store.asked if operation == "get" and "/files/" in key} == set()
    assert sum(operation == "list" for operation, _ in store.asked) == 1
