"""Jobs that go on although nobody controls them any more, where only a controller of their experiment can end them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.controller.tuner import Tuner

STOPPED = "stopped"
"""What became of an experiment of which nothing is left running."""


def left_running(folder: Path) -> int:
    """Return how many jobs of the experiment in a folder may go on without a controller; 0 where one is at work, or they end with it."""
    from benchmarking.archive.liveness import held_files, is_run
    from benchmarking.archive.stored import load

    stored = load(folder)
    if not (stored.is_started and stored.outlives_controller) or is_run(folder, held_files()):
        return 0
    with stored.journal() as journal:
        return len(stored.state(journal).jobs)


def end_left(folders: Sequence[Path], cache: Path) -> list[tuple[Path, str]]:
    """Take the jobs of experiments over, end them, and leave the experiments as if somebody had interrupted them.

    Args:
        folders: of the experiments.
        cache: folder of generated data sets.

    Returns:
        For each what became of it, in words; `stopped` where nothing is left.
    """
    from benchmarking.archive.stored import load_to_run
    from benchmarking.experiment import run_experiment
    from benchmarking.surroundings import Surroundings
    from definitions.errors import OutriderError

    def started(tuner: Tuner, n_workers: int) -> None:
        tuner.interrupt()

    found = []
    for folder in folders:
        try:
            result = run_experiment(load_to_run(folder).spec, Surroundings(os.environ, cache, started=started, accept_changes=True))
            left = ", ".join(result.survivors)
            found.append((folder, f"could not be stopped: {left}" if left else STOPPED))
        except OutriderError as error:
            found.append((folder, " ".join(str(error).split("\n")[:2])))
    return found
