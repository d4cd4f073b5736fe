"""Runs one pass over the data and notes when each batch was asked for, was there and was done with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from .batches import BatchTimes
from .stall import StallWatch
from .timed import LoadedBatch, arrived


@dataclass(frozen=True)
class EpochLimits:
    """Where a pass ends before the data does: at a time of the clock, or after so many samples; None and 0 for no limit."""

    deadline_s: float | None = None
    max_samples: int = 0


@dataclass(frozen=True)
class Instruments:
    """What a pass is watched with.

    Args:
        clock: monotonic seconds, the clock of the workers.
        phase: context that a wait (`load`) and a step (`train`) is counted in.
        step: told the samples of each batch.
        watch: guards waits.
        device: times steps on an accelerator that works on its own; None where `train` returns when the work is done.
        after: called after each batch, for what is neither waiting for data nor training, as checkpoints are.
    """

    clock: Callable[[], float]
    phase: Callable[[str], AbstractContextManager[Any]]
    step: Callable[[int], Any]
    watch: StallWatch
    device: Any = None
    after: Callable[[], Any] = lambda: None


def run_epoch(
    loader: Iterable[LoadedBatch], train: Callable[[LoadedBatch], Any], limits: EpochLimits, instruments: Instruments
) -> tuple[list[BatchTimes], float]:
    """Train on one pass, and return its batches with the clock's seconds at which it began.

    Args:
        loader: gives the batches.
        train: called with each.
        limits: where it ends.
        instruments: what it is watched with.
    """
    clock, device = instruments.clock, instruments.device
    found: list[tuple[Any, ...]] = []
    seen = 0
    with instruments.watch.watching():
        began_s = clock()
        batches: Iterator[LoadedBatch] | None = None
        while not (limits.max_samples and seen >= limits.max_samples):
            asked_s = clock()
            if limits.deadline_s is not None and found and asked_s >= limits.deadline_s:
                break
            instruments.watch.asked()
            with instruments.phase("load"):
                if batches is None:
                    batches = iter(loader)  # which starts workers, or wakes them
                batch = next(batches, None)
            instruments.watch.arrived()
            if batch is None:
                break
            batch = arrived(batch)
            arrived_s = clock()
            with instruments.phase("train"):
                begun = device.mark() if device is not None else None
                if len(batch.keys):
                    train(batch)
                ended = device.mark() if device is not None else None
            done_s = clock()
            instruments.step(len(batch.keys))
            found.append((asked_s, arrived_s, done_s, batch.cost, len(batch.keys), begun, ended))
            seen += len(batch.keys)
            instruments.after()
    return _times(found, device), began_s


def _times(found: Sequence[tuple[Any, ...]], device: Any) -> list[BatchTimes]:
    """Return the times of all batches; a device takes up each when it is there and the one before is done."""
    times: list[BatchTimes] = []
    busy_until_s = -math.inf
    for asked_s, arrived_s, done_s, cost, samples, begun, ended in found:
        compute_s = done_s - arrived_s if device is None else device.between_s(begun, ended)
        parts = (cost.fetch_s, cost.fetch_cpu_s, cost.decode_s, cost.collate_s)
        times.append(BatchTimes(asked_s, arrived_s, done_s, cost.made_s, samples, cost.bytes, *parts, compute_s, busy_until_s))
        if device is not None:
            busy_until_s = max(busy_until_s, arrived_s) + compute_s
    return times


class CudaEvents:
    """Times what a CUDA device does by events in its stream, so that work under way is not taken for waiting."""

    def mark(self) -> Any:
        """Record an event in the current stream."""
        import torch

        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def between_s(self, begun: Any, ended: Any) -> float:
        """Return the device's seconds between two events; waits until the second has happened."""
        ended.synchronize()
        return float(begun.elapsed_time(ended)) / 1e3
