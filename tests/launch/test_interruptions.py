"""Ctrl-C, TERM, kill -9, a full disk: no process stays, no report is lost, and a resume finishes the run."""

from __future__ import annotations

import csv
import re
import resource
import signal
import sqlite3
import subprocess
import sys

import pytest

from tests.launch.conftest import ROOT

pytestmark = pytest.mark.slow

WORDS = ("--benchmark", "toy.yaml", "--experiment_tag", "t", "--set", "arguments.seconds=0.3", "max_num_trials=5")


def trials(folder):
    with (folder / "trials.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def reported(folder):
    """Return (job, epoch) of every report in the journal, and in the logs of the jobs."""
    database = sqlite3.connect(folder / "journal.sqlite")
    query = "SELECT json_extract(body, '$.job'), json_extract(body, '$.metrics.epoch') FROM records WHERE kind = 'reported'"
    journal = list(database.execute(query))
    database.close()
    logs = []
    for path in (folder / "logs").iterdir():
        logs += [(path.stem, int(epoch)) for epoch in re.findall(r'"epoch": (\d+)', path.read_text(encoding="utf-8"))]
    return sorted(journal), sorted(logs)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_once_winds_down_and_the_printed_line_resumes(toy, controller, alive, run, number):
    first = controller(*WORDS)
    first.until("completed")
    first.send(number)
    code, out, err = first.finish()
    assert code == 130, err
    assert alive(0.0) == []
    assert "winding down" in err
    assert "Traceback" not in err
    assert "Ended early: interrupted" in out
    (line,) = re.findall(rf"resume with: \S*python\S* {ROOT}/hpo_main.py (.*)", err)
    journal, logs = reported(toy.experiment("t"))
    assert journal == logs
    code, _, _ = run(*line.split())
    assert code == 0
    assert [row["status"] for row in trials(toy.experiment("t"))] == ["completed"] * 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_the_caller_had_ignored_stays_ignored(toy, controller, number):
    first = controller(*WORDS, "max_num_trials=3", ignoring=[number])
    first.until("starts")
    first.send(number)
    code, _, err = first.finish()
    assert code == 0
    assert "winding down" not in err
    assert [row["status"] for row in trials(toy.experiment("t"))] == ["completed"] * 3


def test_twice_stops_at_once(toy, controller, alive):
    (toy.folder / "toy.py").write_text(
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "from outrider_report import report\nreport(loss=1.0, epoch=1)\nprint('ready', flush=True)\ntime.sleep(600)\n"
    )
    first = controller(*WORDS, "local.grace_s=300", "--verbose")
    first.until("epoch=1")
    first.send(signal.SIGINT)
    first.until("winding down")
    first.send(signal.SIGINT)
    code, _, err = first.finish()  # which waits for 80 s, not for the 300 that the script would make use of
    assert code == 130, err
    assert "stopped at once; resume with" in err
    assert "Traceback" not in err
    assert alive(45.0) == []


def test_kill_leaves_no_process_and_loses_no_report(toy, controller, alive, run):
    first = controller(*WORDS, "--verbose")
    first.until("epoch=1", count=3)
    first.send(signal.SIGKILL)
    first.finish()
    assert alive(45.0) == []
    before, logs = reported(toy.experiment("t"))
    assert len(before) >= 3
    assert set(before) <= set(logs)
    code, _, err = run("--resume", "t")
    assert code == 0
    found = trials(toy.experiment("t"))
    assert [row["status"] for row in found] == ["completed"] * 5
    assert [row["trial"] for row in found] == [str(k) for k in range(5)]
    after, _ = reported(toy.experiment("t"))
    assert set(before) <= set(after)
    assert len(after) == len(set(after))
    assert "again (attempt 2)" in err


def test_killed_again_and_again_it_still_arrives(toy, controller, alive, run):
    for kill in range(1, 4):
        one = controller(*WORDS, "--verbose")
        one.until("epoch=2" if kill > 1 else "epoch=1")
        one.send(signal.SIGKILL)
        one.finish()
        assert alive(45.0) == []
    code, _, _ = run(*WORDS)
    assert code == 0
    database = sqlite3.connect(toy.experiment("t") / "journal.sqlite")
    started = [job for (job,) in database.execute("SELECT json_extract(body, '$.job') FROM records WHERE kind = 'start'")]
    database.close()
    assert len(started) == len(set(started))
    assert not any(row["status"] in ("running", "waiting") for row in trials(toy.experiment("t")))


def test_two_controllers_of_one_experiment_exclude_each_other(toy, controller, run):
    first = controller(*WORDS)
    first.until("starts")
    code, _, err = run(*WORDS)
    assert code == 2
    assert "is in use" in err
    first.send(signal.SIGTERM)
    first.finish()


def test_full_disk_is_told_and_what_was_recorded_stands(toy, alive, run):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = subprocess.run(
        [sys.executable, str(ROOT / "hpo_main.py"), "--benchmark", "toy.yaml", "--experiment_tag", "t", "--max_num_trials", "60"],
        cwd=toy.folder,
        capture_output=True,
        text=True,
        preexec_fn=small_files,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    assert alive(45.0) == []
    kept, logs = reported(toy.experiment("t"))
    assert len(kept) > 10
    assert set(kept) <= set(logs)
    code, _, _ = run("--resume", "t", "--max_num_trials", "60")
    assert code == 0
    after, _ = reported(toy.experiment("t"))
    assert set(kept) <= set(after)
