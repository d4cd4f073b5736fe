"""Syne Tune's side of the performance scripts. Imported only in processes of its own, as its import takes seconds."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import _common

os.environ["SYNETUNE_FOLDER"] = os.environ["PERFORMANCE_FOLDER"]

from syne_tune import StoppingCriterion, Tuner
from syne_tune.backend import LocalBackend
from syne_tune.backend.trial_backend import TrialBackend
from syne_tune.backend.trial_status import Status, Trial, TrialResult
from syne_tune.config_space import loguniform, randint
from syne_tune.optimizer.baselines import RandomSearch

SPACE = {"x": randint(0, 1_000_000), "rate": loguniform(1e-4, 1e-1)}


def make_tuner(backend: TrialBackend, trials: int, n_workers: int, sleep_time: float) -> Tuner:
    """Return a loop with everything off that costs time: no saving, no waiting, no lines of progress."""
    return Tuner(
        trial_backend=backend,
        scheduler=RandomSearch(SPACE, metrics=["loss"], random_seed=1),
        # Its limits are exceeded before they hold, so that one more trial runs.
        stop_criterion=StoppingCriterion(max_num_trials_finished=trials - 1),
        n_workers=n_workers,
        sleep_time=sleep_time,
        save_tuner=False,
        print_update_interval=1e9,
    )


def run_local(trials: int, n_workers: int, sleep_time: float) -> list[float]:
    """Run no-op trials and return when each was started, by its own record (UTC seconds since the epoch)."""
    backend = LocalBackend(str(_common.NOOP), rotate_gpus=False)
    make_tuner(backend, trials, n_workers, sleep_time).run()
    return [trial.creation_time.timestamp() for trial in backend._trial_dict.values()]


class ZeroTimeBackend(TrialBackend):  # type: ignore[misc]
    """Every trial has made all its reports and is completed when it is first asked for."""

    def __init__(self, reports: int) -> None:
        super().__init__()
        self._reports = reports

    def _schedule(self, trial_id: int, config: dict[str, Any]) -> None: ...

    def _all_trial_results(self, trial_ids: list[int]) -> list[TrialResult]:
        return []

    def fetch_status_results(self, trial_ids: list[int]) -> Any:
        now = time.time()
        statuses = {}
        results = []
        for trial_id in trial_ids:
            known = self._trial_dict[trial_id]
            statuses[trial_id] = (Trial(trial_id, known.config, known.creation_time), Status.completed)
            for k in range(self._reports):
                stamps = {"st_worker_timestamp": now, "st_worker_time": float(k), "st_worker_iter": k}
                results.append((trial_id, {"epoch": k + 1, "loss": known.config["rate"] / (k + 1), "accuracy": 0.5, **stamps}))
        return statuses, results

    def busy_trial_ids(self) -> list[tuple[int, str]]:
        return []

    def entrypoint_path(self) -> Path:
        return Path("noop.py")

    def stdout(self, trial_id: int) -> list[str]:
        return []

    def stderr(self, trial_id: int) -> list[str]:
        return []


__all__ = ["ZeroTimeBackend", "make_tuner", "run_local"]
