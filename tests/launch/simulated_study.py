"""A study on the simulated back-end, whose experiments take milliseconds and start no process."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from launch.planning import Planned, plan
from launch.progress import Progress
from launch.request import RunRequest

DEFINITION = """\
name: job
script: job.py
space: {x: {choice: [1, 2, 3, 4, 5, 6]}}
objectives: {loss: min}
simulated: {table: runs.csv}
budget: {max_num_trials: 3}
"""


def make(folder: Path, definition: str = DEFINITION) -> Path:
    """Write the definition and its table of runs, and return the definition's path."""
    with (folder / "runs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["trial", "repeat", "attempt", "incarnation", "sequence", "elapsed_s", "x", "loss"])
        writer.writerows([number, 0, 1, 0, 0, 2.0, number + 1, 1.0 / (number + 1)] for number in range(6))
    (folder / "job.py").write_text("", encoding="utf-8")
    path = folder / "job.yaml"
    path.write_text(definition, encoding="utf-8")
    return path


def request_for(folder: Path, **options: object) -> RunRequest:
    """Return the request for a study of two seeds of RS and GRID."""
    asked = {"benchmark": (str(folder / "job.yaml"),), "method": ("RS", "GRID"), "backend": "simulated", "num_seeds": 2}
    return RunRequest(**{**asked, "experiment_tag": "s", "results_dir": folder / "results", **options})


def resume_for(folder: Path, **options: object) -> RunRequest:
    """Return the request to go on with it."""
    return RunRequest(resume="s", results_dir=folder / "results", **options)


def planned(folder: Path, **options: object) -> Planned:
    """Return the plan of a study that is new."""
    make(folder)
    return plan(request_for(folder, **options))


def progress() -> tuple[Progress, io.StringIO]:
    """Return what follows a command, and what it says."""
    said = io.StringIO()
    return Progress(said), said
