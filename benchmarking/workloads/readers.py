"""Data sets of images for PyTorch: one place that knows how to read a channel, whatever it lies on and however it is laid out.

Needs nothing of Outrider but this folder.
"""

from __future__ import annotations

import io
import os
import random
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

Sample: TypeAlias = tuple[str, torch.Tensor, int]
"""Key, image as uint8 (height, width, 3), label."""

_SUFFIXES = {"files": ".jpg", "shards": ".tar"}


@dataclass(frozen=True)
class Channel:
    """One input channel as a back-end announces it.

    Args:
        location: a folder, a FIFO's path without its epoch, or an `s3://` URI.
        reader: `files`, `webdataset`, `pipe`, `s3_map`, `s3_iterable`, `boto3` or `fsspec`; see `open_channel`.
        layout: `files` (`<class>/<key>.jpg`) or `shards` (TAR files of `<key>.jpg` and `<key>.cls`).
    """

    location: str
    reader: str
    layout: str

    @classmethod
    def announced(cls, environ: Mapping[str, str], name: str = "train") -> Channel:
        """Return the channel that the environment announces; SageMaker's variables do where ours are missing.

        Raises:
            SystemExit: there is no such channel.
        """
        upper = name.upper()
        location = environ.get(f"OUTRIDER_CHANNEL_{upper}") or environ.get(f"SM_CHANNEL_{upper}")
        if not location:
            raise SystemExit(f"there is no channel {name!r}: neither OUTRIDER_CHANNEL_{upper} nor SM_CHANNEL_{upper} is set")
        layout = environ.get(f"OUTRIDER_LAYOUT_{upper}", "files")
        return cls(location, environ.get(f"OUTRIDER_READER_{upper}") or ("webdataset" if layout == "shards" else "files"), layout)


class Store(Protocol):
    """Where objects lie. Copied to loader workers, so connections are made when they are first used."""

    def names(self) -> list[str]:
        """Return the names of all objects under the channel's location."""
        ...

    def open(self, name: str) -> Any:
        """Return a binary file object for one of them."""
        ...


@dataclass
class Folder:
    """Files on a disk or a mounted file system."""

    root: str

    def names(self) -> list[str]:
        """Return the paths of all files below the folder, in no particular order."""
        return [str(path) for path in Path(self.root).rglob("*") if path.is_file()]

    def open(self, name: str) -> Any:
        """Open a file by its path; raises `OSError` where that fails."""
        return Path(name).open("rb")


@dataclass
class S3Connector:
    """Objects through the S3 connector for PyTorch, each by a request of its own."""

    uri: str
    environ: Mapping[str, str]
    _indices: dict[str, int] = field(default_factory=dict)
    _objects: Any = None

    def options(self) -> dict[str, Any]:
        """Return the connector's arguments that say which server to ask, and how."""
        from s3torchconnector import S3ClientConfig

        endpoint = self.environ.get("AWS_ENDPOINT_URL_S3") or self.environ.get("AWS_ENDPOINT_URL") or None
        region = self.environ.get("AWS_REGION") or self.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        return {"region": region, "endpoint": endpoint, "s3client_config": S3ClientConfig(force_path_style=endpoint is not None)}

    def names(self) -> list[str]:
        """Return the URIs of all objects under the channel's URI, by listing alone."""
        from s3torchconnector import S3IterableDataset

        # a reader asks for the object's content when it is first read, so this only lists
        return list(S3IterableDataset.from_prefix(self.uri, transform=_uri_of, **self.options()))

    def select(self, names: list[str]) -> None:
        """Say which objects will be opened."""
        from s3torchconnector import S3MapDataset

        self._objects = S3MapDataset.from_objects(names, **self.options())
        self._indices = {name: index for index, name in enumerate(names)}

    def open(self, name: str) -> Any:
        """Return a reader for an object that `select` has named; the request is made when it is first read."""
        return self._objects[self._indices[name]]


def _uri_of(reader: Any) -> str:
    return f"s3://{reader.bucket}/{reader.key}"


@dataclass
class Boto3:
    """Objects through boto3, as most scripts do it."""

    uri: str
    _client: Any = None
    _pid: int = 0

    def names(self) -> list[str]:
        """Return the URIs of all objects under the channel's URI."""
        bucket, _, prefix = self.uri.removeprefix("s3://").partition("/")
        pages = self._connected().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [f"s3://{bucket}/{entry['Key']}" for page in pages for entry in page.get("Contents", [])]

    def open(self, name: str) -> Any:
        """Request an object and return its body as a stream; raises botocore's `ClientError` where it is missing."""
        bucket, _, key = name.removeprefix("s3://").partition("/")
        return self._connected().get_object(Bucket=bucket, Key=key)["Body"]

    def _connected(self) -> Any:
        if self._client is None or self._pid != os.getpid():
            import boto3

            # connections must not be shared with the process that this one was forked from
            self._client, self._pid = boto3.session.Session().client("s3"), os.getpid()
        return self._client


@dataclass
class Fsspec:
    """Objects through fsspec (for S3: the package s3fs), or files where the location is a path."""

    uri: str

    def names(self) -> list[str]:
        """Return the URIs or paths of all objects under the channel's location."""
        system, root = self._system()
        return [system.unstrip_protocol(name) for name in system.find(root)]

    def open(self, name: str) -> Any:
        """Open an object through the file system that its URI names."""
        system, _ = self._system()
        return system.open(name, "rb")

    def _system(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]  # ships no types

        system, root = url_to_fs(self.uri)  # fsspec keeps one per process
        return system, root


class Files(Dataset[Sample]):
    """Map-style: one object is one sample; its folder is its class."""

    def __init__(self, store: Store, names: list[str], classes: Mapping[str, int]) -> None:
        self._store, self._names, self._classes = store, names, classes

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> Sample:
        name = self._names[index]
        with self._store.open(name) as file:
            return _key_of(name), _decoded(file.read()), self._classes[_class_of(name)]


class Stream(IterableDataset[Sample]):
    """Iterable-style: passes through objects in order; those of a loader worker come from `sources`."""

    def __init__(self, sources: Callable[[], Iterable[tuple[str, Any]]], layout: str, classes: Mapping[str, int]) -> None:
        self._sources, self._layout, self._classes = sources, layout, classes

    def __iter__(self) -> Iterator[Sample]:
        for name, file in self._sources():
            if self._layout == "shards":
                yield from unpacked(file)
            else:
                yield _key_of(name), _decoded(file.read()), self._classes[_class_of(name)]


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
        "webdataset": lambda: Folder(channel.location),
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
    classes = {name: label for label, name in enumerate(sorted({_class_of(name) for name in names}))}
    random.Random(f"{seed}/{epoch}").shuffle(names)
    if isinstance(store, S3Connector) and channel.reader == "s3_iterable":
        connector = store
        return Stream(lambda: _from_connector(connector, names), channel.layout, classes), False
    if isinstance(store, S3Connector):
        store.select(names)
    if channel.layout == "files":
        return Files(store, names, classes), True
    return Stream(lambda: _share_of_worker(store, names), "shards", classes), False


def unpacked(file: Any) -> Iterator[Sample]:
    """Yield the samples of a TAR stream, whose members `<key>.jpg` and `<key>.cls` follow each other; several archives may follow too."""
    key = ""
    parts: dict[str, bytes] = {}
    with tarfile.open(fileobj=file, mode="r|", ignore_zeros=True, bufsize=1 << 18) as archive:
        for member in archive:
            stem, _, suffix = member.name.rpartition(".")
            content = archive.extractfile(member)
            if content is None:
                continue
            if stem != key:
                key, parts = stem, {}
            parts[suffix] = content.read()
            if "jpg" in parts and "cls" in parts:
                yield _key_of(member.name), _decoded(parts["jpg"]), int(parts["cls"])
                parts = {}


def held_out(key: str) -> bool:
    """Return whether a sample is for validation: about one in ten, by its key alone, so that each reader holds out the same ones."""
    return zlib.crc32(key.encode()) % 10 == 0


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


def _decoded(jpeg: bytes) -> torch.Tensor:
    from PIL import Image

    with Image.open(io.BytesIO(jpeg)) as image:
        return torch.from_numpy(np.array(image.convert("RGB")))


def _key_of(name: str) -> str:
    return name.rpartition("/")[2].rpartition(".")[0]


def _class_of(name: str) -> str:
    return name.rpartition("/")[0].rpartition("/")[2]
