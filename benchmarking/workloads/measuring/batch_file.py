"""Keeps what each batch of an epoch took, in a file of bounded length. Standard library only."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from .batches import BatchTimes

MOST_ROWS = 10_000
COLUMNS = ("batch", "at_s", "wait_s", "compute_s", "samples", "bytes")


def write_batches(path: Path, batches: Sequence[BatchTimes], began_s: float, most: int = MOST_ROWS) -> None:
    """Write a row for each batch; of more than fit, for every second, third, ... of them. A disk that is full costs the file alone.

    Args:
        path: of the file, whose folder is made.
        batches: of an epoch, in their order.
        began_s: when it began, on the batches' clock.
        most: rows at most.
    """
    stride = -(-len(batches) // most)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for number in range(0, len(batches), max(stride, 1)):
                one = batches[number]
                at_s, wait_s, compute_s = (f"{value:.6f}" for value in (one.arrived_s - began_s, one.wait_s, one.compute_s))
                writer.writerow([number, at_s, wait_s, compute_s, one.samples, one.bytes])
    except OSError:
        return
