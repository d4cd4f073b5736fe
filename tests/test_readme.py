"""The README's own script, definition and commands do what the README prints."""

from __future__ import annotations

import configparser
import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def block(name: str) -> str:
    found = re.search(rf"<!-- {re.escape(name)} -->\n```\w*\n(.*?)```", TEXT, re.S)
    assert found is not None, name
    return found[1]


@pytest.mark.slow
def test_the_tour_prints_what_it_says(tmp_path):
    for name in ("train.py", "mine.yaml"):
        (tmp_path / name).write_text(block(name), encoding="utf-8")
    printed = []
    for command in re.findall(r"^\$ outrider run (.*)$", block("run"), re.M):
        done = subprocess.run(
            [sys.executable, str(ROOT / "hpo_main.py"), *command.split()],
            cwd=tmp_path,
            env={**os.environ, "OUTRIDER_LEASES": str(tmp_path / "leases")},
            capture_output=True,
            text=True,
            check=True,
        )
        printed += [f"$ outrider run {command}", *done.stdout.rstrip("\n").splitlines()]
    two_cores = len(os.sched_getaffinity(0)) == 2
    machine = re.compile(r"^mine +RS +0 +local|^worst case|^each trial|^CPU quota|^prices are nominal|^$")

    def anywhere(lines):
        """Return the lines as they are on every machine, whatever its disk has left."""
        lines = [re.sub(r"^disk: [\d.]+ \w+ are free", "disk: some are free", line) for line in lines]
        return [line for line in lines if two_cores or not machine.match(line)]

    assert anywhere(printed) == anywhere(block("run").splitlines())


@pytest.mark.slow
@pytest.mark.timeout(170)  # six emulated jobs and a controller, on a busy machine
def test_the_five_lines_from_a_local_study_to_the_same_one_in_the_cloud(tmp_path):
    from backends.emulator import Emulator

    for name in ("train.py", "mine.yaml"):
        (tmp_path / name).write_text(block(name), encoding="utf-8")
    printed = {}
    with Emulator() as emulator:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "OUTRIDER_"))}
        environment = {**kept, **emulator.environment, "OUTRIDER_LEASES": str(tmp_path / "leases")}
        lines = re.findall(r"^\$ outrider (\w+) (.*)$", block("remote"), re.M)
        assert len(lines) == 5
        for verb, words in lines:
            if verb == "collect":
                sagemaker = emulator.client("sagemaker")
                (controller,) = re.findall(r"^launched: (\S+)$", printed["launch"], re.M)
                sagemaker.get_waiter("training_job_completed_or_stopped").wait(
                    TrainingJobName=controller, WaiterConfig={"Delay": 1, "MaxAttempts": 150}
                )
            # Three trials are as good as six for what is asked here.
            most = ["--max_num_trials", "3"] if verb in ("run", "launch") else []
            done = subprocess.run(
                [sys.executable, str(ROOT / "hpo_main.py"), verb, *words.split(), *most],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (verb, done.stdout, done.stderr)
            printed[verb] = done.stdout
    # The same seeds drew the same configurations, and the script knows no chance: here and there came to the same.
    found = {}
    for tag, backend in (("here", "local"), ("there", "sagemaker")):
        for seed in (0, 1):
            path = tmp_path / "results" / tag / "mine" / f"RS-{backend}-{seed}" / "trials.csv"
            rows = [*csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
            found[tag, seed] = sorted((row["learning_rate"], row["last_loss"]) for row in rows)
            assert len(rows) == 3
    assert found["here", 0] == found["there", 0]
    assert found["here", 1] == found["there", 1]
    assert len(re.findall(r"^mine +RS +[01] ", printed["status"], re.M)) == 2


def test_the_three_scripts_and_their_definitions_are_those_that_are_run():
    """Those of the tests name an interpreter of the checkout, and have a block for the emulator."""
    named = re.findall(r"<!-- (tests/scripts/\S+) -->", TEXT)
    assert len(named) == 6
    for name in named:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines(keepends=True)
        assert block(name) == "".join(line for line in lines if not line.startswith(("python:", "sagemaker:")))


def test_every_verb_and_every_dependency_has_its_place():
    from launch.__main__ import VERBS

    assert {"run", "list", "show", "export"} <= set(VERBS)
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = "\n".join([setup["options"]["install_requires"], *setup["options.extras_require"].values()])
    required = re.findall(r"^([A-Za-z0-9_-]+)", listed, re.M)
    assert "numpy" in required
    rows = "\n".join(line for line in TEXT.splitlines() if line.startswith("|"))
    assert [name for name in required if name not in rows] == []
