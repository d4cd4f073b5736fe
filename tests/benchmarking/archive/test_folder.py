"""A tag that ran on an emulator does not go on on a real account, nor the other way round."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os

import pytest

from benchmarking.archive import folder as module
from benchmarking.archive.folder import check_bills, discard_unstarted, prepare_folder
from benchmarking.controller.sqlite_journal import SqliteJournal, has_records
from benchmarking.methods.registry import experiment_spec
from definitions.errors import UserError
from definitions.resolve import resolve_python
from definitions.schema import BenchmarkDefinition, Budget

EMULATED = {"AWS_ENDPOINT_URL": "http://127.0.0.1:5000"}


@pytest.fixture
def spec(tmp_path, monkeypatch):
    # What it ran on is another test's; it asks git.
    monkeypatch.setattr(module, "describe_environment", lambda folder, environ, data: {"folder": folder.name})
    (tmp_path / "train.py").write_text("")
    definition = BenchmarkDefinition.model_validate(
        {
            "name": "toy",
            "script": "train.py",
            "source_dir": str(tmp_path),
            "space": {"instance_type": {"choice": ["ml.m5.large"]}},
            "objectives": {"loss": "min"},
            "sagemaker": {"image": "image:1"},
        }
    )
    return experiment_spec(resolve_python(definition, "sagemaker"), "RS", 1, "tag", tmp_path / "results")


@pytest.mark.parametrize(("first", "then", "words"), [(EMULATED, {}, "give --emulate"), ({}, EMULATED, "another --experiment_tag")])
def test_bills_of_two_kinds_do_not_mix(spec, monkeypatch, first, then, words):
    prepare_folder(spec, first)
    assert json.loads((spec.folder / "environment.json").read_text()) == {"folder": spec.definition.source_dir.rpartition("/")[2]}
    check_bills(spec, then)  # as long as nothing was recorded
    monkeypatch.setattr(module, "has_records", lambda path: True)
    check_bills(spec, first)
    with pytest.raises(UserError, match=words):
        check_bills(spec, then)
    with pytest.raises(UserError, match=words):
        prepare_folder(spec, then)


def test_another_definition_is_no_experiment_of_that_tag_once_something_is_recorded(spec, monkeypatch):
    prepare_folder(spec, {})
    other = dataclasses.replace(spec, seed=2)
    prepare_folder(other, {})  # nothing was recorded: it is written anew
    assert json.loads((spec.folder / "experiment.json").read_text())["hash"] == other.hash
    monkeypatch.setattr(module, "has_records", lambda path: True)
    with pytest.raises(UserError, match=r"is there already, with another definition[\s\S]*its results are in"):
        prepare_folder(spec, {})


def test_a_journal_without_an_identity_is_told(spec, monkeypatch):
    monkeypatch.setattr(module, "has_records", lambda path: True)
    with pytest.raises(UserError, match=r"has a journal, but no experiment\.json"):
        prepare_folder(spec, {})


def test_what_never_began_is_removed_and_nothing_else(tmp_path):
    results = tmp_path / "results"
    folder = results / "tag" / "toy" / "RS-local-0"
    (folder / "logs").mkdir(parents=True)
    for name in ("experiment.json", "definition.yaml", "environment.json"):
        (folder / name).write_text("{}")
    (folder / "notes.txt").write_text("mine")
    discard_unstarted(folder, results)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    (folder / "notes.txt").unlink()
    discard_unstarted(folder, results)
    assert list(tmp_path.iterdir()) == []


def test_what_began_and_what_another_process_holds_stays(tmp_path):
    folder = tmp_path / "tag" / "toy" / "RS-local-0"
    folder.mkdir(parents=True)
    (folder / "experiment.json").write_text("{}")
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    discard_unstarted(folder, tmp_path)
    os.close(descriptor)
    assert (folder / "experiment.json").is_file()
    with contextlib.closing(SqliteJournal(folder / "journal.sqlite")) as journal:
        journal.append(0.0, "noted", {"job": "", "text": "it began"})
        journal.commit()
    discard_unstarted(folder, tmp_path)
    assert (folder / "experiment.json").is_file()


def test_a_journal_that_cannot_be_read_counts_as_one_that_holds_something(tmp_path):
    path = tmp_path / "journal.sqlite"
    assert has_records(path) is False
    with contextlib.closing(SqliteJournal(path)) as journal:
        assert has_records(path) is False
        journal.append(1.0, "suggest", {"evaluation": 0})
        journal.commit()
    assert has_records(path) is True
    path.write_bytes(b"no journal at all" * 100)
    assert has_records(path) is True


@pytest.mark.parametrize("left", ["nothing", "an empty file"])
def test_an_experiment_whose_results_are_there_and_whose_journal_is_not_does_not_begin_anew(spec, left):
    prepare_folder(spec, {})
    (spec.folder / "trials.csv").write_text("trial\n0\n")
    if left == "an empty file":
        (spec.folder / "journal.sqlite").write_text("")
    with pytest.raises(UserError, match="has results, but nothing in its journal") as caught:
        prepare_folder(spec, {})
    assert "take journal.sqlite from a copy" in str(caught.value)


def test_a_damaged_identity_says_nothing_of_bills_and_is_refused_by_who_prepares(spec):
    prepare_folder(spec, {})
    (spec.folder / "experiment.json").write_text("{")
    check_bills(spec, EMULATED)
    with pytest.raises(UserError, match="damaged"):
        prepare_folder(spec, {})


def test_the_limits_that_count_now_are_noted_and_nothing_else_changes(spec):
    prepare_folder(spec, {})
    path = spec.folder / "experiment.json"
    began = json.loads(path.read_text())
    assert began["budget"] == {"max_failures": 3}
    raised = spec.definition.model_copy(update={"budget": Budget(max_num_trials=9)})
    prepare_folder(dataclasses.replace(spec, resolved=resolve_python(raised, "sagemaker")), {})
    assert json.loads(path.read_text()) == {**began, "budget": {"max_failures": 3, "max_num_trials": 9}}
