"""Saves and loads checkpoints of published models and measures how fast. The script of `checkpointing`, `dcp_save`, `dcp_load`, ...

The parameters have the shapes of a model and are filled by seed; nothing is trained, a step waits `--compute_s`. With `--processes` the
state lies on several ranks over gloo. Runs alone: needs this folder and `outrider_report` on the path. Environment: OUTRIDER_CHECKPOINT_S3,
where objects go; OUTRIDER_STORE_PID and OUTRIDER_STORE_FOLDER, of an object store on this machine; for S3 the usual AWS_*.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outrider_report import checkpoint_dir, phase, report, step

MEASURED = ("both", "save", "load")


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for; the knobs of checkpoints are those of `checkpointing.knobs`."""
    from checkpointing.knobs import add_checkpoint_knobs  # type: ignore[import-not-found]  # lies beside this script in jobs
    from checkpointing.training import add_model_options  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_checkpoint_knobs(parser)
    add_model_options(parser, "vit_base")
    parser.add_argument("--measure", default="both", choices=MEASURED, help="what each epoch does; what is not measured is done once")
    parser.add_argument("--processes", type=int, default=1, help="ranks on each host")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10, help="of an epoch")
    parser.add_argument("--compute_s", type=float, default=0.05, help="seconds of a step")
    parser.add_argument("--page_cache", default="cold", help="before a load: cold (evict the checkpoint), warm (read it), as_found")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def scaled(asked: argparse.Namespace, environ: Mapping[str, str]) -> argparse.Namespace:
    """Return the arguments with the share of the model at the scale of the whole benchmark (OUTRIDER_SCALE)."""
    asked.checkpoint_scale *= float(environ.get("OUTRIDER_SCALE") or 1)
    return asked


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Be one rank where RANK says so or there is only one; else start this host's ranks and wait for them."""
    from checkpointing.knobs import checkpoint_knobs_from
    from checkpointing.models import bytes_of  # type: ignore[import-not-found]
    from ranks import as_ranks  # type: ignore[import-not-found]

    asked, words = scaled(parse_arguments(arguments), environ), sys.argv[1:] if arguments is None else arguments
    if checkpoint_knobs_from(asked).checkpoint == "none":
        raise SystemExit("checkpoint is none: there is nothing to measure; use disk, s3, dcp_disk, dcp_s3, lightning_disk or lightning_s3")
    try:
        bytes_of(asked.checkpoint_model, asked.checkpoint_scale, asked.checkpoint_dtype, asked.checkpoint_optimiser)
    except ValueError as error:
        raise SystemExit(str(error)) from error
    as_ranks(__file__, asked.processes, words, environ, lambda rank, world: run(asked, rank, world, environ))


def run(asked: argparse.Namespace, rank: int, world: int, environ: Mapping[str, str]) -> None:
    """Save and load as one rank of the world; each rank reports, the first one's reports are those of all."""
    with phase("startup"):
        import torch
        from ranks import join, leave

        cores = int(environ.get("OUTRIDER_CORES") or len(os.sched_getaffinity(0)))
        torch.set_num_threads(max(1, cores // int(environ.get("LOCAL_WORLD_SIZE") or world)))
        join(rank, world, environ)
    measured = None
    try:
        with phase("fill"):
            measured = MeasuredCheckpoints(asked, rank, world, environ)
        for epoch in range(1, asked.epochs + 1):
            report(epoch=epoch, **measured.epoch(epoch))
    finally:
        if measured is not None:
            measured.close()
        del measured
        leave(world)


class MeasuredCheckpoints:
    """A state on this rank, and where it is saved to.

    Args:
        asked: the arguments.
        rank: of this process; `world`: how many there are.
        environ: of the job.
    """

    def __init__(self, asked: argparse.Namespace, rank: int, world: int, environ: Mapping[str, str]) -> None:
        from checkpointing.knobs import checkpoint_knobs_from
        from checkpointing.models import bytes_of, label_of
        from checkpointing.places import disk_problem, place_of, unsynced  # type: ignore[import-not-found]
        from checkpointing.saver import Saver  # type: ignore[import-not-found]
        from checkpointing.sharding import held_state  # type: ignore[import-not-found]
        from checkpointing.stores import make_store  # type: ignore[import-not-found]
        from checkpointing.stores.base import StoreOptions  # type: ignore[import-not-found]

        self._asked, self._rank, self._world, self._environ = asked, rank, world, environ
        self._knobs = checkpoint_knobs_from(asked)
        kind, place = self._knobs.kind, place_of(self._knobs.kind, self._knobs.checkpoint_to, environ, unsynced(checkpoint_dir()))
        size_bytes = bytes_of(asked.checkpoint_model, asked.checkpoint_scale, asked.checkpoint_dtype, asked.checkpoint_optimiser)
        too_small = None if kind.in_s3 else disk_problem(Path(place), size_bytes, kind.name)
        if too_small is not None:
            raise SystemExit(too_small)
        self._held = held_state(asked, self._knobs, rank, world)
        self._place = place
        options = StoreOptions(
            place, self._knobs.checkpoint_threads, self._knobs.checkpoint_fsync, self._knobs.checkpoint_client, rank, world, environ
        )
        self._saver = Saver(make_store(kind, options), place, is_async=self._knobs.checkpoint_async, rank=rank, barrier=self._barrier)
        self._saver.warm_up()
        self._writers = world if kind.writer == "dcp" else 1
        self._told = {
            "checkpoint_of": label_of(asked.checkpoint_model, asked.checkpoint_scale, asked.checkpoint_optimiser),
            "checkpoint_scale": asked.checkpoint_scale,
            "ranks": world,
        }

    def epoch(self, epoch: int) -> dict[str, Any]:
        """Train and save, then load, and return the figures of all ranks; see `checkpointing.figures`.

        Args:
            epoch: from 1.

        Raises:
            SystemExit: what is loaded is not what was saved.
        """
        from measuring.resources import is_disturbed, other_load, snapshot  # type: ignore[import-not-found]

        server_pid = int(self._environ.get("OUTRIDER_STORE_PID") or 0)
        is_last = epoch == self._asked.epochs
        before = snapshot(server_pid=server_pid)
        found: dict[str, Any] = dict(self._told)
        if self._asked.measure != "load" or epoch == 1:
            found |= self._trained(epoch)
        if self._asked.measure != "save" or is_last:
            found |= self._loaded()
        # Other ranks are no foreign load, but no children of this process either.
        if self._world == 1:
            found |= other_load(before, snapshot(server_pid=server_pid))
            found["disturbed"] = is_disturbed(found.get("foreign_cpu_cores"))
        return found

    def _trained(self, epoch: int) -> dict[str, Any]:
        from checkpointing.figures import save_figures  # type: ignore[import-not-found]

        train_s, every = 0.0, self._knobs.every
        for number in range(1, self._asked.steps + 1):
            began_s = time.perf_counter()
            with phase("train"):
                time.sleep(self._asked.compute_s)
            train_s += time.perf_counter() - began_s
            step()
            self._save_if(every.is_due((epoch - 1) * self._asked.steps + number, "steps"))
        is_wanted = self._asked.measure == "load" or epoch == self._asked.epochs
        self._save_if(every.is_due(epoch, "epochs") or (is_wanted and not self._saver.has_saved))
        with phase("checkpoint"):
            saves = self._saver.wait()
        durable = self._knobs.checkpoint_fsync or self._knobs.kind.in_s3
        return dict(save_figures(self._gathered(saves), writers=self._writers, train_s=train_s, is_durable=durable))

    def _save_if(self, is_due: bool) -> None:
        if not is_due:
            return
        with phase("checkpoint"):
            self._saver.save(self._held.gathered)

    def _loaded(self) -> dict[str, Any]:
        from checkpointing.figures import Load, load_figures

        with phase("page_cache"):
            found = self._prepared()
        self._barrier()
        with phase("restore"):
            load = self._held.load(self._saver)
            different = self._held.difference()
        if different:
            raise SystemExit(f"rank {self._rank}: checkpoint {self._saver.last} at {self._place} was read back otherwise: {different}")
        return {**found, **load_figures(self._gathered(Load(*load)))}

    def _prepared(self) -> dict[str, Any]:
        from measuring.page_cache import files_below, prepared  # type: ignore[import-not-found]

        where = self._environ.get("OUTRIDER_STORE_FOLDER") if self._knobs.kind.in_s3 else self._place
        if not where or int(self._environ.get("LOCAL_RANK") or 0):
            return {"page_cache": "unknown"} if not where else {}
        state = prepared(self._asked.page_cache, files_below([where]))
        return {"page_cache": state["page_cache"]} | {
            f"checkpoint_{name}": value for name, value in state.items() if name == "cached_share"
        }

    def _barrier(self) -> None:
        if self._world > 1:
            import torch

            torch.distributed.barrier()

    def _gathered(self, own: Any) -> list[Any]:
        if self._world == 1:
            return [own]
        import torch

        found: list[Any] = [None] * self._world
        torch.distributed.all_gather_object(found, own)
        return found

    def close(self) -> None:
        """Delete the checkpoint, which is nobody's, and end what writes."""
        self._saver.close(remove=True)


if __name__ == "__main__":
    main()
