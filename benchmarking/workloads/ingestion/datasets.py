"""Data sets for PyTorch's loader: map-style over objects or memory, iterable-style over objects one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from .formats import SampleFormat
from .in_flight import in_flight, streams_in_flight
from .samples import UNLABELLED, BadSampleError, RawSample, class_of, key_of
from .share import Piece, ReaderShare, order_of, pieces, share_of_worker
from .stores.base import Store, content_of
from .stores.fifo import Fifo
from .stores.folder import Folder
from .stores.memory import Memory
from .stores.resumed import Resumed
from .stores.s3_connector import S3Connector
from .tolerance import Tolerance

Source: TypeAlias = Callable[[int, Sequence[ReaderShare]], Iterator[RawSample]]


@dataclass(frozen=True)
class Objects:
    """The objects of a channel.

    Args:
        store: where they lie; `names`: of all, sorted.
        form: what they are; `labels`: `folder`, `member`, `feature` or `none`; `classes`: the number of each folder.
        tolerance: what may be skipped.
        one_after_another: whether streams go through the S3 connector's own iterable data set.
        unpacked_by: a library that opens and unpacks shards by itself, from a shard's name; None for ours.
    """

    store: Store
    names: Sequence[str]
    form: SampleFormat
    labels: str
    classes: Mapping[str, int]
    tolerance: Tolerance
    one_after_another: bool = False
    unpacked_by: Callable[[str], Iterator[RawSample]] | None = None

    def opened(self, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Yield the name of each object, with a file where the store opens them one after another by itself, else None."""
        if self.one_after_another:
            assert isinstance(self.store, S3Connector)
            return self.store.one_after_another(names)
        return ((name, None) for name in names)

    def sample(self, name: str, file: Any = None) -> RawSample | None:
        """Return the sample that an object is; None where it is bad and may be skipped.

        Args:
            name: of the object.
            file: where it is open already.
        """
        try:
            content = content_of(self.store, name, self.tolerance, file)
            if not content:
                raise BadSampleError(f"{name}: it is empty")
        except BadSampleError as error:
            self.tolerance.skip(error)
            return None
        label = self.classes[class_of(name)] if self.labels == "folder" else UNLABELLED
        return RawSample(key_of(name), content, label, name)

    def unpacked(self, piece: Piece, file: Any) -> Iterator[RawSample]:
        """Yield the samples of an open shard."""
        assert self.form.unpack is not None
        found = self.form.unpack(file, piece.name, self.labels, self.tolerance)
        return islice(found, piece.first, None, piece.step) if piece.step > 1 else found

    def of_shard(self, piece: Piece, opened: Any = None) -> Iterator[RawSample]:
        """Yield the samples of a shard; where it cannot be read, and that may be skipped, those before."""
        if self.unpacked_by is not None:
            yield from islice(self.unpacked_by(piece.name), piece.first, None, piece.step)
            return
        try:
            with self._opened_shard(piece.name, opened) as file:
                yield from self.unpacked(piece, file)
        except (BadSampleError, GeneratorExit):
            raise
        except Exception as error:  # noqa: BLE001  (each client has classes of its own)
            self.tolerance.count("read_errors")
            self.tolerance.skip(BadSampleError(f"{piece.name}: it cannot be read: {type(error).__name__}: {error}"))

    def _opened_shard(self, name: str, opened: Any) -> Any:
        # A disk does not break off.
        return self.store.open(name) if isinstance(self.store, Folder) else Resumed(self.store, name, self.tolerance, opened)


class MapSamples(Dataset[RawSample]):
    """Map-style: asked for by number. A bad sample that may be skipped is missing in what a batch gets.

    Args:
        length: how many there are.
        sample: from a number to the sample, or None.
        threads: reads of a batch at once.
    """

    def __init__(self, length: int, sample: Callable[[int], RawSample | None], threads: int = 1) -> None:
        self._length, self._sample, self._threads = length, sample, threads

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> RawSample:
        """Return one sample; raises `BadSampleError` where it is bad, as there is none to take its place."""
        found = self._sample(index)
        if found is None:
            raise BadSampleError(f"sample {index} is bad")
        return found

    def __getitems__(self, indices: Sequence[int]) -> list[RawSample]:
        return [found for found in in_flight(self._sample, indices, self._threads) if found is not None]


@dataclass(frozen=True)
class OfObjects:
    """From a number to the sample that the object of this number is."""

    objects: Objects

    def __call__(self, index: int) -> RawSample | None:
        """Return it; None where it is bad and may be skipped."""
        return self.objects.sample(self.objects.names[index])


@dataclass(frozen=True)
class OfMemory:
    """From a number to a sample in memory."""

    memory: Memory

    def __call__(self, index: int) -> RawSample | None:
        """Return it; None where it is bad and may be skipped."""
        return self.memory.sample(index)


class StreamSamples(IterableDataset[RawSample]):
    """Iterable-style: passes through what one reader has to read, in the order of the epoch.

    Args:
        source: from the epoch, and the shares of the process and of the worker within it, to the reader's samples.
        share: of this process; its loader workers divide it.
    """

    def __init__(self, source: Source, share: ReaderShare) -> None:
        self._source, self._share = source, share
        # Workers that live on are told of the next epoch by memory that they share.
        self._epoch = torch.zeros(1, dtype=torch.int64).share_memory_()  # type: ignore[no-untyped-call]

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next, from 0; before the loader is asked for it."""
        self._epoch[0] = epoch

    def __iter__(self) -> Iterator[RawSample]:
        return self._source(int(self._epoch[0]), (self._share, share_of_worker()))


@dataclass(frozen=True)
class ShardStream:
    """The samples of shards, one shard after another.

    Args:
        objects: the shards.
        seed, shuffle: of their order.
        threads: shards that are read at once.
    """

    objects: Objects
    seed: int
    shuffle: bool
    threads: int = 1

    def __call__(self, epoch: int, shares: Sequence[ReaderShare]) -> Iterator[RawSample]:
        """Yield what one reader reads in an epoch."""
        names = self.objects.names
        ordered = [names[number] for number in order_of(len(names), self.seed, epoch, self.shuffle)]
        whole = [Piece(name) for name in ordered]
        for share in shares:
            whole = pieces(whole, share)
        mine = {piece.name: piece for piece in whole}
        opened = self.objects.opened(mine)
        return streams_in_flight((self.objects.of_shard(mine[name], file) for name, file in opened), self.threads)


@dataclass(frozen=True)
class ObjectStream:
    """Objects that are one sample each, so many of them being read at once."""

    objects: Objects
    seed: int
    shuffle: bool
    threads: int = 1

    def __call__(self, epoch: int, shares: Sequence[ReaderShare]) -> Iterator[RawSample]:
        """Yield what one reader reads in an epoch."""
        names = self.objects.names
        mine = order_of(len(names), self.seed, epoch, self.shuffle)
        for share in shares:
            mine = share.of(mine)
        found = in_flight(self._sample, self.objects.opened([names[number] for number in mine]), self.threads)
        return (sample for sample in found if sample is not None)

    def _sample(self, opened: tuple[str, Any]) -> RawSample | None:
        return self.objects.sample(*opened)


@dataclass(frozen=True)
class FifoStream:
    """The samples that flow through the FIFO of an epoch. It has one reader: other loader workers get nothing, and say so."""

    fifo: Fifo
    objects: Objects

    def __call__(self, epoch: int, shares: Sequence[ReaderShare]) -> Iterator[RawSample]:
        """Yield what one reader reads in an epoch."""
        worker = get_worker_info()
        if worker is not None and worker.id:
            return
        place = f"{self.fifo.location}_{epoch}"
        with self.fifo.open(epoch) as file:
            try:
                yield from self.objects.unpacked(Piece(place), file)
            except BadSampleError as error:  # of what was cut: why is better than where
                raise BadSampleError(self.fifo.failure(epoch) or str(error)) from error
        failure = self.fifo.failure(epoch)
        if failure:  # not one sample, but all that would have followed: none that may be skipped
            self.objects.tolerance.count("read_errors")
            raise BadSampleError(f"{place}: {failure}")
