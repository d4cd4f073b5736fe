"""Opens a channel: lists it, fetches it beforehand where its mode does so, and makes the data set that a loader reads."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from torch.utils.data import Dataset

from .channel import USUAL_READERS, Channel
from .datasets import FifoStream, MapSamples, Objects, ObjectStream, OfMemory, OfObjects, ShardStream, Source, StreamSamples
from .formats import SampleFormat, format_of, unread_note
from .knobs import Knobs
from .libraries.litdata_chunks import ChunkStream, chunks_of
from .libraries.webdataset_shards import WebDatasetShards
from .memory import available_bytes, memory_problem
from .samples import RawSample, class_of
from .share import EpochSampler, ReaderShare, share_of_rank, sharing_note
from .stores.base import Store, StoredName
from .stores.boto3_store import Boto3
from .stores.downloaded import ScratchUse, below, download, scratch_folder
from .stores.feeder import Feeder
from .stores.fifo import Fifo
from .stores.folder import Folder
from .stores.fsspec_store import Fsspec
from .stores.memory import Memory
from .stores.mountpoint import Mountpoint
from .stores.s3_connector import S3Connector
from .tolerance import Tolerance


@dataclass
class Opened:
    """A channel that is open; a context manager, at whose end what it started is ended.

    Args:
        dataset: of `RawSample`, map-style or iterable-style.
        sampler: the order of a map-style one; None for the other.
        tolerance: counts what was bad, and failed reads.
        notes: what is to be said about it, a line each.
        objects, size_bytes: how many files are read, and their size where listing tells (else -1).
        list_s, download_s: seconds that listing took, and fetching everything beforehand.
        share: what this process reads of it.
    """

    dataset: Dataset[RawSample]
    sampler: EpochSampler | None
    tolerance: Tolerance
    notes: list[str] = field(default_factory=list)
    objects: int = 0
    size_bytes: int = -1
    list_s: float = 0.0
    download_s: float = 0.0
    share: ReaderShare = field(default_factory=ReaderShare)
    _closing: list[Callable[[], object]] = field(default_factory=list)

    @property
    def is_map_style(self) -> bool:
        """Whether samples are asked for by number."""
        return self.sampler is not None

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next, from 0; before the loader is asked for it."""
        if self.sampler is not None:
            self.sampler.set_epoch(epoch)
        elif isinstance(self.dataset, StreamSamples):
            self.dataset.set_epoch(epoch)

    def close(self) -> None:
        """End what was started for it."""
        while self._closing:
            self._closing.pop()()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


Timed: TypeAlias = Callable[[str], AbstractContextManager[Any]]
"""Counts what is done inside of it under a name."""


def open_channel(
    channel: Channel,
    environ: Mapping[str, str],
    knobs: Knobs | None = None,
    *,
    share: ReaderShare | None = None,
    clock: Callable[[], float] = time.monotonic,
    phase: Timed = contextlib.nullcontext,
) -> Opened:
    """Return a channel's data set, with what opening it took.

    Args:
        channel: what to read, and how.
        environ: endpoint and region for S3; which rank this is.
        knobs: of the loader.
        share: what this process reads; as the environment says where it is not given.
        clock: monotonic seconds.
        phase: context that listing (`list`) and fetching everything beforehand (`download`) are counted in.

    Raises:
        SystemExit: the channel holds nothing of its format, or the reader is unknown.
    """
    asked = knobs or Knobs()
    mine = share or share_of_rank(environ, channel.distribution)
    opening = _Opening(channel, environ, asked, mine, clock, phase)
    try:
        return opening.result()
    except BaseException:
        opening.close()
        raise


class _Opening:
    def __init__(
        self, channel: Channel, environ: Mapping[str, str], knobs: Knobs, share: ReaderShare, clock: Callable[[], float], phase: Timed
    ) -> None:
        self._channel, self._environ, self._knobs, self._share, self._clock, self._phase = channel, environ, knobs, share, clock, phase
        self._form = format_of(channel.format, channel.layout)
        self._tolerance = Tolerance(knobs.max_bad_samples)
        self._notes: list[str] = []
        self._closing: list[Callable[[], object]] = []
        self._list_s = self._download_s = 0.0
        self._entries: Sequence[StoredName] = ()
        self._index: StoredName | None = None

    def close(self) -> None:
        """End what was started before it turned out that the channel cannot be opened."""
        while self._closing:
            self._closing.pop()()

    def result(self) -> Opened:
        if self._channel.reader == "pipe" and not self._channel.is_remote:
            return self._fifo(self._channel.location)
        if self._channel.reader in _MOUNTS:
            self._mount(cached=self._channel.reader == "mountpoint_cache")
        store = self._store()
        began_s = self._clock()
        with self._phase("list"):
            self._entries = self._listed(store)
        self._list_s = self._clock() - began_s
        if self._channel.reader == "pipe":
            assert isinstance(store, S3Connector)
            feeder = Feeder([one.name for one in self._entries if one.size], store.client_arguments(), self._environ)
            self._closing.append(feeder.close)
            return self._fifo(feeder.location)
        if self._channel.is_remote and self._channel.input_mode == "file":
            store = self._downloaded(store)
        if self._form.layout == "chunks":
            return self._chunks()
        names = [one.name for one in self._entries]
        if isinstance(store, S3Connector):
            at_once = max(self._knobs.loader_workers, 1) * self._knobs.threads_per_worker
            problem = memory_problem(self._entries, at_once, available_bytes()) if store.keeps_whole else None
            if problem is not None:
                raise SystemExit(problem)
            # A mount knows how large files are. What the connector's own users read is left as the connector does it.
            mounted = self._channel.input_mode == "fastfile"
            store.select(names, max((one.size for one in self._entries), default=0) if mounted else 0)
        objects = self._objects(store, names)
        if self._channel.reader == "memory":
            return self._memory(_all_of(objects, self._form))
        if self._form.unpack is not None:
            self._note(sharing_note(len(names), self._share.count * max(self._knobs.loader_workers, 1)))
            return self._stream(ShardStream(objects, self._knobs.seed, self._knobs.shuffle, self._knobs.threads_per_worker))
        if self._channel.reader == "s3_iterable":
            return self._stream(ObjectStream(objects, self._knobs.seed, self._knobs.shuffle, self._knobs.threads_per_worker))
        return self._by_number(len(names), MapSamples(len(names), OfObjects(objects), self._knobs.threads_per_worker))

    def _mount(self, *, cached: bool) -> None:
        """Mount the channel's objects: from here on it is a folder."""
        began_s = self._clock()
        with self._phase("download"):
            mount = Mountpoint(self._channel.location, self._environ, cached=cached)
        self._closing.append(mount.close)
        self._download_s = self._clock() - began_s
        self._channel = replace(self._channel, location=mount.folder, reader=USUAL_READERS[self._channel.layout])

    def _store(self) -> Store:
        location, reader = self._channel.location, self._channel.reader
        if reader == "boto3" or (reader == "litdata" and self._channel.is_remote and self._channel.input_mode != "file"):
            return Boto3(location)
        if reader == "fsspec":
            return Fsspec(location)
        if self._channel.is_remote:
            lazily = self._channel.input_mode == "fastfile"
            return S3Connector(location, self._environ, "range_based" if lazily else self._knobs.s3_reader, self._knobs.s3_buffer)
        if reader not in READERS:
            raise SystemExit(f"there is no reader {reader!r} (known: {', '.join(READERS)})")
        return Folder(location)

    def _listed(self, store: Store) -> list[StoredName]:
        entries = [one for one in store.entries() if not one.name.endswith("/")]
        mine = sorted(one for one in entries if self._form.holds(one.name))
        if mine and self._form.layout == "chunks":
            if isinstance(store, S3Connector):
                store.select([one.name for one in entries])
            self._index, mine = chunks_of(store, entries, self._channel.location)
        note = unread_note((one.name for one in entries), self._form)
        if not mine:
            wanted = " or ".join(self._form.suffixes)
            there = f"; {note}" if note else ", it is empty" if not entries else ""
            raise SystemExit(f"{self._channel.location} holds no {wanted} files (in upper or lower case){there}")
        self._note(f"{self._channel.location}: {note}" if note else "")
        empty = [one.name for one in mine if one.size == 0]
        self._note(f"{self._channel.location}: {len(empty)} of {len(mine)} objects are empty, the first is {empty[0]}" if empty else "")
        return mine

    def _downloaded(self, store: Store) -> Store:
        """Fetch all objects to the disk: from here on the channel is a folder."""
        assert isinstance(store, S3Connector)
        uri = self._channel.location
        folder = scratch_folder(uri, self._environ)
        self._closing.append(ScratchUse(folder).close)
        began_s = self._clock()
        with self._phase("download"):
            download(uri, [*self._entries, *([self._index] if self._index else [])], store, folder)
        self._download_s = self._clock() - began_s
        self._entries = sorted(StoredName(str(folder / below(one.name, uri)), one.size) for one in self._entries)
        if self._index is not None:
            self._index = StoredName(str(folder / below(self._index.name, uri)))
        self._channel = replace(self._channel, location=str(folder))
        return Folder(str(folder))

    def _objects(self, store: Store, names: Sequence[str]) -> Objects:
        labels = self._channel.labels or _USUAL_LABELS.get(self._channel.layout, "none")
        classes = {name: label for label, name in enumerate(sorted({class_of(name) for name in names}))} if labels == "folder" else {}
        library = WebDatasetShards(store, labels, self._tolerance) if self._channel.reader == "webdataset" else None
        return Objects(store, names, self._form, labels, classes, self._tolerance, self._channel.reader == "s3_iterable", library)

    def _chunks(self) -> Opened:
        assert self._index is not None
        channel, knobs = self._channel, self._knobs
        location = self._index.name.rpartition("/")[0]
        cache = scratch_folder(channel.location, self._environ, "litdata")
        if channel.is_remote:
            self._closing.append(ScratchUse(cache).close)
            self._note("litdata keeps chunks on the disk as it reads them: later epochs read them there")
        labels = channel.labels or _USUAL_LABELS["chunks"]
        order = (knobs.seed, knobs.shuffle, knobs.batch_size, knobs.drop_last)
        source = ChunkStream(location, str(cache), self._environ, labels, self._tolerance, *order)
        if channel.reader == "memory":
            return self._memory(replace(source, shuffle=False)(0, (ReaderShare(),)))
        return self._stream(source)

    def _memory(self, samples: Iterable[RawSample]) -> Opened:
        began_s = self._clock()
        with self._phase("download"):
            memory = Memory(samples)
        self._download_s = self._clock() - began_s
        return self._by_number(len(memory), MapSamples(len(memory), OfMemory(memory)))

    def _fifo(self, location: str) -> Opened:
        if self._share.count > 1 and self._channel.distribution != "sharded":
            raise SystemExit(
                f"{location}: {self._share.count} ranks read one FIFO, which has one reader; give each host a shard of the data"
            )
        idle = range(1, self._knobs.loader_workers)
        if idle:
            which = f"worker {idle[0]} reads" if len(idle) == 1 else f"workers {idle[0]} to {idle[-1]} read"
            self._note(f"a FIFO has one reader: loader {which} nothing; use loader_workers 1")
        return self._stream(FifoStream(Fifo(location), self._objects(Folder(location), [])))

    def _stream(self, source: Source) -> Opened:
        return self._opened(StreamSamples(source, self._share), None)

    def _by_number(self, length: int, dataset: MapSamples) -> Opened:
        knobs = self._knobs
        return self._opened(dataset, EpochSampler(length, self._share, seed=knobs.seed, shuffle=knobs.shuffle, even=knobs.drop_last))

    def _opened(self, dataset: Dataset[RawSample], sampler: EpochSampler | None) -> Opened:
        sizes = [one.size for one in self._entries]
        total = sum(sizes) if sizes and min(sizes) >= 0 else -1
        found = (len(sizes), total, self._list_s, self._download_s, self._share, self._closing)
        for note in self._notes:
            print(f"input: {note}", file=sys.stderr, flush=True)
        return Opened(dataset, sampler, self._tolerance, self._notes, *found)

    def _note(self, line: str) -> None:
        if line:
            self._notes.append(line)


_MOUNTS = ("mountpoint", "mountpoint_cache")
READERS = (
    *("files", "tar", "records", "table", "memory", "pipe", "s3_map", "s3_iterable", "boto3", "fsspec"),
    *("webdataset", "litdata", *_MOUNTS, "uri"),
)
"""What a channel's reader can be."""

_USUAL_LABELS = {"files": "folder", "shards": "member", "records": "feature", "table": "feature", "chunks": "member"}


def _all_of(objects: Objects, form: SampleFormat) -> Iterator[RawSample]:
    found: Iterable[Any] = map(objects.sample, objects.names)
    if form.unpack is not None:
        from .share import Piece

        found = (sample for name in objects.names for sample in objects.of_shard(Piece(name)))
    return (sample for sample in found if sample is not None)
