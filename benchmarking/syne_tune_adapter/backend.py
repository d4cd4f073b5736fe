"""Any Outrider back-end as a Syne Tune `TrialBackend`, so that Syne Tune's own `Tuner` drives it. Imports Syne Tune."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backends.backend_context import BackendContext
from backends.base import Backend
from backends.failures import Cause
from backends.registry import backend_class, make_backend
from benchmarking.syne_tune_adapter.backend_session import MakeBackend
from benchmarking.syne_tune_adapter.trial_manager import TrialManager
from benchmarking.syne_tune_adapter.trial_record import SyneTuneStatus, by_time
from definitions.backend_registry import backend_description
from definitions.builtin_backends import DEFAULT
from definitions.errors import UserError
from definitions.registry import Registry
from definitions.resolve import resolve, resolve_python
from definitions.schema import BenchmarkDefinition

try:
    from syne_tune.backend.trial_backend import TrialBackend
    from syne_tune.backend.trial_status import Trial, TrialResult
except ImportError as error:
    raise UserError("OutriderBackend needs Syne Tune", str(error), "pip install 'syne-tune>=0.16,<0.17'") from error


class OutriderBackend(TrialBackend):  # type: ignore[misc]  # Syne Tune has no types
    """Runs the trials of Syne Tune's `Tuner` on an Outrider back-end.

    Args:
        definition: name of a benchmark, path of its YAML file, or a `BenchmarkDefinition`. Syne Tune's scheduler has a `config_space` of
            its own; what it suggests is laid over the definition's arguments.
        backend: name of the back-end.
        settings: `key=value` texts that override keys of the definition, as after `--set`.
        seed: of the jobs (`OUTRIDER_SEED`), and of what the simulated back-end draws.
        folder: for logs, jobs and checkpoints; the tuner's own folder where None.
        wait_s: seconds that the loop waits here for something to happen, so that it can be given `sleep_time=0`.
        delete_checkpoints: whether checkpoints of stopped trials, and at the end all, are deleted.
        make_backend: makes the back-end; that of `backend`'s name where None.
        environ: environment of the jobs; this process's where None.

    Raises:
        UserError: there is no such benchmark or back-end, or the definition is wrong.
    """

    def __init__(
        self,
        definition: str | Path | BenchmarkDefinition,
        backend: str = DEFAULT,
        *,
        settings: Sequence[str] = (),
        seed: int = 0,
        folder: str | Path | None = None,
        wait_s: float = 1.0,
        delete_checkpoints: bool = False,
        make_backend: MakeBackend | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(delete_checkpoints=delete_checkpoints)
        make = _Named(backend) if make_backend is None else make_backend
        self.manager = TrialManager(_resolved(definition, backend, settings), backend, make, seed=seed, environ=environ, wait_s=wait_s)
        self.manager.folder = None if folder is None else Path(folder)
        self._has_own_folder = folder is not None

    # What the loop calls while trials run.

    def fetch_status_results(self, trial_ids: list[int]) -> tuple[dict[int, tuple[Trial, str]], list[tuple[int, dict[str, Any]]]]:
        """Return where the trials stand, and their results since the last call; waits up to `wait_s` for there to be any.

        On a virtual clock it goes on to the next event, however far that is.
        """
        self.manager.watch(trial_ids)
        results = [(trial_id, result) for trial_id in trial_ids for result in self.manager.records[trial_id].take()]
        return {trial_id: self._with_status(trial_id) for trial_id in trial_ids}, by_time(results)

    def busy_trial_ids(self) -> list[tuple[int, str]]:
        """Return the trials that hold a worker, as of the last `fetch_status_results`.

        Nothing newer on purpose: the loop loses trials where this knows of fewer than it polls.
        """
        self.manager.counts_workers = True
        return [
            (trial_id, str(record.status if record.status is SyneTuneStatus.IN_PROGRESS else SyneTuneStatus.STOPPING))
            for trial_id, record in self.manager.records.items()
            if record.holds_slot or record.status is SyneTuneStatus.IN_PROGRESS
        ]

    def stop_all(self) -> None:
        """Stop every trial, wait for the jobs to end, and release the back-end; a later `run` of the tuner opens it anew."""
        self.manager.finish()
        if self.delete_checkpoints:
            for trial_id in self.trial_ids:
                self.delete_checkpoint(trial_id)
        self.close()

    def close(self) -> None:
        """Release the back-end; jobs that still run are stopped."""
        self.manager.close()

    # What the base class calls.

    def _schedule(self, trial_id: int, config: dict[str, Any]) -> None:
        act = self.manager.resume if trial_id in self.manager.records else self.manager.start
        act(trial_id, config)

    def _resume_trial(self, trial_id: int) -> None:
        """Do nothing: `_schedule` follows, and knows."""

    def _stop_trial(self, trial_id: int, result: dict[str, Any] | None) -> None:
        self.manager.end(trial_id, Cause.SCHEDULER, result)

    def _pause_trial(self, trial_id: int, result: dict[str, Any] | None) -> None:
        self.manager.end(trial_id, Cause.PAUSED, result)

    def _all_trial_results(self, trial_ids: list[int]) -> list[TrialResult]:
        self.manager.look()
        return [self._result(trial_id) for trial_id in trial_ids]

    # Checkpoints, logs, names.

    def copy_checkpoint(self, src_trial_id: int, tgt_trial_id: int) -> None:
        """Copy a trial's checkpoint to one that is about to start; raises `UserError` where the back-end keeps none."""
        self.manager.copy_checkpoint(src_trial_id, tgt_trial_id)

    def delete_checkpoint(self, trial_id: int) -> None:
        """Delete a trial's checkpoint, when its job has ended."""
        self.manager.delete_checkpoint(trial_id)

    def stdout(self, trial_id: int) -> list[str]:
        """Return the lines of the logs of all its jobs, the last ones where the back-end keeps no files."""
        record = self.manager.records[trial_id]
        folder = self.manager.folder
        paths = [] if folder is None else [folder / "logs" / f"{job}.log" for job in record.jobs]
        found = [path for path in paths if path.is_file()]
        if not found:
            return [line + "\n" for line in record.log_tail]
        return [line for path in found for line in path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)]

    def stderr(self, trial_id: int) -> list[str]:
        """Return why the trial failed, in one line; what the script wrote to its error stream is in `stdout`, in its place."""
        why = self.manager.records[trial_id].why
        return [f"trial {trial_id}: {why}\n"] if why else []

    def cost_usd(self, trial_id: int) -> float | None:
        """Return dollars billed for the trial's closed jobs; None where its price is unknown."""
        return self.manager.records[trial_id].cost_usd

    def set_path(self, results_root: str | None = None, tuner_name: str | None = None) -> None:
        """Put logs, jobs and checkpoints into the tuner's folder, unless another was given."""
        if not self._has_own_folder and results_root is not None:
            self.manager.folder = Path(results_root)

    def entrypoint_path(self) -> Path:
        """Return the path of the script."""
        return Path(self.manager.definition.source_dir) / (self.manager.definition.script or "")

    def set_entrypoint(self, entry_point: str) -> None:
        """Run another script from now on; what runs is stopped."""
        path = Path(entry_point).resolve()
        self.close()
        self.manager.definition = self.manager.definition.model_copy(update={"script": path.name, "source_dir": str(path.parent)})

    def _with_status(self, trial_id: int) -> tuple[Trial, str]:
        result = self._result(trial_id)
        return Trial(trial_id=trial_id, config=result.config, creation_time=result.creation_time), result.status

    def _result(self, trial_id: int) -> TrialResult:
        """Return the trial as Syne Tune describes it, and let its own books say the same."""
        record = self.manager.records[trial_id]
        known = self._trial_dict.get(trial_id)
        result = TrialResult(
            trial_id=trial_id,
            config=record.configuration,
            creation_time=datetime.now(UTC) if known is None else known.creation_time,
            metrics=record.results,
            status=str(record.status),
        )
        self._trial_dict[trial_id] = result
        return result


class _Named:
    """Makes the back-end of a name; a class, so that it can be saved with the tuner."""

    def __init__(self, name: str) -> None:
        backend_class(name)
        self._name = name

    def __call__(self, context: BackendContext) -> Backend:
        return make_backend(self._name, context)


def _resolved(definition: str | Path | BenchmarkDefinition, backend: str, settings: Sequence[str]) -> BenchmarkDefinition:
    found = definition if isinstance(definition, BenchmarkDefinition) else Registry().find(str(definition))
    if isinstance(found, BenchmarkDefinition):
        return resolve_python(found, backend, settings, check_files=backend_description(backend).runs_programs).definition
    return resolve(found, backend, settings).definition
