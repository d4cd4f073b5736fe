"""What is kept of a journal: the very same as it amounts to, and only for the journal that it was made of."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import math
import sqlite3

import pytest

from benchmarking.archive.stored import StoredExperiment, experiments_of, load
from benchmarking.comparison.kept_fold import FOLD_VERSION, NAME, keep_fold, kept_fold
from benchmarking.comparison.reading import read_run
from benchmarking.comparison.run_fold import fold_journal
from benchmarking.comparison.runs import Axis
from definitions import strict_json
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


@pytest.mark.slow
def test_records_that_are_still_in_the_log_beside_the_journal_count(tmp_path):
    folder = begun(tmp_path)[0]
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as database:
        database.execute("PRAGMA wal_autocheckpoint=0")
        database.execute("INSERT INTO sessions VALUES (3, 0.0, 100.0)")
        database.commit()
        assert kept_fold(load(folder)) is None
        # Nor is anything kept while somebody writes.
        keep_fold(load(folder))
        assert kept_fold(load(folder)) is None


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
