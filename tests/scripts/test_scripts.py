"""Scripts in the forms in which people have them are tuned as they stand: cold, warm and on the emulator, from the same few lines.

Each case says what every configuration of its script has to lead to, computed here anew, and a line that the script prints for one of them,
from which can be seen that values arrived as they were written.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FOLDERS = sorted(path.parent.name for path in HERE.glob("*/tune.yaml"))
INTERPRETER = ROOT / ".venv-scripts" / "bin" / "python"

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """What a script's trials have to come to.

    Args:
        metric: the objective.
        trials: how many configurations the definition has.
        value: of the objective, by configuration.
        printed: a regular expression for a line of a trial's log.
        not_forked: what is said where the program cannot be forked; empty where it is.
        preload: what a warm worker imports.
        reports: of each trial.
        one: a setting by which one trial alone is run warm and on the emulator, where each takes seconds of a processor; cold all are run.
    """

    metric: str
    trials: int
    value: Callable[[Values], float]
    printed: str = ""
    not_forked: str = ""
    preload: str = "argparse"
    reports: int = 1
    one: str = ""

    @property
    def brief(self) -> tuple[Case, tuple[str, ...]]:
        """What is run of it where all its trials have been run before, and the words for that."""
        return (replace(self, trials=1), ("--set", self.one)) if self.one else (self, ())


def flags(given: Values) -> float:
    position, velocity = 1.0, 0.0
    for _ in range(4):
        velocity = 0.5 * velocity * given["use_momentum"] - given["learning_rate"] * position
        position += velocity
    return position**2


def subcommands(given: Values) -> float:
    residuals = [y - given["shift"] - sum(w * x**k for k, w in enumerate(given["weights"])) for x, y in [(0, 1), (1, 3), (2, 5)]]
    error = math.sqrt(sum(one**2 for one in residuals) / 3)
    return min(error, 1.0) if given["clip"] else error


def plain_argv(given: Values) -> float:
    return ((given["start"] - 3) * (1 - 2 * given["step"]) ** given["rounds"]) ** 2


def yaml_config(given: Values) -> float:
    return given["optimizer.lr"] * (1 - (given["optimizer.momentum"] or 0)) * 8 + 1


def package(given: Values) -> float:
    level, errors = 4.0, []
    for value in (4, 0, 4, 0):
        errors.append(abs(value - level))
        level += given["alpha"] * (value - level)
    return sum(error**2 if given["squared"] else error for error in errors) / 4


def bash(given: Values) -> float:
    return 10 * (given["lr"] + given["workers"])


def torchrun(given: Values) -> float:
    weight, squares = 0.0, [x**2 for rank in (0, 1) for x in range(1 + rank, 3 + rank)]
    for _ in range(3):
        weight -= given["lr"] * 2 * (weight - 2) * sum(squares) / len(squares)
    return weight


def xgboost_table(given: Values) -> float:
    return 0.5 * (1 - given["eta"]) ** 3


def click_command(given: Values) -> float:
    return given["learning_rate"] * sum(given["layers"]) ** (1 if given["model"] == "linear" else 3) - given["shuffle"]


def typer_command(given: Values) -> float:
    return (given["learning_rate"] * 8 * sum(given["widths"]) - 1e-05) * 0.5 * (1 if given["augment"] else -1)


def absl_flags(given: Values) -> float:
    return (given["learning_rate"] * 8 + given["betas"][0] - given["ema"]) / 2


def lightgbm_table(given: Values) -> float:
    return 0.25 * (1 - given["learning_rate"]) ** 6


def hydra(given: Values) -> float:
    return 96 * (1 - given["optimizer.lr"] - (given["optimizer.momentum"] or 0)) ** 2


def hf_arguments(given: Values) -> float:
    # Descent on the logits of three classes, of which the first has 7 of 8 examples and the last has none.
    logits, shares = [0.0] * 3, [7 / 8, 1 / 8, 0]
    for _ in range(2):
        total = sum(map(math.exp, logits))
        logits = [one - given["learning_rate"] * (math.exp(one) / total - share) for one, share in zip(logits, shares, strict=True)]
    return math.log(sum(map(math.exp, logits))) - sum(one * share for one, share in zip(logits, shares, strict=True))


def lightning_cli(given: Values) -> float:
    slope = -1e-05
    for _ in range(3):
        slope -= given["model.lr"] * 2 * (slope - 2) * 2.5
    return 5 * (slope - 2) ** 2


CASES = {
    "flags": Case("val_loss", 4, flags, r"Epoch 4/4 - val\. loss: 0\.987", reports=4),
    "subcommands": Case("rmse", 8, subcommands, "3 rows read, clipping is off"),
    "plain_argv": Case("f", 8, plain_argv, "called with 2.5E-1 1e1 5"),
    "yaml_config": Case("accuracy", 4, yaml_config, r"'layers': \[4, 4\]\}, 'optimizer': \{'lr': 0\.001, 'momentum': 0\.5\}"),
    "package": Case("error", 4, package, "INFO forecaster: mean error 12.00000"),
    "bash": Case("score", 4, bash, not_forked="bash is no Python script or module that could be forked"),
    "torchrun": Case(
        *("weight", 2, torchrun, r"\[rank1\]: step 3 of 3", "torchrun is no Python script or module that could be forked"),
        reports=3,
        one="space.lr={choice: [0.1]}",
    ),
    "xgboost_table": Case("val-rmse", 2, xgboost_table, preload="numpy", reports=3),
    "click_command": Case("score", 16, click_command, r"cubic: layers \(1, 2\)"),
    "typer_command": Case("accuracy", 8, typer_command, r"widths=\[2, 3\] augment=False", preload="typer"),
    "absl_flags": Case("loss", 8, absl_flags, r"dtype bfloat16, layers \[8\]", preload="absl.flags", reports=2),
    "lightgbm_table": Case("valid_1-l2", 2, lightgbm_table, preload="numpy", reports=3),
    "hydra": Case("val_loss", 6, hydra, r"sgd, widths \[64, 32\], dropout None", preload="hydra", reports=2),
    "hf_arguments": Case("eval_loss", 2, hf_arguments, "num_labels=3, hidden_size=8", preload="transformers", reports=3),
    "lightning_cli": Case("val_loss", 2, lightning_cli, "GPU available: False", preload="lightning.pytorch", reports=3),
}


def definition(folder: str) -> str:
    return (HERE / folder / "tune.yaml").read_text(encoding="utf-8")


def scripts() -> list[Any]:
    """Return the scripts, each with the marks of a test that runs it."""
    # Its packages are there once make has set its mark.
    is_there = (INTERPRETER.parent.parent / "installed").exists()
    missing = pytest.mark.skipif(not is_there, reason=".venv-scripts is made by `make scripts`")
    more = {folder: [pytest.mark.packages, missing] if "\npython: " in definition(folder) else [] for folder in FOLDERS}
    return [pytest.param(folder, marks=[pytest.mark.slow, *more[folder]]) for folder in FOLDERS]


def test_every_script_has_its_case():
    assert sorted(CASES) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_definition_has_at_most_ten_lines(folder):
    lines = [line for line in definition(folder).splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 160


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_script_knows_nothing_of_outrider(folder):
    texts = [path.read_text(encoding="utf-8") for path in (HERE / folder).rglob("*") if path.suffix in (".py", ".sh")]
    assert texts
    assert not any("outrider" in text.lower() for text in texts)


def called(work: Path, *words: str) -> str:
    """Run a verb of Outrider in a folder; return what it said on the way."""
    own = {"OUTRIDER_LEASES": str(work / "leases"), "OUTRIDER_RESULTS": str(work / "results"), "CUDA_VISIBLE_DEVICES": ""}
    environ = {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(ROOT / "hpo_main.py"), *words]
    done = subprocess.run(command, cwd=work, env=environ, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def tuned(folder: str, work: Path, *words: str) -> tuple[list[dict[str, str]], list[dict[str, str]], str, str]:
    """Tune a script; return its trials, its reports, all its logs, and what was said meanwhile."""
    command = ["run", "--benchmark", str(HERE / folder / "tune.yaml"), "--method", "GRID", *words]
    said = called(work, *command)
    (experiment,) = (work / "results").glob("*/*/*")
    tables = []
    for name in ("trials.csv", "reports.csv"):
        with (experiment / name).open(encoding="utf-8", newline="") as file:
            tables.append([*csv.DictReader(file)])
    logs = "".join(path.read_text(encoding="utf-8") for path in sorted((experiment / "logs").glob("*.log")))
    return tables[0], tables[1], logs, said


def value_of(text: str) -> Any:
    """Return what a cell of a table holds."""
    if text in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[text]
    try:
        return json.loads(text)
    except ValueError:
        return text


def check(case: Case, trials: list[dict[str, str]], reports: list[dict[str, str]], logs: str) -> None:
    assert [trial["status"] for trial in trials] == ["completed"] * case.trials
    for trial in trials:
        given = {key: value_of(text) for key, text in trial.items()}
        assert given[f"last_{case.metric}"] == pytest.approx(case.value(given), rel=2e-3, abs=1e-6), given
    assert len(reports) == case.trials * case.reports
    assert re.search(case.printed, logs)


@pytest.mark.parametrize("folder", scripts())
def test_cold(folder, tmp_path):
    trials, reports, logs, _ = tuned(folder, tmp_path)
    check(CASES[folder], trials, reports, logs)


@pytest.mark.parametrize("folder", scripts())
def test_warm(folder, tmp_path):
    case, words = CASES[folder].brief
    trials, reports, logs, said = tuned(folder, tmp_path, *words, "--set", f"preload={case.preload}")
    check(case, trials, reports, logs)
    cold = [line for line in said.splitlines() if "starts cold" in line]
    assert len(cold) == bool(case.not_forked), cold
    assert case.not_forked in said


@pytest.mark.parametrize("folder", scripts())
def test_on_the_emulator(folder, tmp_path):
    case, words = CASES[folder].brief
    trials, reports, logs, said = tuned(folder, tmp_path, *words, "--backend", "sagemaker", "--emulate")
    check(case, trials, reports, logs)
    assert "prices are emulated" in said


AS_TYPED = {
    "flags": ("python train.py --learning-rate 0.1", "val_loss"),
    "hydra": (f"{INTERPRETER} train.py optimizer.lr=0.25", "val_loss"),
    "torchrun": ("torchrun --standalone --nproc-per-node 2 train.py --lr 0.01 --batch-size 2", "weight"),
}


@pytest.mark.parametrize("folder", [script for script in scripts() if script.values[0] in AS_TYPED])
def test_init_proposes_a_definition_that_runs(folder, tmp_path):
    shutil.copytree(HERE / folder, tmp_path / "mine", ignore=shutil.ignore_patterns("tune.yaml", "__pycache__"))
    typed, metric = AS_TYPED[folder]
    called(tmp_path / "mine", "init", "--run", typed)
    proposed = yaml.safe_load((tmp_path / "mine" / "train.yaml").read_text(encoding="utf-8"))
    assert [*proposed["objectives"]] == [metric]
    called(tmp_path / "mine", "run", "--benchmark", "train.yaml", "--max_num_trials", "2")
    (trials,) = (tmp_path / "mine" / "results").glob("*/train/*/trials.csv")
    with trials.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["status"] for row in rows] == ["completed"] * (2 if "space" in proposed else 1)
    assert all(math.isfinite(float(row[f"last_{metric}"])) for row in rows)
