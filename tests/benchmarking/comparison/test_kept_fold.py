"""What is kept of a journal: the very same as it amounts to, and only for the journal that it was made of."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import math
import shutil
import sqlite3

import pytest

from benchmarking.archive.folder_lock import locked
from benchmarking.archive.stored import StoredExperiment, experiments_of, load
from benchmarking.comparison.kept_fold import FOLD_VERSION, NAME, keep_fold, kept_fold
from benchmarking.comparison.reading import read_run
from benchmarking.comparison.run_fold import fold_journal
from benchmarking.comparison.runs import Axis
from benchmarking.controller.sqlite_journal import SqliteJournal
from definitions import strict_json
from definitions.errors import UserError
from launch.__main__ import main
from tests.benchmarking.archive.stored_folders import METHODS, change_identity, copied

DEFINITION = """
name: job
script: job.py
space: {x: {choice: [1, 2, 3, 4]}}
objectives: {loss: min, duration_s: min}
fidelity: {kind: progressive, argument: epochs, reported_as: epoch, full: 3}
simulated: {table: runs.csv}
repeats: 2
"""


def a_study(tmp_path, *words):
    """Run, or go on with, experiments of which one configuration reports NaN and one fails; return their folders."""
    rows = ["trial,repeat,attempt,incarnation,sequence,elapsed_s,x,loss,epoch"]
    for x, losses in {1: (3.0, 2.0, 1.0), 2: (3.5, "nan", 2.5), 3: (4.0, 3.9, 3.8), 4: ("", "", "")}.items():
        rows += [f"{x},{repeat},1,0,{epoch},{epoch + x},{x},{loss},{epoch + 1}" for repeat in (0, 1) for epoch, loss in enumerate(losses)]
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "job.py").write_text("")
    (tmp_path / "job.yaml").write_text(DEFINITION)
    assert main(["run", *words, "--results_dir", str(tmp_path / "results")]) in (0, 3, 4)
    return experiments_of(tmp_path / "results" / "t")


def begun(tmp_path):
    words = ["--benchmark", str(tmp_path / "job.yaml"), "--backend", "simulated", "--method", "RS", "ASHA", "--max_num_trials", "4"]
    return a_study(tmp_path, *words, "--experiment_tag", "t")


@pytest.mark.slow
def test_each_experiment_leaves_what_its_journal_amounts_to_also_when_it_goes_on(tmp_path):
    first = {folder: kept_fold(load(folder)) for folder in begun(tmp_path)}
    assert all(repr(found) == repr(fold_journal(load(folder))) and found.ends[Axis.TRIALS] == 4 for folder, found in first.items())
    for folder in a_study(tmp_path, "--resume", "t", "--max_num_trials", "7", "--max_failures", "9"):
        found = kept_fold(load(folder))
        assert found is not None
        # As text, since a NaN is not equal to itself, and as the order of names decides what is printed first.
        assert repr(found) == repr(fold_journal(load(folder))) != repr(first[folder])
        assert sum(one.full for one in found.measurements) >= 1


@pytest.mark.slow
def test_what_was_kept_is_what_is_compared(tmp_path):
    folder = begun(tmp_path)[0]
    text = (folder / NAME).read_text()
    told = read_run(load(folder))
    (folder / NAME).unlink()
    assert read_run(load(folder)) == told
    known = strict_json.loads(text)
    (folder / NAME).write_text(strict_json.dumps({**known, "ends": [["trials", 99.0]]}))
    assert read_run(load(folder)).ends == {Axis.TRIALS: 99.0}


def test_numbers_that_are_none_come_back(tmp_path):
    folder = copied(tmp_path, "repeated")
    keep_fold(load(folder))
    known = strict_json.loads((folder / NAME).read_text())
    measurements = [[*row] for row in known["measurements"]]
    measurements[0][1] = [math.nan for _ in measurements[0][1]]
    (folder / NAME).write_text(strict_json.dumps({**known, "measurements": measurements}))
    assert [*map(math.isnan, kept_fold(load(folder)).measurements[0].values.values())] == [True]


@pytest.mark.parametrize("name", METHODS)
def test_it_is_of_one_journal_alone(tmp_path, name):
    folder = copied(tmp_path, name)
    keep_fold(load(folder))
    assert repr(kept_fold(load(folder))) == repr(fold_journal(load(folder)))
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as database:
        database.execute("DELETE FROM records WHERE sequence = (SELECT max(sequence) FROM records)")
        database.commit()
    assert kept_fold(load(folder)) is None


def grown(folder):
    """Yield after each record that a journal is given once more, what is in its log moved into the file now and then."""
    with contextlib.closing(SqliteJournal(folder / "journal.sqlite", read_only=True)) as journal:
        records, sessions = [*journal.records()], journal.sessions()
    (folder / "journal.sqlite").unlink()
    with contextlib.closing(SqliteJournal(folder / "journal.sqlite")) as journal:
        for number, record in enumerate(records):
            for session in sessions if number == 0 else ():
                journal.begin_session(session)
            journal.append(record.at, record.kind, record.body)
            journal.commit()
            if number % 5 == 4:
                with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as other:
                    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield number


@pytest.mark.parametrize("name", METHODS)
def test_whoever_looks_at_a_journal_that_grows_sees_it_as_it_is(tmp_path, name):
    """After each record three looks: one folds and keeps, one takes what was kept, and one folds anew."""
    folder = copied(tmp_path, name)
    stored = load(folder)
    kept, is_in_the_log = [], []
    for _ in grown(folder):
        assert kept_fold(stored) is None
        first, second = read_run(stored), read_run(stored)
        assert kept_fold(stored) is not None
        assert repr(first.measurements) == repr(second.measurements) == repr(fold_journal(stored).measurements)
        assert (first.ends, first.trials, first.ended) == (second.ends, second.trials, second.ended)
        kept.append((folder / NAME).read_text())
        is_in_the_log.append((folder / "journal.sqlite-wal").stat().st_size > 0)
    assert len({*kept}) == len(kept) > 10
    assert {*is_in_the_log} == {False, True}


def test_what_grows_while_it_is_folded_is_not_kept(tmp_path, monkeypatch):
    folder = copied(tmp_path, "repeated")
    stored = load(folder)
    whole = fold_journal(stored)

    def folded_late(stored):
        found = fold_journal(stored)
        with contextlib.closing(SqliteJournal(folder / "journal.sqlite")) as journal:
            journal.append(1e9, "end", {"message": "late", "reason": "budget_spent"})
        return found

    monkeypatch.setattr("benchmarking.comparison.kept_fold.fold_journal", folded_late)
    assert repr(keep_fold(stored)) == repr(whole)
    assert not (folder / NAME).exists()
    assert fold_journal(stored).ended == "late"


def test_what_a_killed_controller_left_is_kept_by_who_reads_it_first_who_changes_nothing_else(tmp_path):
    folder = copied(tmp_path, "repeated")
    stored = load(folder)
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute("INSERT INTO records VALUES ((SELECT max(sequence) + 1 FROM records), 1e9, 'end', ?)",
                         ('{"message": "in the log", "reason": "budget_spent"}',))  # fmt: skip
        database.commit()
        killed = tmp_path / "killed" / "stored" / folder.name
        shutil.copytree(folder, killed)
    stored = load(killed)
    before = {name: (killed / name).read_bytes() for name in ("journal.sqlite", "journal.sqlite-wal")}
    assert len(before["journal.sqlite-wal"]) > 0
    assert read_run(stored).ended == "in the log"
    assert repr(kept_fold(stored)) == repr(fold_journal(stored))
    assert {name: (killed / name).read_bytes() for name in before} == before
    assert {path.name for path in killed.iterdir()} - {path.name for path in folder.iterdir()} <= {
        NAME,
        "journal.sqlite-wal",
        "journal.sqlite-shm",
    }
    (killed / "journal.sqlite-wal").write_bytes(b"")
    assert kept_fold(stored) is None
    assert read_run(stored).ended != "in the log"


def test_what_a_controller_is_at_work_on_is_read_and_not_kept(tmp_path):
    folder = copied(tmp_path, "repeated")
    with locked(folder):
        assert read_run(load(folder)).measurements
    assert not (folder / NAME).exists()


def test_where_nothing_can_be_written_it_is_compared_all_the_same(tmp_path, monkeypatch):
    folder = copied(tmp_path, "repeated")

    def refused(path, text):
        raise UserError(f"cannot write {path}", "the disk is full")

    monkeypatch.setattr("benchmarking.comparison.kept_fold.write_atomically", refused)
    assert read_run(load(folder)).measurements
    assert not (folder / NAME).exists()


def test_it_is_of_one_definition_alone(tmp_path):
    folder = copied(tmp_path, "repeated")
    stored = load(folder)
    keep_fold(stored)
    assert kept_fold(StoredExperiment(folder, dataclasses.replace(stored.spec, repeats=stored.spec.repeats + 1), stored.region)) is None
    change_identity(folder, schema_version=2, hears_levels=False, repeats=1)
    assert kept_fold(load(folder)) is None


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"fold_version": 1', '{"fold_version": 0, "content": ""}'])
def test_what_cannot_be_read_is_made_of_the_journal_again(tmp_path, text):
    folder = copied(tmp_path, "repeated")
    wanted = read_run(load(folder))
    (folder / NAME).write_text(text)
    assert kept_fold(load(folder)) is None
    assert read_run(load(folder)) == wanted


MADE_OF_THEM = (2, "56d8065cad8935da")


def test_who_makes_something_else_of_a_journal_counts_its_version_up(tmp_path):
    """Otherwise what earlier versions kept would be compared with what this one makes: then write the new version and hash here."""
    whole = hashlib.sha256()
    for name in METHODS:
        folder = copied(tmp_path / name, name)
        keep_fold(load(folder))
        known = strict_json.loads((folder / NAME).read_text())
        # The content has the definition's paths in it.
        whole.update(strict_json.dumps({key: value for key, value in known.items() if key != "content"}).encode())
    assert (FOLD_VERSION, whole.hexdigest()[:16]) == MADE_OF_THEM
