"""The loader of a channel that is open, with all knobs set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from .forking import end_client_threads
from .knobs import Knobs
from .opening import Opened
from .shared_memory import FittingBatches, free_bytes


def make_loader(
    opened: Opened,
    knobs: Knobs,
    collate: Callable[[list[Any]], Any],
    dataset: Dataset[Any] | None = None,
    *,
    in_order: bool = False,
    begin_worker: Callable[[int], object] | None = None,
) -> Any:
    """Return a loader; each pass over it is an epoch, which `opened.set_epoch` names before.

    Args:
        opened: the channel.
        knobs: how to load.
        collate: from a list of samples to a batch.
        dataset: what wraps the channel's own data set, or stands for it; None for that itself.
        in_order: whether samples come by their numbers, as of a data set that is not the channel's.
        begin_worker: called in each worker with its number.

    Raises:
        SystemExit: the loader asked for is not installed, or no batch would be full. When it begins: workers cannot be forked.
    """
    if opened.sampler is not None and knobs.drop_last and len(opened.sampler) < knobs.batch_size:
        raise SystemExit(
            f"batch_size is {knobs.batch_size}, there are {len(opened.sampler)} samples, and drop_last leaves out what is not full"
        )
    workers: dict[str, Any] = {}
    if knobs.loader_workers:
        workers = {
            "prefetch_factor": knobs.prefetch,
            "persistent_workers": knobs.persistent_workers,
            "multiprocessing_context": knobs.start_method,
        }
        collate = FittingBatches(collate, knobs.loader_workers, knobs.prefetch, free_bytes())
    forks = bool(knobs.loader_workers) and knobs.start_method == "fork"
    return _loader_class(knobs.loader, forks=forks)(
        opened.dataset if dataset is None else dataset,
        batch_size=knobs.batch_size,
        sampler=None if in_order else opened.sampler,
        num_workers=knobs.loader_workers,
        collate_fn=collate,
        worker_init_fn=begin_worker,
        pin_memory=knobs.pin_memory,
        drop_last=knobs.drop_last,
        generator=torch.Generator().manual_seed(knobs.seed),
        **workers,
    )


def _loader_class(name: str, *, forks: bool) -> Any:
    base: Any = DataLoader
    if name != "torch":
        try:
            from torchdata.stateful_dataloader import StatefulDataLoader
        except ImportError:
            raise SystemExit("loader 'stateful' needs the package torchdata: pip install torchdata") from None
        base = StatefulDataLoader
    if not forks:
        return base

    class Forking(base):  # type: ignore[misc]  # either of the two
        def __iter__(self) -> Any:
            if not (self.persistent_workers and self._iterator is not None):  # whose workers are there already
                end_client_threads()
            return super().__iter__()

    return Forking
