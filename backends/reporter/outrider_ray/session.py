"""What Ray Tune gives a trainable, as Outrider has it: reports, the newest checkpoint, and what it may ask about its trial."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .call import flattened

ITERATION = "training_iteration"
"""What Ray Tune calls the number of a report."""

_WHOLE = ".whole"
"""The file of a checkpoint that is written last: where others copy it file by file, it comes last there too."""
_FILLED_IN = {
    "config", "date", "done", "hostname", "iterations_since_restore", "node_ip", "pid", "should_checkpoint", "time_since_restore",
    "time_this_iter_s", "time_total_s", "timestamp", "trial_id",
}  # fmt: skip
"""What Ray adds to each result, and what only it reads."""
_HOW_TO_KEEP = {
    "checkpoint_dir_name", "checkpoint_upload_mode", "checkpoint_upload_fn", "delete_local_checkpoint_after_upload", "validation",
}  # fmt: skip


@dataclass
class Checkpoints:
    """The newest checkpoint of a trial, in a folder of its own below another; the one before it goes when it is whole."""

    folder: Path

    def newest(self) -> tuple[int, Path] | None:
        """Return the iteration of the newest and where it is; None where there is none."""
        names = sorted(path.parent for path in self.folder.glob(f"checkpoint_[0-9]*/{_WHOLE}"))
        return (int(names[-1].name.partition("_")[2]), names[-1]) if names else None

    def keep(self, iteration: int, write: Callable[[Path], None]) -> Path:
        """Keep what `write` puts into an empty folder, and return where it is from now on."""
        making, made = self.folder / "writing", self.folder / f"checkpoint_{iteration:08d}"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        write(making)
        (making / _WHOLE).touch()
        shutil.rmtree(made, ignore_errors=True)
        making.rename(made)
        for older in self.folder.glob("checkpoint_[0-9]*"):
            if older != made:
                shutil.rmtree(older, ignore_errors=True)
        return made


@dataclass
class TuneSession:
    """What Ray Tune gives a trainable, told to Outrider.

    Args:
        tell: takes the metrics of a report.
        checkpoints: of this trial.
        stop: metrics at or above which the trial is over.
        iteration: number of the last report.
    """

    tell: Callable[..., None]
    checkpoints: Checkpoints
    stop: Mapping[str, float] = field(default_factory=dict)
    iteration: int = 0
    left_out: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        newest = self.checkpoints.newest()
        self.iteration = self.iteration if newest is None else newest[0]

    def report(self, metrics: Mapping[str, Any] | None = None, *, checkpoint: Any = None, **more: Any) -> None:
        """Tell a report, its checkpoint kept first; in place of `ray.tune.report`, also as it was called before (`report(loss=0.1)`).

        Raises:
            SystemExit: this was the last that the trial is for.
        """
        if checkpoint is not None:
            with checkpoint.as_directory() as folder:
                self.keep(lambda place: shutil.copytree(folder, place, symlinks=True, dirs_exist_ok=True))
        if self.told({**(metrics or {}), **{name: value for name, value in more.items() if name not in _HOW_TO_KEEP}}):
            raise SystemExit(0)

    def keep(self, write: Callable[[Path], Any]) -> None:
        """Keep a checkpoint of what the next report tells."""
        self.checkpoints.keep(self.iteration + 1, write)

    def told(self, result: Mapping[str, Any]) -> bool:
        """Tell a result, and return whether the trial is over with it."""
        metrics = self.metrics(result)
        self.iteration += 1
        metrics.setdefault(ITERATION, self.iteration)
        self.tell(**metrics)
        return self.is_last(metrics, result)

    def is_last(self, metrics: Mapping[str, Any], result: Mapping[str, Any]) -> bool:
        """Return whether the trial is over with a result, whose metrics these are."""
        return bool(result.get("done")) or any(name in metrics and metrics[name] >= most for name, most in self.stop.items())

    def metrics(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return what of a result is a number or a text, by its name."""
        found = {}
        for name, value in flattened({name: value for name, value in result.items() if name not in _FILLED_IN}):
            is_one = isinstance(value, (bool, int, float, str)) or (hasattr(value, "item") and getattr(value, "ndim", 0) == 0)
            if is_one:
                found[name] = value
            elif name not in self.left_out and value is not None:
                self.left_out.add(name)
                print(f"outrider_ray: {name} is a {type(value).__name__}, and left out of what is reported", file=sys.stderr)
        return found

    def checkpoint(self) -> Any:
        """Return the checkpoint to go on from, None where there is none; in place of `ray.tune.get_checkpoint`."""
        newest = self.checkpoints.newest()
        return None if newest is None else importlib.import_module("ray.tune").Checkpoint.from_directory(str(newest[1]))


class TrialContext:
    """What a trainable can ask about its trial; in place of `ray.tune.get_context()`."""

    def get_trial_id(self) -> str:
        """Return the trial's number."""
        return os.environ.get("OUTRIDER_TRIAL", "0")

    def get_trial_name(self) -> str:
        """Return the name of its job."""
        return os.environ.get("OUTRIDER_JOB", "trial")

    def get_experiment_name(self) -> str:
        """Return the name of its job too, which begins with that of the experiment."""
        return self.get_trial_name()

    def get_trial_dir(self) -> str:
        """Return the job's folder."""
        return str(Path.cwd())

    def get_trial_resources(self) -> Any:
        """Return what it was given."""
        gpus = int(os.environ.get("SM_NUM_GPUS", "0"))
        cpus = int(os.environ.get("OUTRIDER_CORES", "1"))
        return importlib.import_module("ray.tune").PlacementGroupFactory([{"CPU": cpus, **({"GPU": gpus} if gpus else {})}])

    def get_world_size(self) -> int:
        """Return 1, as a trial is one process here."""
        return 1

    get_local_world_size = get_world_size

    def get_world_rank(self) -> int:
        """Return 0, likewise."""
        return 0

    get_local_rank = get_node_rank = get_world_rank
