"""`outrider logs`: a trial's log on standard output, its folder and command beside it."""

from __future__ import annotations

import os
import subprocess

import pytest

from backends.common.capped_log import CappedLog
from backends.processes.environment import pasteable
from definitions.errors import EXIT_USAGE
from launch.__main__ import main
from launch.verbs.logs import show

pytestmark = pytest.mark.slow


def test_the_log_and_a_command_that_runs_the_trial_again(toy, monkeypatch, capsys):
    monkeypatch.chdir(toy.folder)
    assert main(["run", "--benchmark", "toy.yaml", "--experiment_tag", "t", "--max_num_trials", "2", "--n_workers", "1"]) == 0
    capsys.readouterr()
    assert main(["logs", "t", "--trial", "1", "--follow"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("[tune-metric]:") == 2
    folder, line = (text.split(": ", 1)[1] for text in shown.err.splitlines()[1:])
    assert folder == str(next((toy.experiment("t") / "jobs").glob("*-t1-a1")).relative_to(toy.folder))
    again = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
    losses = [text.split('"loss":')[1].split(",")[0] for text in shown.out.splitlines() if "tune-metric" in text]
    assert [text.split('"loss":')[1].split(",")[0] for text in again.stdout.splitlines() if "tune-metric" in text] == losses


def test_a_trial_that_there_is_not_is_said(toy, monkeypatch, capsys):
    monkeypatch.chdir(toy.folder)
    assert main(["run", "--benchmark", "toy.yaml", "--experiment_tag", "t", "--max_num_trials", "1"]) == 0
    assert main(["logs", "t", "--trial", "7"]) == EXIT_USAGE
    assert "no experiment of this tag has started such a trial" in capsys.readouterr().err


def test_the_line_says_only_what_a_shell_does_not_know(tmp_path):
    base = {"PATH": "/bin", "A": "1"}
    line = pasteable(["prog", "--x=a b"], tmp_path, {**base, "A": "it's", "OUTRIDER_CONTROLLER": "mark", "OUTRIDER_CORES": "1"}, base)
    # How many cores it had decides what a script does, so it has as many again.
    assert line == f"""cd {tmp_path} && env A='it'"'"'s' OUTRIDER_CORES=1 prog '--x=a b'"""
    assert (
        subprocess.run(
            ["sh", "-c", line.replace("prog '--x=a b'", "printenv A")], capture_output=True, text=True, env=dict(os.environ), check=True
        ).stdout
        == "it's\n"
    )


def test_who_follows_a_log_whose_middle_is_taken_out_sees_the_mark_and_what_comes_then(tmp_path, capsys):
    path = tmp_path / "a.log"
    log = CappedLog(path, 1 << 16)
    log.write(b"early\n" * 10_000)
    steps = iter([False, False, True])

    def is_over():
        over = next(steps)
        if over:
            log.write(b"late\n" * 2000)
            log.write(b"last\n")
        return over

    show(path, is_over)
    log.close()
    shown = capsys.readouterr().out
    assert shown.startswith("early\n" * 10_000 + "[outrider] left out here: ")
    path.write_bytes(path.read_bytes())
    show(path, lambda: True)
    whole = capsys.readouterr().out
    assert whole.count("[outrider] left out here: ") == 1
    assert whole.endswith("late\nlast\n")


def test_a_capped_log_loses_no_report_and_says_what_it_left_out(toy, monkeypatch, capsys):
    monkeypatch.chdir(toy.folder)
    (toy.folder / "talk.py").write_text(
        "from outrider_report import report\nfor epoch in range(1, 301):\n    print('x' * 1000)\n    report(epoch=epoch, loss=1 / epoch)\n"
    )
    (toy.folder / "talk.yaml").write_text("name: talk\nscript: talk.py\ntrials: [{}]\nobjectives: {loss: min}\nlog_cap: 64KiB\n")
    assert main(["run", "--benchmark", "talk.yaml", "--experiment_tag", "t"]) == 0
    capsys.readouterr()
    assert main(["logs", "t", "--trial", "0"]) == 0
    shown = capsys.readouterr().out
    assert "[outrider] left out here: " in shown
    assert shown.count("[tune-metric]:") < 100
    reports = next((toy.folder / "results" / "t").rglob("reports.csv")).read_text().splitlines()
    assert len(reports) == 301
