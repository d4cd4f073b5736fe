"""Loaders of known rate: what is reported of them, against the same sleeps without a loader.

python tests/performance/loader_rates.py [--rounds N] [--workers 0 1 2 4 8] [--batch_sizes 32 128 512]

A sample takes 5 ms of sleep. The peer is as many processes as there are workers, which sleep as often and do nothing else: what the machine
makes of the same sleeps. Ours is the steady window of an epoch through torch's loader, or "too short". Printed is ours over the peer's
rate, the worst and the median of the rounds, and what counting all but the first batch would have said.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

SLEEP_S = 0.005
PREFETCH = 2


class Stored(NamedTuple):
    key: str
    content: bytes
    label: int
    place: str


class Slow:
    """A data set whose samples take a known time."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> Stored:
        time.sleep(SLEEP_S)
        return Stored(str(index), b"x", 0, "")


def sleeps(count: int, ready, go, done) -> None:
    ready.release()
    go.wait()
    began_s = time.monotonic()
    for _ in range(count):
        time.sleep(SLEEP_S)
    done.put(time.monotonic() - began_s)


def peer(workers: int, count: int) -> float:
    """Samples a second that so many processes sleep."""
    context = multiprocessing.get_context("fork")
    ready, go, done = context.Semaphore(0), context.Event(), context.Queue()
    processes = [context.Process(target=sleeps, args=(count, ready, go, done)) for _ in range(max(workers, 1))]
    for process in processes:
        process.start()
        ready.acquire()
    go.set()
    seconds = [done.get() for _ in processes]
    for process in processes:
        process.join()
    return sum(count / one for one in seconds)


def ours(workers: int, size: int, batches: int, min_window_s: float):
    """The steady window of an epoch, and the rate without the first batch alone."""
    from torch.utils.data import DataLoader

    from benchmarking.workloads.measuring.batches import LoaderShape, window_of
    from benchmarking.workloads.measuring.epoch import EpochLimits, Instruments, run_epoch
    from benchmarking.workloads.measuring.stall import StallWatch
    from benchmarking.workloads.measuring.timed import TimedMap, collate

    more = {"prefetch_factor": PREFETCH, "persistent_workers": True} if workers else {}
    loader = DataLoader(
        TimedMap(Slow(size * batches), lambda sample: sample.label), batch_size=size, num_workers=workers, collate_fn=collate, **more
    )
    quiet = Instruments(time.monotonic, lambda name: contextlib.nullcontext(), lambda samples: None, StallWatch(0, list))
    found, _ = run_epoch(loader, lambda batch: None, EpochLimits(), quiet)
    naive = sum(one.samples for one in found[1:]) / max(found[-1].done_s - found[0].done_s, 1e-9)
    return window_of(found, LoaderShape(workers, PREFETCH if workers else 0, min_window_s)), naive


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2, 4, 8])
    parser.add_argument("--batch_sizes", type=int, nargs="*", default=[32, 128, 512])
    parser.add_argument("--seconds", type=float, default=5.0, help="of the steady window, at least")
    given = parser.parse_args()
    import torch

    from benchmarking.workloads.measuring.window import TooShort

    torch.set_num_threads(1)
    worst = 0.0
    for workers in given.workers:
        for size in given.batch_sizes:
            width = max(workers, 1)
            # So many batches that the window is long enough, and one epoch that is too short for it.
            steady = max(int(1.15 * given.seconds / (size * SLEEP_S)) * width, 8 * width)
            batches = steady + width * (PREFETCH + 3)
            ratios, naives, said = [], [], ""
            for _ in range(given.rounds):
                rate = peer(workers, max(int(given.seconds / SLEEP_S), 100))
                window, naive = ours(workers, size, batches, given.seconds * 0.9)
                naives.append(naive / rate)
                if isinstance(window, TooShort):
                    said = window.reason
                else:
                    ratios.append(window.samples_per_s / rate)
            short, _ = ours(workers, size, width * (PREFETCH + 4), given.seconds * 0.9)
            text = said
            if ratios:
                off = max(abs(ratio - 1) for ratio in ratios)
                worst = max(worst, off)
                text = (
                    f"{statistics.median(ratios):.3f} of the peer (worst off by {off:.1%}, n = {len(ratios)}{'; ' + said if said else ''})"
                )
            kept = "too short" if isinstance(short, TooShort) else f"{short.samples_per_s:.0f}/s"
            print(
                f"workers {workers} batch {size}: {text}; without the first batch {statistics.median(naives):.2f}; few batches: {kept}",
                flush=True,
            )
    print(f"worst of all: off by {worst:.1%} (target 3 %)")


if __name__ == "__main__":
    main()
