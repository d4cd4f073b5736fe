"""`outrider status`: a table, a document, and again and again."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from definitions.errors import UserError
from launch.__main__ import main
from launch.verbs import forecast, status
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


@pytest.mark.slow
def test_a_running_job_that_says_how_far_it_is_is_shown_with_its_end_and_scored_afterwards(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("OUTRIDER_RESULTS", str(tmp_path / "results"))
    # Cores that others of this machine hold are none of its business.
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))
    (tmp_path / "count.py").write_text(
        "import time\nfrom outrider_report import progress, report\n"
        "for done in range(400):\n    progress(done, 400)\n    time.sleep(0.02)\nprogress(400, 400)\nreport(loss=1.0)\n",
        encoding="utf-8",
    )
    definition = tmp_path / "counts.yaml"
    definition.write_text("name: counts\nscript: count.py\nspace: {n: {choice: [1]}}\nobjectives: {loss: min}\n", encoding="utf-8")
    command = [sys.executable, str(ROOT / "hpo_main.py"), "--benchmark", str(definition), "--method", "GRID", "--experiment_tag", "t"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        told = ""
        while " done, its loop ends in " not in told and running.poll() is None:
            time.sleep(0.1)
            if (tmp_path / "results" / "t").is_dir():
                main(["status", "t"])
                told = capfd.readouterr().out
        assert re.search(r"^t/counts GRID 0, trial 0: \d+% done, its loop ends in .* s \(.*\), will have cost \$", told, re.M), told
        assert running.wait(60) == 0
    assert forecast.main(["--scores", "t", "--format", "json", "--results_dir", str(tmp_path / "results")]) == 0
    scores = {row["share"]: row for row in json.loads(capfd.readouterr().out)["scores"]}
    assert (scores[0.8]["jobs"], scores[0.8]["decided"]) == (1, 1)
    assert scores[0.8]["median"] < 0.5


def test_scores_of_what_said_nothing_of_its_progress_are_wrong_use(results):
    with pytest.raises(UserError, match="no finished job there told how far it was"):
        forecast.main(["--scores", "repeated", "--results_dir", str(results)])
    with pytest.raises(UserError, match="there is no folder"):
        forecast.main(["--scores", "nothing", "--results_dir", str(results)])


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
        with urllib.request.urlopen(address, timeout=90) as answer:
            assert "<title>Outrider report: repeated</title>" in answer.read().decode()
        with urllib.request.urlopen(f"{address}figures.json", timeout=90) as answer:
            assert json.load(answer)["schema_version"] == 1
        process.send_signal(number)
        out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (0, "")
    assert err == "the report renews itself while it is looked at; Ctrl-C stops it\n"
