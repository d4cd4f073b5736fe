"""`outrider logs`: a trial's log on standard output, its folder and command beside it."""

from __future__ import annotations

import os
import subprocess

import pytest

from backends.local.environment import pasteable
from definitions.errors import EXIT_USAGE
from launch.__main__ import main

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
    line = pasteable(["prog", "--x=a b"], tmp_path, {**base, "A": "it's", "OUTRIDER_CONTROLLER": "mark", "OUTRIDER_TRIAL": "1"}, base)
    assert line == f"""cd {tmp_path} && env A='it'"'"'s' OUTRIDER_TRIAL=1 prog '--x=a b'"""
    assert (
        subprocess.run(
            ["sh", "-c", line.replace("prog '--x=a b'", "printenv A")], capture_output=True, text=True, env=dict(os.environ), check=True
        ).stdout
        == "it's\n"
    )
