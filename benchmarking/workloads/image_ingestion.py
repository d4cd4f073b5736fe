"""Trains a model on images and measures how fast a loader feeds it, and what bounds it. The script of the benchmark `demo`.

Runs alone: needs this folder and `outrider_report` on the path. Environment: OUTRIDER_CHANNEL_TRAIN, OUTRIDER_READER_TRAIN,
OUTRIDER_LAYOUT_TRAIN, OUTRIDER_CORES; OUTRIDER_STORE_PID and OUTRIDER_STORE_FOLDER, of an object store on this machine;
OUTRIDER_CEILINGS, a folder that trials share; for S3 the usual AWS_*.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outrider_report import checkpoint_dir, phase, progress, report, step


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for; the knobs are those of `ingestion.knobs` and of `checkpointing.knobs`."""
    from checkpointing.knobs import add_checkpoint_knobs  # type: ignore[import-not-found]  # lies beside this script in jobs
    from checkpointing.training import add_model_options  # type: ignore[import-not-found]
    from ingestion import add_knobs  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_knobs(parser)
    add_checkpoint_knobs(parser)
    add_model_options(parser, "")
    parser.add_argument("--model", default="cnn", help="entitlement, sleep, cnn, resnet18, resnet50, vit, mlp (of rows), or module:Class")
    parser.add_argument("--model_without_gpu", default="", help="in place of `model` where there is no GPU, e.g. sleep")
    parser.add_argument("--accelerator", default="", help="e.g. h100_resnet50: waits as long as it computes, with its batch")
    parser.add_argument("--compute_s", type=float, default=0.0, help="seconds that the model `sleep` takes for a batch")
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--max_samples", type=int, default=0, help="samples per epoch; 0: all")
    parser.add_argument("--max_seconds", type=float, default=0.0, help="no further batch after this long; 0: no limit")
    parser.add_argument("--image_size", type=int, default=96, help="images of another size are scaled to it")
    parser.add_argument("--min_window_s", type=float, default=5.0, help="seconds of steady batches that a rate needs")
    parser.add_argument("--page_cache", default="as_found", help="before each epoch: as_found, warm (read all), cold (evict all)")
    parser.add_argument("--stall_s", type=float, default=300.0, help="seconds after which a loader that gives nothing is ended; 0: never")
    parser.add_argument("--batches", default="", help="folder for the times of each batch; empty for SM_OUTPUT_DATA_DIR/batches")
    parser.add_argument("--ceilings", default="measure", choices=("measure", "none"), help="whether it is said what bounds the trial")
    return emulating(parser.parse_args(arguments))


def emulating(asked: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments with what an emulated accelerator sets: the model `sleep`, its batch and the time of its step.

    Raises:
        SystemExit: there is no such accelerator.
    """
    from ingestion_models.accelerators import ACCELERATORS, SOURCE  # type: ignore[import-not-found]

    if not asked.accelerator:
        return asked
    if asked.accelerator not in ACCELERATORS:
        raise SystemExit(f"accelerator {asked.accelerator!r}: there is none of this name (known: {', '.join(ACCELERATORS)}; from {SOURCE})")
    chosen = ACCELERATORS[asked.accelerator]
    asked.model, asked.batch_size, asked.compute_s = "sleep", chosen.batch_size, chosen.compute_s
    return asked


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Train as asked; report once per epoch, and at the end what bounds the trial."""
    asked = parse_arguments(arguments)
    started_s = time.monotonic()
    with phase("startup"):
        import torch
        from ingestion import Channel, knobs_from, open_channel
        from ingestion_models import make_model  # type: ignore[import-not-found]
        from ingestion_models.base import ModelOptions  # type: ignore[import-not-found]

        channel, knobs = Channel.announced(environ), knobs_from(asked)
        torch.set_num_threads(knobs.threads_of_torch(environ))
        torch.manual_seed(asked.seed)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cpu" and asked.model_without_gpu:
            asked.model = asked.model_without_gpu
        options = ModelOptions(asked.image_size, asked.learning_rate, asked.compute_s, device, channel.content, channel.classes)
        model = make_model(asked.model, options)
    opened = open_channel(channel, environ, knobs, phase=phase)
    deadline_s = started_s + asked.max_seconds if asked.max_seconds else None
    with opened:
        pipeline = Pipeline(asked, environ, channel, opened, model, device)
        for epoch in range(asked.epochs):
            found = pipeline.run_epoch(epoch, deadline_s)
            is_last = epoch + 1 == asked.epochs or (deadline_s is not None and time.monotonic() >= deadline_s)
            report(epoch=epoch + 1, **pipeline.with_checkpoints(found, epoch, is_last=is_last))
            if is_last:
                break
        if asked.ceilings == "measure":
            with phase("ceilings"):
                report(**pipeline.bound())


class Pipeline:
    """A loader and its workers, which last for all epochs, and the model that they feed.

    Args:
        asked: the arguments.
        environ: of the job.
        channel: what is read; `opened`: the same, open.
        model: what is trained.
        device: where it is.
    """

    def __init__(self, asked: argparse.Namespace, environ: Mapping[str, str], channel: Any, opened: Any, model: Any, device: str) -> None:
        from checkpointing.knobs import checkpoint_knobs_from
        from checkpointing.training import training_checkpoints
        from ingestion import GuardedLoad, knobs_from
        from measuring.page_cache import files_below  # type: ignore[import-not-found]

        self._asked, self._environ, self._channel, self._opened = asked, environ, channel, opened
        self._model, self._device, self._knobs = model, device, knobs_from(asked)
        self._load = GuardedLoad(model.load_sample, opened.tolerance)
        self._loader = self._loader_of(self._load)
        self._server_pid = int(environ.get("OUTRIDER_STORE_PID") or 0)
        stores = [environ["OUTRIDER_STORE_FOLDER"]] if environ.get("OUTRIDER_STORE_FOLDER") else []
        self._files = files_below(stores if channel.location.startswith("s3://") else [channel.location])
        knobs = checkpoint_knobs_from(asked)
        self._checkpoints, self._label = training_checkpoints(asked, knobs, model, environ, checkpoint_dir(), phase, self._wait)
        self._start_s = self._whole_s = self._saving_s = 0.0
        self._samples, self._cpu_s, self._sample_bytes = 0, 0.0, 0.0
        from measuring.sample_progress import SampleProgress  # type: ignore[import-not-found]

        self._progress = SampleProgress(self._samples_of_epoch(), asked.epochs, progress, is_bounded=bool(asked.max_seconds))
        self._batch: Any = None
        self._waits: Any = None

    def run_epoch(self, epoch: int, deadline_s: float | None) -> dict[str, Any]:
        """Train on one pass of the data, and return its figures; see `measuring.batches.figures` and `measuring.resources.difference`.

        Args:
            epoch: from 0.
            deadline_s: monotonic seconds after which no further batch is asked for; None for none.

        Raises:
            SystemExit: the channel gave no samples.
        """
        from ingestion.served import served  # type: ignore[import-not-found]
        from measuring import batches as batch_figures  # type: ignore[import-not-found]
        from measuring import epoch as passes
        from measuring.page_cache import prepared
        from measuring.resources import difference, is_disturbed, snapshot  # type: ignore[import-not-found]
        from measuring.stall import StallWatch  # type: ignore[import-not-found]

        asked, losses = self._asked, list[tuple[float, int]]()
        self._opened.set_epoch(epoch)

        with phase("page_cache"):
            found: dict[str, Any] = prepared(asked.page_cache, self._files)
        before, served_before = snapshot(server_pid=self._server_pid), served(self._environ)
        watch = StallWatch(asked.stall_s, lambda: worker_pids(self._loader))
        events = passes.CudaEvents() if self._device == "cuda" else None
        after_step = self._checkpoints.after_step if self._checkpoints is not None else (lambda: None)
        instruments = passes.Instruments(time.monotonic, phase, self._stepped, watch, events, after_step)
        limits = passes.EpochLimits(deadline_s, asked.max_samples)
        self._progress.epoch = epoch
        times, began_s = passes.run_epoch(self._loader, lambda batch: self._train(batch, losses), limits, instruments)
        if not times:
            raise SystemExit("the channel gave no samples")
        after, served_after = snapshot(server_pid=self._server_pid), served(self._environ)
        shape = batch_figures.LoaderShape(self._knobs.loader_workers, self._knobs.prefetch, asked.min_window_s)
        list_s, download_s = (self._opened.list_s, self._opened.download_s) if epoch == 0 else (0.0, 0.0)
        found["knobs"] = self._knobs.text(self._environ)
        found |= {"list_s": list_s, "download_s": download_s} | ({"model_used": asked.model} if asked.model_without_gpu else {})
        found |= batch_figures.figures(times, shape, began_s=began_s, before_s=list_s + download_s)
        found |= difference(before, after, found["samples"], found["bytes"]) | self._opened.tolerance.counts()
        found |= {f"store_{name}": value - served_before.get(name, 0) for name, value in served_after.items() if name != "server_cpu_s"}
        found["disturbed"] = is_disturbed(found.get("foreign_cpu_cores"))
        self._waits = waits_of(found)
        if losses:
            found["loss"] = math.fsum(float(loss) * count for loss, count in losses) / sum(count for _, count in losses)
        self._start_s, self._whole_s = self._start_s + found["first_batch_s"], self._whole_s + found["epoch_s"]
        self._samples, self._cpu_s = (
            max(self._samples, found["samples"]),
            found["main_cpu_s_per_sample"] + found["workers_cpu_s_per_sample"],
        )
        self._sample_bytes = found["bytes"] / found["samples"]
        self._keep(times, began_s, epoch)
        with phase("validate"):
            found |= self._model.finish_epoch() if hasattr(self._model, "finish_epoch") else {}
        return {name: value for name, value in found.items() if not (isinstance(value, float) and math.isnan(value))}

    def _stepped(self, samples: int) -> None:
        step(samples=samples)
        self._progress.stepped(samples)

    def _samples_of_epoch(self) -> int:
        """Return how many samples this process will train on in an epoch; 0 where nobody knows before the first is over."""
        share = self._opened.share.count
        known = len(self._opened.sampler) if self._opened.is_map_style else self._channel.samples // share
        return min(known, self._asked.max_samples) if self._asked.max_samples else known

    def _train(self, batch: Any, losses: list[tuple[float, int]]) -> None:
        """Train on a batch, and note its loss and its number of samples; raises SystemExit where a model returns something else."""
        from ingestion_models import is_loss

        loss = self._model.train(batch)
        # The last batch may be a part of one, on which a step that waits takes as long as on a whole one.
        if self._batch is None or len(batch.keys) >= len(self._batch.keys):
            self._batch = batch
        if not is_loss(loss):
            raise SystemExit(
                f"model {self._asked.model!r}: train returned {loss!r:.100}, which is no loss; return a number, or None for none"
            )
        if loss is not None:
            losses.append((loss, len(batch.keys)))

    def with_checkpoints(self, found: dict[str, Any], epoch: int, *, is_last: bool) -> dict[str, Any]:
        """Save what is due after an epoch, and return its figures with those of its checkpoints; `epoch_s` then has these saves in it.

        Args:
            found: the epoch's figures.
            epoch: from 0.
            is_last: whether training is over, so that the last checkpoint is read back.

        Raises:
            SystemExit: what is read back is not what was saved.
        """
        checkpoints = self._checkpoints
        if checkpoints is None:
            return found
        began_s = time.monotonic()
        checkpoints.after_epoch(epoch + 1, is_last=is_last)
        saved_s = time.monotonic() - began_s
        found["epoch_s"] += saved_s
        self._whole_s += saved_s
        found |= self._label | checkpoints.figures(found["epoch_s"], is_last=is_last)
        self._saving_s += found.get("checkpoint_stall_s", 0.0)
        if is_last:
            found |= checkpoints.read_back()
            checkpoints.close(remove=bool(self._asked.checkpoint_model))
        return found

    def _keep(self, times: Any, began_s: float, epoch: int) -> None:
        from measuring.batch_file import write_batches  # type: ignore[import-not-found]

        output = self._environ.get("SM_OUTPUT_DATA_DIR")
        folder = self._asked.batches or (str(Path(output) / "batches") if output else "")
        if folder:
            write_batches(Path(folder) / f"epoch-{epoch + 1}.csv", times, began_s)

    def bound(self) -> dict[str, Any]:
        """Return what bounds the trial, by its ceilings; see `measuring.diagnosis`. Ends the loader's workers."""
        from measuring.ceiling_file import CeilingFiles  # type: ignore[import-not-found]
        from measuring.diagnosis import Trial, diagnosed  # type: ignore[import-not-found]
        from measuring.page_cache import prepared

        asked, knobs, channel = self._asked, self._knobs, self._channel
        self._loader = None  # whose workers would take time from what is measured now
        names = self._names() if channel.reader != "pipe" else []
        complete = not asked.max_samples and not asked.max_seconds
        facts = {
            "instance_type": self._environ.get("OUTRIDER_INSTANCE_TYPE", ""), "cores": len(os.sched_getaffinity(0)),
            "device": self._device, "dataset": self._environ.get("OUTRIDER_DATASET_TRAIN", ""),
            "location": channel.location, "reader": channel.reader, "layout": channel.layout,
            "store": "s3" if channel.location.startswith("s3://") else "files",
            **vars(asked), **knobs.recorded(self._environ),
        }  # fmt: skip
        folder = self._environ.get("OUTRIDER_CEILINGS")
        trial = Trial(
            facts,
            knobs.loader_workers,
            knobs.prefetch,
            knobs.threads_per_worker,
            self._cpu_s,
            self._samples / len(names) if names and complete else None,
            self._opened.dataset if names else None,
            self._load,
            self._model.train,
            self._batch,
            self._loader_from,
            self._loader_of if names else None,
            lambda: self._drained(names) if names else None,
            self._wait,
            lambda: prepared(asked.page_cache, self._files),
            self._waits,
        )
        found = dict(diagnosed(trial, CeilingFiles(Path(folder) if folder else None), self._start_s, self._whole_s, self._saving_s))
        if asked.accelerator and "loader_samples_per_s" in found:
            from ingestion_models.accelerators import ACCELERATORS

            emulated = ACCELERATORS[asked.accelerator]
            found["accelerators_fed"] = emulated.fed_by(found["loader_samples_per_s"])
            note = emulated.size_note(self._sample_bytes)
            found |= {"accelerator_note": note} if note else {}
        return found

    def _loader_of(self, load: Any) -> Any:
        """Return a loader of the channel's timed batches."""
        from ingestion import make_loader
        from measuring.stall import answer_with_stacks
        from measuring.timed import TimedMap, TimedStream, collate  # type: ignore[import-not-found]

        timed = (TimedMap if self._opened.is_map_style else TimedStream)(self._opened.dataset, load)
        return make_loader(self._opened, self._knobs, collate, timed, begin_worker=answer_with_stacks)

    def _loader_from(self, dataset: Any) -> Any:
        """Return a loader of the same knobs for a map-style data set without end."""
        from ingestion import make_loader
        from measuring.timed import collate

        return make_loader(self._opened, self._knobs, collate, dataset, in_order=True)

    def _names(self) -> list[str]:
        """Return the objects of the channel, as the store that is drained raw knows them."""
        if not self._channel.location.startswith("s3://"):
            return [str(path) for path in self._files]
        from ingestion.stores.boto3_store import Boto3  # type: ignore[import-not-found]

        try:
            return [one.name for one in Boto3(self._channel.location).entries()]
        except ImportError:  # without boto3 nobody signs requests
            return []

    def _drained(self, names: list[str]) -> Any:
        from measuring import draining

        if not self._channel.location.startswith("s3://"):
            return draining.drained(draining.of_files(names), len(names))
        from ingestion.stores.boto3_store import Boto3

        store = Boto3(self._channel.location)
        some = names[:_MOST_SIGNED]
        return draining.drained(draining.of_urls([store.address(name) for name in some]), len(some))

    def _wait(self) -> None:
        if self._device == "cuda":
            import torch

            torch.cuda.synchronize()


def waits_of(found: Mapping[str, Any]) -> Any:
    """Return how training waited in an epoch, by its figures; None without a steady window, or beside other load."""
    from measuring.advice import BatchWaits  # type: ignore[import-not-found]

    if found["disturbed"] or "window_s" not in found:
        return None
    return BatchWaits(found["samples_per_s"], found["window_s"] / found["window_batches"], found["wait_p50_s"], found["wait_p99_s"])


_MOST_SIGNED = 1000


def worker_pids(loader: Any) -> list[int]:
    """Return the process ids of a loader's workers; none where it has not begun, or loads itself."""
    workers = getattr(getattr(loader, "_iterator", None), "_workers", ())
    return [worker.pid for worker in workers if worker.pid]


if __name__ == "__main__":
    main()
