"""Checkpoints of a model while it trains: when they are due, what they hold, how long training stands still, how they are read back."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .figures import Load, load_figures, save_figures
from .filling import bytes_in, difference, made_up
from .knobs import CheckpointKnobs
from .models import OPTIMISERS, groups_of, label_of
from .places import disk_problem, place_of
from .saver import Saver
from .stores import make_store
from .stores.base import StoreOptions, copied

Phase = Callable[[str], AbstractContextManager[Any]]
SavedState = Callable[[], Mapping[str, Any]]


def add_model_options(parser: argparse.ArgumentParser, model: str) -> None:
    """Add the options that say whose parameters are saved.

    Args:
        parser: of a script.
        model: of the table, by default; empty where the script has a model of its own.
    """
    own = "; empty for the model that is trained" if not model else ""
    parser.add_argument("--checkpoint_model", default=model, help=f"vit_base, clip_vit, t0_3b, t0pp, llama_7b ... llama_70b{own}")
    parser.add_argument("--checkpoint_scale", type=float, default=1.0, help="share of the model's parameters, above 0 and at most 1")
    parser.add_argument("--checkpoint_dtype", default="float32", help="float32, bfloat16 or float16")
    parser.add_argument("--checkpoint_optimiser", default="none", help=f"whose state is saved beside: {', '.join(OPTIMISERS)}")


def state_of(model: Any) -> SavedState:
    """Return what gathers the state of a model.

    Args:
        model: with `state`, which returns it; or with `save` alone, which writes a file: then the state is that file's bytes.
    """
    if callable(getattr(model, "state", None)):
        state: SavedState = model.state
        return state

    def written() -> Mapping[str, Any]:
        import torch

        with tempfile.TemporaryDirectory(prefix="outrider-model-") as folder:
            path = Path(folder) / "model"
            model.save(path)
            content = bytearray(path.read_bytes())
        return {"saved": torch.frombuffer(content, dtype=torch.uint8) if content else torch.empty(0, dtype=torch.uint8)}

    return written


def made_up_state(model: str, scale: float, dtype: str, seed: int, optimiser: str = "none") -> SavedState:
    """Return what gathers a state with the parameters of a published model, filled now.

    Args:
        model: one of `models.MODELS`.
        scale: share of its parameters.
        dtype: of `models.DTYPES`.
        seed: of its content.
        optimiser: of `models.OPTIMISERS`, whose state is saved beside.

    Raises:
        SystemExit: there is no such model, share, type or optimiser.
    """
    try:
        state = made_up(groups_of(model, scale, dtype, optimiser), seed)
    except ValueError as error:
        raise SystemExit(str(error)) from error
    return lambda: state


class TrainingCheckpoints:
    """Saves by the knobs, after steps or epochs and at the end, and reads the last one back.

    Args:
        knobs: of checkpoints, of a kind that saves.
        state: gathers what is saved.
        environ: of the job.
        folder: where the trial keeps its checkpoints; None where it keeps none.
        phase: context that saving (`checkpoint`) and reading back (`restore`) are counted in.
        wait: returns when the device has done its work, which is no part of a save.

    Raises:
        SystemExit: the disk is too small, a package is missing, or training of one process cannot shard.
    """

    def __init__(
        self,
        knobs: CheckpointKnobs,
        state: SavedState,
        environ: Mapping[str, str],
        folder: Path | None,
        phase: Phase,
        wait: Callable[[], Any] = lambda: None,
    ) -> None:
        if knobs.checkpoint_sharding != "ddp":
            raise SystemExit(
                f"checkpoint_sharding is {knobs.checkpoint_sharding}, and this model is whole in one process; "
                "the benchmarks dcp_save and checkpointing shard"
            )
        self._knobs, self._state, self._phase, self._wait = knobs, state, phase, wait
        place = place_of(knobs.kind, knobs.checkpoint_to, environ, folder)
        self._store_folder = environ.get("OUTRIDER_STORE_FOLDER", "") if knobs.kind.in_s3 else place
        too_small = None if knobs.kind.in_s3 else disk_problem(Path(place), bytes_in(state()), knobs.checkpoint)
        if too_small is not None:
            raise SystemExit(too_small)
        options = StoreOptions(place, knobs.checkpoint_threads, knobs.checkpoint_fsync, knobs.checkpoint_client, environ=environ)
        self._saver = Saver(make_store(knobs.kind, options), place, is_async=knobs.checkpoint_async)
        self._saver.warm_up()
        self._steps, self._saved_at = 0, -1
        self._stall_s = 0.0

    def after_step(self) -> None:
        """Save if it is due after a step of training."""
        self._steps += 1
        if self._knobs.every.is_due(self._steps, "steps"):
            self._save()

    def after_epoch(self, epoch: int, *, is_last: bool) -> None:
        """Save if it is due after an epoch; after the last one in any case, unless nothing was trained since.

        Args:
            epoch: from 1.
            is_last: whether training is over.
        """
        if (self._knobs.every.is_due(epoch, "epochs") or is_last) and self._saved_at != self._steps:
            self._save()

    def figures(self, whole_s: float, *, is_last: bool) -> dict[str, Any]:
        """Return the figures of an epoch; see `checkpointing.figures`. A save that is not over counts for the next one, its stall for this.

        Args:
            whole_s: seconds of the epoch, saves included.
            is_last: whether to wait for what is under way.
        """
        saves = self._saver.wait() if is_last else self._saver.finished()
        stall_s, self._stall_s = self._stall_s, 0.0
        durable = self._knobs.checkpoint_fsync or self._knobs.kind.in_s3
        found: dict[str, Any] = dict(save_figures([saves], writers=1, train_s=0.0, is_durable=durable))
        if found or stall_s:
            found |= {"checkpoint_stall_s": stall_s, "checkpoint_stall_share": stall_s / max(whole_s, stall_s, 1e-9)}
        return found

    def read_back(self) -> dict[str, Any]:
        """Read the last checkpoint with none of it in memory, compare it with the model, and return what that took.

        Raises:
            SystemExit: it is not what was saved.
        """
        from measuring.page_cache import cached_share, evict, files_below  # type: ignore[import-not-found]  # beside the script

        now = self._state()
        like = _emptied(copied(now))
        files = files_below([self._store_folder] if self._store_folder else [])
        evict(files)
        share = cached_share(files)
        with self._phase("restore"):
            loaded, seconds, cpu_s = self._saver.load(like)
        different = difference(now, loaded)
        if different:
            raise SystemExit(f"checkpoint {self._saver.last} was read back otherwise: {different}")
        found = load_figures([Load(bytes_in(loaded), seconds, cpu_s)])
        return {**found, **({} if share is None else {"checkpoint_cached_share": share})}

    def close(self, *, remove: bool) -> None:
        """End what writes, and delete the last checkpoint where it is nobody's model."""
        self._saver.close(remove=remove)

    def _save(self) -> None:
        self._wait()
        with self._phase("checkpoint"):
            self._stall_s += self._saver.save(self._state)
        self._saved_at = self._steps


def training_checkpoints(
    asked: argparse.Namespace,
    knobs: CheckpointKnobs,
    model: Any,
    environ: Mapping[str, str],
    folder: Path | None,
    phase: Phase,
    wait: Callable[[], Any],
) -> tuple[TrainingCheckpoints | None, dict[str, Any]]:
    """Return the checkpoints that a script asks for, None where it asks for none, and how they are labelled.

    Args:
        asked: `checkpoint_model`, `checkpoint_scale`, `checkpoint_dtype`, `checkpoint_optimiser`, `seed`.
        knobs: of checkpoints.
        model: that is trained.
        environ: of the job; of several processes the first one saves.
        folder: where the trial keeps its checkpoints; None where it keeps none.
        phase: see `TrainingCheckpoints`.
        wait: likewise.
    """
    if not knobs.kind.writer or environ.get("RANK", "0") not in ("", "0"):
        return None, {}
    scale = asked.checkpoint_scale * float(environ.get("OUTRIDER_SCALE") or 1) if asked.checkpoint_model else 1.0
    if asked.checkpoint_model:
        state = made_up_state(asked.checkpoint_model, scale, asked.checkpoint_dtype, asked.seed, asked.checkpoint_optimiser)
        label = label_of(asked.checkpoint_model, scale, asked.checkpoint_optimiser)
    else:
        state, label = state_of(model), "the model"
    return TrainingCheckpoints(knobs, state, environ, folder, phase, wait), {"checkpoint_of": label}


def _emptied(state: Any) -> Any:
    """Return a copied state whose tensors hold zeros."""
    import torch

    if isinstance(state, torch.Tensor):
        return state.zero_()
    if isinstance(state, Mapping):
        return {key: _emptied(value) for key, value in state.items()}
    return type(state)(_emptied(value) for value in state) if isinstance(state, list | tuple) else state
