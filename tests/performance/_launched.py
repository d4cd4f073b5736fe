"""Studies of trials that sleep, run beside an emulator or launched into it: what both scripts of launches have in common."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _common import ROOT

BUCKET, TAG = "bench", "launched"
SCRIPT = """
import sys, time
from outrider_report import report
given = dict(word.split("=", 1) for word in sys.argv[1:])
time.sleep(float(given["--seconds"]))
report(loss=float(given["--x"]), epoch=1)
"""
DEFINITION = """
name: sleeps
script: train.py
arguments: {{instance_type: ml.m5.large, seconds: {seconds}}}
space: {{x: {{uniform: [0.0, 1.0]}}}}
objectives: {{loss: min}}
n_workers: 1
budget: {{max_num_trials: {trials}, max_run: 3600}}
sagemaker: {{image: "image:1", bucket: bench}}
"""


@contextmanager
def emulator_at(folder: Path, *, cold_start_s: float = 0.0) -> Iterator[tuple[Any, dict[str, str]]]:
    """Give an emulator with room for all jobs, and the variables of whoever talks to it."""
    from backends.emulator import Emulator, Settings
    from backends.emulator.core.settings import TRAINING_QUOTA, Delays

    delays = Delays(cold_start_s=cold_start_s) if cold_start_s else Delays()
    with Emulator(settings=Settings(quotas={TRAINING_QUOTA.format("*"): 500}, delays=delays)) as emulator:
        emulator.create_bucket(BUCKET)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SAGEMAKER_", "OUTRIDER_"))}
        yield emulator, {**kept, **emulator.environment, "OUTRIDER_LEASES": str(folder / "leases")}


def defined(folder: Path, seconds: float, trials: int) -> Path:
    """Write script and definition into a folder, and return the definition's path."""
    source = folder / "source"
    source.mkdir(parents=True, exist_ok=True)
    (source / "train.py").write_text(SCRIPT)
    path = source / "sleeps.yaml"
    path.write_text(DEFINITION.format(seconds=seconds, trials=trials))
    return path


def outrider(folder: Path, environ: Mapping[str, str], *words: str) -> str:
    """Run a verb and return what it printed; what fails ends the script."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "hpo_main.py"), *words], env=dict(environ), cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def study_words(definition: Path, seeds: int, parallel: int) -> list[str]:
    """Return the flags of a study of RS over seeds."""
    what = ["--benchmark", str(definition), "--method", "RS", "--num_seeds", str(seeds), "--parallel", str(parallel)]
    return [*what, "--backend", "sagemaker", "--experiment_tag", TAG, "--yes", "--results_dir", "results"]


def described(emulator: Any) -> dict[str, Mapping[str, Any]]:
    """Return all jobs as the service describes them, by name."""
    client = emulator.client("sagemaker")
    pages = client.get_paginator("list_training_jobs").paginate()
    names = [one["TrainingJobName"] for page in pages for one in page["TrainingJobSummaries"]]
    return {name: client.describe_training_job(TrainingJobName=name) for name in names}
