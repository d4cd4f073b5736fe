"""Whether batches fit into the memory that a loader's workers share with the training process: containers often have 64 MB of it.

Tensors travel through files in /dev/shm. Where these do not fit, PyTorch's worker is killed by a bus error, or a batch is lost in the
thread that sends it and nobody comes to know.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SHARED = "/dev/shm"


class SharedMemoryError(RuntimeError):
    """Batches do not fit into the memory that processes share: says what they need, what there is, what to do."""


def free_bytes(folder: str = SHARED) -> int | None:
    """Return how much room there is for batches; None where nobody knows."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def shared_memory_problem(batch_bytes: int, workers: int, prefetch: int, free: int | None) -> str | None:
    """Return why a loader's batches do not fit, or None where they do or nobody knows.

    Each worker has made `prefetch` batches ahead whenever training takes longer than loading, and one is trained on.

    Args:
        batch_bytes: of the tensors of a batch.
        workers: of the loader; 0 shares nothing.
        prefetch: batches that each makes ahead.
        free: bytes of shared memory that are free before the first batch; None where not known.
    """
    batches = workers * prefetch + 1
    if not workers or free is None or batches * batch_bytes <= free:
        return None
    return (
        f"batches of {_text(batch_bytes)} need up to {_text(batches * batch_bytes)} of shared memory "
        f"({workers} workers with {prefetch} each, and the one in training), and {SHARED} has {_text(free)} free; "
        f"use fewer loader_workers, a smaller prefetch_factor or batch_size, or make it larger: "
        f"mount -o remount,size=SIZE {SHARED}, or docker run --shm-size=SIZE"
    )


def tensor_bytes(values: Any) -> int:
    """Return the bytes of all tensors in a batch, which may be nested in lists, tuples and dictionaries."""
    if hasattr(values, "element_size"):
        return int(values.numel() * values.element_size())
    if isinstance(values, dict):
        return sum(map(tensor_bytes, values.values()))
    return sum(map(tensor_bytes, values)) if isinstance(values, (list, tuple)) else 0


@dataclass
class FittingBatches:
    """Puts samples together in a worker, and looks at its first batch before the training process waits for it.

    Args:
        collate: from a list of samples to a batch.
        workers, prefetch: of the loader.
        free: see `shared_memory_problem`.
    """

    collate: Callable[[list[Any]], Any]
    workers: int
    prefetch: int
    free: int | None
    _looked: bool = field(default=False, init=False)

    def __call__(self, samples: list[Any]) -> Any:
        """Return a batch; raises `SharedMemoryError` where it, or as many as there will be, do not fit."""
        try:
            batch = self.collate(samples)
        except RuntimeError as error:
            if "shared memory" not in str(error):
                raise
            room = "" if self.free is None else f", which had {_text(self.free)} free before the first batch"
            raise SharedMemoryError(
                f"a batch does not fit into {SHARED}{room} ({error}); use fewer loader_workers or smaller batches, or make it larger"
            ) from error
        if not self._looked:
            self._looked = True
            problem = shared_memory_problem(tensor_bytes(batch), self.workers, self.prefetch, self.free)
            if problem is not None:
                raise SharedMemoryError(problem)
        return batch


def _text(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
