"""`outrider status`: a table, a document, and again and again."""

import json

import pytest

from launch.__main__ import main
from launch.verbs import status
from tests.benchmarking.archive.stored_folders import copied


@pytest.fixture
def results(tmp_path, monkeypatch):
    copied(tmp_path, "repeated")
    copied(tmp_path, "race")
    monkeypatch.setenv("OUTRIDER_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


def test_all_tags_or_those_that_are_named(results, capfd):
    assert main(["status"]) == 0
    told = capfd.readouterr().out
    assert told.startswith("2 experiments: ")
    assert {line.split()[0] for line in told.splitlines()[4:]} == {"race", "repeated"}
    assert main(["status", "repeated"]) == 0
    row = capfd.readouterr().out.splitlines()[4].split()
    assert row[:5] == ["repeated", "stored", "GRID", "0", "killed"]


def test_as_a_document(results, capfd):
    assert main(["status", "repeated", "--format", "json"]) == 0
    (one,) = json.loads(capfd.readouterr().out)["experiments"]
    assert (one["tag"], one["method"], one["standing"]) == ("repeated", "GRID", "killed")


def test_looking_changes_no_file(results):
    def contents():
        # SQLite's own two are made by whoever reads.
        return {path: path.read_bytes() for path in results.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal"))}

    before = contents()
    assert main(["status"]) == 0
    assert contents() == before


def test_a_tag_that_there_is_not_and_an_empty_folder(results, tmp_path, capfd):
    assert main(["status", "nothing"]) == 2
    assert "status nothing: there is nothing of this tag" in capfd.readouterr().err
    assert main(["status", "--results_dir", str(tmp_path / "none")]) == 2
    assert "status: there is nothing in" in capfd.readouterr().err


def test_again_and_again_until_ctrl_c(results, monkeypatch, capfd):
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(status.time, "sleep", sleep)
    assert main(["status", "repeated", "--watch", "--every", "0.5", "--format", "json"]) == 0
    assert looks == [0.5, 0.5, 0.5]
    assert [len(json.loads(line)["experiments"]) for line in capfd.readouterr().out.splitlines()] == [1, 1, 1]
