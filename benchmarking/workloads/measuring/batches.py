"""From the times of an epoch's batches to its figures. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .window import MIN_ROUNDS, MIN_WINDOW_S, TooShort, Window, quantile, steady_window


@dataclass(frozen=True)
class BatchTimes:
    """One batch as the training process saw it; times are monotonic seconds.

    Args:
        asked_s: when it was asked for; `arrived_s`: when it was there; `done_s`: when training on it was over.
        made_s: when a worker had finished it.
        samples, bytes: how much it held.
        fetch_s, fetch_cpu_s, decode_s, collate_s: what it took where it was made, see `timed.Cost`.
        compute_s: seconds that the accelerator worked on it; on a processor `done_s - arrived_s`.
        busy_until_s: when an accelerator that works on its own was done with the batches before; long ago on a processor.
    """

    asked_s: float
    arrived_s: float
    done_s: float
    made_s: float
    samples: int
    bytes: int
    fetch_s: float
    fetch_cpu_s: float
    decode_s: float
    collate_s: float
    compute_s: float
    busy_until_s: float = -math.inf

    @property
    def wait_s(self) -> float:
        """How long training waited for it: not while an accelerator still worked on the batches before."""
        return max(self.arrived_s - max(self.asked_s, self.busy_until_s), 0.0)


@dataclass(frozen=True)
class LoaderShape:
    """What a steady window depends on: loader workers, batches that each makes ahead, and the least that counts as steady."""

    workers: int
    prefetch: int
    min_window_s: float = MIN_WINDOW_S
    min_rounds: int = MIN_ROUNDS


def window_of(batches: Sequence[BatchTimes], shape: LoaderShape) -> Window | TooShort:
    """Return the steady window of an epoch's batches, in their order."""
    return steady_window(
        [batch.arrived_s for batch in batches],
        [batch.samples for batch in batches],
        workers=shape.workers,
        prefetch=shape.prefetch,
        made_s=[batch.made_s for batch in batches],
        min_window_s=shape.min_window_s,
        min_rounds=shape.min_rounds,
    )


def figures(batches: Sequence[BatchTimes], shape: LoaderShape, *, began_s: float, before_s: float = 0.0) -> dict[str, float | str | int]:
    """Return an epoch's figures by name.

    `samples_per_s`, `bytes_per_s` and `accelerator_util` are those of the steady window; where there is none, the first says why and the
    others are absent. Waits (`wait_p50_s` ... `wait_max_s`) leave out the batches before the window, so that the start does not count as
    a tail. `fetch_s`, `decode_s` and `collate_s` are seconds per sample where samples are loaded, `compute_s` per sample where they are
    trained on, `handover_s` is the seconds per sample that the training process spends on getting a batch that lies ready.

    Args:
        batches: (n_batches,) at least one, in their order.
        shape: of the loader.
        began_s: when the epoch began, on the batches' clock.
        before_s: seconds spent on it before that: listing and download.
    """
    window = window_of(batches, shape)
    samples = sum(batch.samples for batch in batches)
    # Without a window all but the first batch stand for the steady state of waits and parts, which are no rates.
    steady = batches[window.first : window.last + 1] if isinstance(window, Window) else batches[1:] or batches
    waits = [batch.wait_s for batch in steady]
    counted = sum(batch.samples for batch in steady)
    found: dict[str, float | str | int] = {
        "samples": samples,
        "batches": len(batches),
        "bytes": sum(batch.bytes for batch in batches),
        "epoch_s": before_s + batches[-1].done_s - began_s,
        "first_batch_s": before_s + batches[0].arrived_s - began_s,
    }
    if isinstance(window, Window):
        found |= {
            "samples_per_s": window.samples_per_s,
            "bytes_per_s": sum(batch.bytes for batch in steady) / window.seconds,
            "window_s": window.seconds,
            "window_batches": window.batches,
            # Of the time between arrivals: what training did with the batch before each, and with the wait for it.
            "accelerator_util": min(sum(b.compute_s for b in batches[window.first - 1 : window.last]) / window.seconds, 1.0),
        }
    else:
        found["samples_per_s"] = window.reason
    found |= {f"wait_p{round(share * 100)}_s": quantile(waits, share) for share in (0.5, 0.95, 0.99)}
    found["wait_max_s"] = max(waits)
    for name in ("fetch_s", "fetch_cpu_s", "decode_s", "collate_s", "compute_s"):
        found[name] = math.fsum(getattr(batch, name) for batch in steady) / max(counted, 1)
    found["handover_s"] = handover_s(steady)
    return found


def handover_s(batches: Sequence[BatchTimes]) -> float:
    """Return the seconds per sample that it takes to get a batch which was ready before it was asked for; nan where none was.

    A wait for one that was still being made is mostly that, so that it says nothing about the handing over. Nor does one from a worker
    that had finished it only just now.
    """
    ready = [batch for batch in batches if batch.made_s < batch.asked_s]
    counted = sum(batch.samples for batch in ready)
    return math.fsum(batch.arrived_s - batch.asked_s for batch in ready) / counted if counted else math.nan
