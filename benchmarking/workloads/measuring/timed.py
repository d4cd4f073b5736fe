"""Data sets that time themselves: what fetching, decoding and stacking a batch took travels with it from the worker that did it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from torch.utils.data import Dataset, IterableDataset, get_worker_info


class StoredSample(Protocol):
    """A sample as it is stored: key, content (bytes, or an array), label, and where it lies, for people."""

    key: str
    content: Any
    label: int
    place: str


Load: TypeAlias = Callable[[Any], Any]
"""From a raw sample to what a model trains on, None for one that is skipped. Called where samples are loaded, and sent there."""


class Cost(NamedTuple):
    """What a batch took where it was made.

    Args:
        fetch_s: seconds until the contents were there; `fetch_cpu_s`: processor seconds of that process in them.
        decode_s: seconds from contents to what a model trains on; `collate_s`: to stack them.
        made_s: monotonic time at which it was finished.
        bytes: of the contents.
        pid: of the process.
    """

    fetch_s: float
    fetch_cpu_s: float
    decode_s: float
    collate_s: float
    made_s: float
    bytes: int
    pid: int


class LoadedBatch(NamedTuple):
    """Samples as a model trains on them, and what they took: keys, values (stacked where they are tensors), labels (batch,).

    On the way from a worker the labels are an array; `arrived` makes the tensor of them.
    """

    keys: Sequence[str]
    values: Any
    labels: Any
    cost: Cost


def arrived(batch: LoadedBatch) -> LoadedBatch:
    """Return a batch as models take it, wherever it comes from."""
    import numpy as np
    import torch

    return batch._replace(labels=torch.from_numpy(batch.labels)) if isinstance(batch.labels, np.ndarray) else batch


class _Loaded(NamedTuple):
    key: str
    value: Any
    label: int
    bytes: int
    fetch_s: float
    fetch_cpu_s: float
    decode_s: float


class TimedMap(Dataset[Any]):
    """Map-style: fetches a batch's contents, then loads them.

    Args:
        raw: map-style, of `StoredSample`; where it has `__getitems__`, that is asked for a whole batch.
        load: see `Load`.
    """

    def __init__(self, raw: Any, load: Load) -> None:
        self._raw, self._load = raw, load

    def __len__(self) -> int:
        return len(self._raw)

    def __getitems__(self, indices: list[int]) -> list[_Loaded]:
        fetch_all = getattr(self._raw, "__getitems__", None)
        began_s, cpu_s = time.monotonic(), time.process_time()
        raw = fetch_all(indices) if fetch_all is not None else [self._raw[index] for index in indices]
        fetched_s, fetch_cpu_s = time.monotonic(), time.process_time() - cpu_s
        load = self._load
        values = [load(sample) for sample in raw]
        decode_s = time.monotonic() - fetched_s
        share = 1 / max(len(raw), 1)
        costs = ((fetched_s - began_s) * share, fetch_cpu_s * share, decode_s * share)
        return [
            _Loaded(sample.key, value, sample.label, size_of(sample.content), *costs)
            for sample, value in zip(raw, values, strict=True)
            if value is not None
        ]


class TimedStream(IterableDataset[Any]):
    """Iterable-style: fetches and loads sample by sample.

    Args:
        raw: iterable-style, of `StoredSample`.
        load: see `Load`.
    """

    def __init__(self, raw: Any, load: Load) -> None:
        self._raw, self._load = raw, load

    def __iter__(self) -> Iterator[_Loaded]:
        clock, cpu_clock, load = time.monotonic, time.process_time, self._load
        began_s, began_cpu_s = clock(), cpu_clock()
        for sample in self._raw:
            fetched_s, cpu_s = clock(), cpu_clock()
            value = load(sample)
            if value is not None:
                costs = (fetched_s - began_s, cpu_s - began_cpu_s, clock() - fetched_s)
                yield _Loaded(sample.key, value, sample.label, size_of(sample.content), *costs)
            began_s, began_cpu_s = clock(), cpu_clock()


def size_of(content: Any) -> int:
    """Return the bytes of a content: of an array those of its elements."""
    return int(content.nbytes) if hasattr(content, "nbytes") else len(content)


def collate(samples: Sequence[_Loaded]) -> LoadedBatch:
    """Return samples as one batch; tensors of one shape are stacked, all else stays a list. None are a batch without samples."""
    import torch

    began_s = time.monotonic()
    if not samples:
        return LoadedBatch((), [], torch.zeros(0, dtype=torch.int64), Cost(0.0, 0.0, 0.0, 0.0, began_s, 0, os.getpid()))
    keys, values, labels, sizes, fetch_s, fetch_cpu_s, decode_s = zip(*samples, strict=True)
    stacked = _stacked(values)
    together = _together(labels)
    made_s = time.monotonic()
    cost = Cost(sum(fetch_s), sum(fetch_cpu_s), sum(decode_s), made_s - began_s, made_s, sum(sizes), os.getpid())
    return LoadedBatch(keys, stacked, together, cost)


def _together(labels: Sequence[int]) -> Any:
    import numpy as np
    import torch

    if get_worker_info() is None:
        return torch.tensor(labels)
    # A tensor takes a file descriptor of its own to the training process: a connection, two handshakes and fourteen system calls there.
    return np.array(labels, np.int64)


def _stacked(values: Sequence[Any]) -> Any:
    import torch

    if not isinstance(values[0], torch.Tensor):
        return list(values)
    if get_worker_info() is None:
        return torch.stack(list(values))
    # As torch's own collate does: straight into shared memory, which saves a copy on the way to the training process.
    first = values[0]
    storage = first._typed_storage()._new_shared(first.numel() * len(values), device=first.device)  # type: ignore[no-untyped-call]
    return torch.stack(list(values), out=first.new(storage).resize_(len(values), *first.shape))
