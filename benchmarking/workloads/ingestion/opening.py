"""Opens a channel: which store and format its reader stands for, and what each loader worker reads of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from torch.utils.data import Dataset, get_worker_info

from .channel import Channel
from .datasets import Files, Stream
from .samples import Sample, class_of
from .stores.base import Store
from .stores.boto3_store import Boto3
from .stores.folder import Folder
from .stores.fsspec_store import Fsspec
from .stores.s3_connector import S3Connector

_SUFFIXES = {"files": ".jpg", "shards": ".tar"}


def open_channel(channel: Channel, environ: Mapping[str, str], *, seed: int, epoch: int) -> tuple[Dataset[Sample], bool]:
    """Return the data set of one epoch, and whether it is map-style (then the loader shuffles it; else it is in its order).

    Args:
        channel: what to read, and how.
        environ: endpoint and region for S3.
        seed: of the order of files or shards.
        epoch: from 0; each has an order of its own, and for `pipe` a FIFO of its own.

    Raises:
        SystemExit: the channel holds nothing of its layout, or the reader is unknown.
    """
    if channel.reader == "pipe":
        return Stream(lambda: _from_fifo(f"{channel.location}_{epoch}"), "shards", {}), False
    makers: dict[str, Callable[[], Store]] = {
        "files": lambda: Folder(channel.location),
        "tar": lambda: Folder(channel.location),
        "s3_map": lambda: S3Connector(channel.location, environ),
        "s3_iterable": lambda: S3Connector(channel.location, environ),
        "boto3": lambda: Boto3(channel.location),
        "fsspec": lambda: Fsspec(channel.location),
    }
    if channel.reader not in makers:
        raise SystemExit(f"there is no reader {channel.reader!r} (known: {', '.join([*makers, 'pipe'])})")
    store = makers[channel.reader]()
    names = sorted(name for name in store.names() if name.endswith(_SUFFIXES[channel.layout]))
    if not names:
        raise SystemExit(f"{channel.location} holds no {_SUFFIXES[channel.layout]} files")
    classes = {name: label for label, name in enumerate(sorted({class_of(name) for name in names}))}
    random.Random(f"{seed}/{epoch}").shuffle(names)
    if isinstance(store, S3Connector) and channel.reader == "s3_iterable":
        connector = store
        return Stream(lambda: _from_connector(connector, names), channel.layout, classes), False
    if isinstance(store, S3Connector):
        store.select(names)
    if channel.layout == "files":
        return Files(store, names, classes), True
    return Stream(lambda: _share_of_worker(store, names), "shards", classes), False


def _share_of_worker(store: Store, names: list[str]) -> Iterator[tuple[str, Any]]:
    worker = get_worker_info()
    for name in names[worker.id :: worker.num_workers] if worker else names:
        with store.open(name) as file:
            yield name, file


def _from_connector(store: S3Connector, names: list[str]) -> Iterator[tuple[str, Any]]:
    from s3torchconnector import S3IterableDataset

    # the connector itself divides the objects among workers
    for reader in S3IterableDataset.from_objects(names, enable_sharding=True, **store.options()):
        with reader:
            yield reader.key, reader


def _from_fifo(path: str) -> Iterator[tuple[str, Any]]:
    worker = get_worker_info()
    if worker is None or worker.id == 0:  # a FIFO has one reader
        with Path(path).open("rb") as file:
            yield path, file
