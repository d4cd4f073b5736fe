"""The knobs of a loader: what can be set, what is taken where nothing is, and what cannot go together."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

START_METHODS = ("fork", "spawn", "forkserver")
LOADERS = ("torch", "stateful")
LISTED: Mapping[str, tuple[str, ...]] = {"start_method": START_METHODS, "loader": LOADERS, "s3_reader": ("sequential", "range_based")}
"""Knobs that are one of a few words."""


@dataclass(frozen=True)
class Knobs:
    """How samples are loaded.

    Args:
        batch_size: samples of a batch.
        loader_workers: processes that load beside the training one; 0: it loads itself.
        threads_per_worker: reads of a batch that each of them has in flight at once.
        prefetch_factor: batches that each worker makes ahead; 0 for 2.
        persistent_workers: whether workers live on from epoch to epoch.
        pin_memory: whether batches are copied to page-locked memory, for a GPU.
        shuffle: whether the order is drawn anew for each epoch, by `seed`; else it is that of the names.
        drop_last: whether a last batch that is not full is left out, and each rank gets the same number of samples.
        start_method: of the workers: `fork`, `spawn` or `forkserver`.
        torch_threads: of the training process; 0 for the cores that workers leave.
        loader: `torch`, or `stateful` for that of torchdata.
        max_bad_samples: how many may be skipped.
        s3_reader: `sequential` or `range_based`; `s3_buffer`: bytes that the latter reads ahead, 0 for the connector's own.
        seed: of the order.
    """

    batch_size: int = 64
    loader_workers: int = 0
    threads_per_worker: int = 1
    prefetch_factor: int = 0
    persistent_workers: bool = True
    pin_memory: bool = False
    shuffle: bool = True
    drop_last: bool = False
    start_method: str = "fork"
    torch_threads: int = 0
    loader: str = "torch"
    max_bad_samples: int = 0
    s3_reader: str = "sequential"
    s3_buffer: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("batch_size", "threads_per_worker"):
            if getattr(self, name) < 1:
                raise SystemExit(f"{name} is {getattr(self, name)}: it is at least 1")
        for name in ("loader_workers", "prefetch_factor", "torch_threads", "max_bad_samples", "s3_buffer"):
            if getattr(self, name) < 0:
                raise SystemExit(f"{name} is {getattr(self, name)}: it is at least 0")
        for name, known in LISTED.items():
            if getattr(self, name) not in known:
                raise SystemExit(f"{name} is {getattr(self, name)!r}: it is one of {', '.join(known)}")

        if self.prefetch_factor and not self.loader_workers:
            raise SystemExit(
                f"prefetch_factor is {self.prefetch_factor}, and loader_workers 0: nobody loads ahead; use workers, or leave it out"
            )

    @property
    def prefetch(self) -> int:
        """Batches that each worker makes ahead; 0 where there are no workers."""
        return (self.prefetch_factor or 2) if self.loader_workers else 0

    def recorded(self, environ: Mapping[str, str]) -> dict[str, Any]:
        """Return all of them by name, also those that were not given, with what was taken for them in this job."""
        return {
            **asdict(self),
            "prefetch_factor": self.prefetch,
            "persistent_workers": self.persistent_workers and self.loader_workers > 0,
            "torch_threads": self.threads_of_torch(environ),
        }

    def text(self, environ: Mapping[str, str]) -> str:
        """Return all of them in one line, as a table has them: `batch_size=64 loader_workers=0 ...`."""
        return " ".join(f"{name}={str(value).lower()}" for name, value in self.recorded(environ).items())

    def threads_of_torch(self, environ: Mapping[str, str]) -> int:
        """Return the threads that training computes with: as asked for, else the job's cores that workers leave, at least one."""
        cores = int(environ.get("OUTRIDER_CORES") or len(os.sched_getaffinity(0)))
        return self.torch_threads or max(1, cores - self.loader_workers)


def add_knobs(parser: argparse.ArgumentParser) -> None:
    """Add an option for each knob to a script's parser."""
    for field in fields(Knobs):
        kind = _flag if isinstance(field.default, bool) else type(field.default)
        parser.add_argument(f"--{field.name}", type=kind, default=field.default, choices=LISTED.get(field.name))


def knobs_from(asked: argparse.Namespace) -> Knobs:
    """Return the knobs that a command line asks for; raises `SystemExit` where one cannot be."""
    return Knobs(**{field.name: getattr(asked, field.name) for field in fields(Knobs)})


def _flag(text: str) -> bool:
    if text.lower() in ("true", "yes", "on", "1"):
        return True
    if text.lower() in ("false", "no", "off", "0"):
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
