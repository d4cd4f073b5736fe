"""`outrider status`: a table, a document, and again and again."""

import json
import signal
import subprocess
import urllib.request

import pytest

from launch.__main__ import main
from launch.verbs import status
from tests.benchmarking.archive.stored_folders import copied
from tests.launch.conftest import ROOT, with_signals


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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--serve", "--watch"], "leave --watch and --format out"),
        (["--serve", "--format", "json"], "leave --watch and --format out"),
        (["--port", "8000"], "add --serve"),
        (["nothing", "--serve"], "status nothing: there is nothing of this tag"),
        (["--serve", "--port", "65536"], "65536 is no port; give one from 1 to 65535, or 0 for a free one"),
        (["--serve", "--port", "http"], "http is no port; give one"),
        (["--watch", "--every", "0"], "0 is no time between two looks; give seconds from 0.1 up"),
        (["--watch", "--every", "nan"], "nan is no time between two looks"),
    ],
)
def test_a_page_that_makes_no_sense_is_refused_before_anything_is_served(results, capfd, words, told):
    assert main(["status", *words]) == 2
    captured = capfd.readouterr()
    assert told in captured.err
    assert captured.out == ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_report_is_served_until_it_is_stopped(results, number):
    command = [*with_signals([]), "-m", "launch", "status", "repeated", "--serve"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert "<title>Outrider report: repeated</title>" in answer.read().decode()
        with urllib.request.urlopen(f"{address}figures.json", timeout=30) as answer:
            assert json.load(answer)["schema_version"] == 1
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert err == "the report renews itself while it is looked at; Ctrl-C stops it\n"
