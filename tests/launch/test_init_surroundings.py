"""`outrider init` and what is around a script: its interpreter, variables of the environment, and files that it writes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from definitions.errors import EXIT_USAGE
from definitions.registry import Registry
from definitions.resolve import resolve
from launch.__main__ import main
from tests.launch.test_init import runs, write

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTRIDER_RESULTS", raising=False)
    monkeypatch.delenv("DATASET_ROOT", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))
    return tmp_path


def test_an_interpreter_named_by_a_path_from_here_is_found_by_trials_in_folders_of_their_own(folder):
    Path("venv/bin").mkdir(parents=True)
    Path("venv/bin/python").write_text(f'#!/bin/sh\nVIRTUAL_ENV=1 exec {sys.executable} "$@"\n')
    Path("venv/bin/python").chmod(0o755)
    write("train.py", "import os\nprint('loss:', 0.5 + 0.25 * int(os.environ['VIRTUAL_ENV']))\n")
    assert main(["init", "--run", "venv/bin/python train.py"]) == 0
    assert main(["init", "--run", "venv/bin/python train.py", "--output", "tune/it.yaml"]) == 0
    definition = resolve(Registry().find("train.yaml"), "local", ()).definition
    assert (definition.working_dir, definition.python) == ("job", str(folder / "venv/bin/python"))
    assert "python: ../venv/bin/python" in Path("tune/it.yaml").read_text()
    assert [row["last_loss"] for row in runs("tune/it.yaml", 1)] == ["0.75"]


def test_a_variable_that_it_needs_is_said_before_the_command_or_is_set_already(folder, capfd, monkeypatch):
    write("train.py", "import os\nprint('loss:', len(os.environ['DATASET_ROOT']) + float(os.environ['LR']))\n")
    assert main(["init", "train.py"]) == EXIT_USAGE
    assert "the script needs $DATASET_ROOT" in (err := capfd.readouterr().err)
    assert "--run 'DATASET_ROOT=... python train.py'" in err
    monkeypatch.setenv("DATASET_ROOT", "/a/place/of/mine")
    monkeypatch.setenv("LR", "10")
    assert main(["init", "train.py"]) == 0
    text = Path("train.yaml").read_text()
    assert "/a/place/of/mine" not in text
    assert "lr: {loguniform: [0.3, 100.0]}" in text
    assert float(runs("train.yaml", 1)[0]["last_loss"]) >= 16.3


def test_files_that_metrics_may_be_read_from_are_named_where_none_is_printed(folder):
    write(
        "train.py",
        """
        import os
        os.makedirs("logs/0")
        open("logs/0/metrics.csv", "w").write("step,loss\\n1,0.5\\n")
        open("logs/0/events.out.tfevents.1.host", "w")
        open("logs/notes.txt", "w")
        """,
    )
    assert main(["init", "train.py"]) == 0
    text = Path("train.yaml").read_text()
    assert "But it wrote files: `read: logs/0/metrics.csv` or `read: {path: logs/0, format: tensorboard}` takes metrics from there" in text
    objective = next(line for line in text.splitlines() if line.startswith("objectives:"))
    Path("train.yaml").write_text(text.replace(objective, "objectives: {loss: min}\nread: logs/0/metrics.csv"))
    assert [row["last_loss"] for row in runs("train.yaml", 1)] == ["0.5"]
    write("train.py", "open('a.csv', 'w')\nprint('loss: 0.5')\n")
    assert main(["init", "train.py", "--force"]) == 0
    assert "a.csv" not in Path("train.yaml").read_text()
