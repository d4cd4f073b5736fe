"""Objects in S3 through the S3 connector for PyTorch, whose client is the AWS CRT."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import SEEK_END
from typing import Any

from .base import StoredName

READERS = ("sequential", "range_based")
"""How an object is read: all of it in one go, kept in memory; or in ranges as they are asked for."""

_OWN_BUFFER_BYTES = 8 << 20
"""What the connector reads ahead where nobody says otherwise."""

_TARGET_GBPS = 10.0
"""What the connector aims at where nobody says otherwise."""


class S3Connector:
    """Objects through the connector, each by a request of its own.

    Args:
        uri: `s3://bucket/prefix`.
        environ: whose AWS_* say which server to ask.
        reader: one of `READERS`.
        buffer_bytes: of ranges that are read ahead; 0 for the connector's own size.

    Raises:
        SystemExit: there is no such reader.
    """

    def __init__(self, uri: str, environ: Mapping[str, str], reader: str = "sequential", buffer_bytes: int = 0) -> None:
        if reader not in READERS:
            raise SystemExit(f"s3_reader {reader!r}: it is one of {', '.join(READERS)}")
        self._uri, self._reader, self._buffer_bytes = uri, reader, buffer_bytes
        self._endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or None
        self._region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        self._objects: Any = None
        self._indices: dict[str, int] = {}
        self._in_turn: tuple[int, _Wanted, Any] | None = None
        self._streaming: tuple[int, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_in_turn": None, "_streaming": None}

    @property
    def keeps_whole(self) -> bool:
        """Whether an object that is being read is kept in memory as far as it was read."""
        return self._reader == "sequential"

    def client_arguments(self) -> dict[str, Any]:
        """Return the arguments of the connector's client that say which server to ask, and how."""
        return {"region": self._region, "endpoint": self._endpoint, "force_path_style": self._endpoint is not None}

    def _options(self, reader: str) -> dict[str, Any]:
        from s3torchconnector import S3ClientConfig, S3ReaderConstructor

        size = {"buffer_size": self._buffer_bytes} if self._buffer_bytes else {}
        made = S3ReaderConstructor.range_based(**size) if reader == "range_based" else S3ReaderConstructor.sequential()
        return {
            "region": self._region,
            "endpoint": self._endpoint,
            "s3client_config": S3ClientConfig(force_path_style=self._endpoint is not None),
            "reader_constructor": made,
        }

    def entries(self) -> list[StoredName]:
        """Return the URIs of all objects under the channel's URI, by listing alone."""
        from s3torchconnector import S3IterableDataset

        # a reader of ranges knows the size from the listing, and asks for content only when it is read
        return list(S3IterableDataset.from_prefix(self._uri, transform=_entry_of, **self._options("range_based")))

    def select(self, names: Sequence[str], largest_bytes: int = 0) -> None:
        """Say which objects will be opened.

        Args:
            names: of them.
            largest_bytes: of the largest, for ranges that are read ahead by no more than that; 0 for as many as was said before. The
                connector makes and clears as much memory for each object, 8 MiB where nobody says how much.
        """
        from s3torchconnector import S3MapDataset

        if largest_bytes and not self._buffer_bytes:
            self._buffer_bytes = min(largest_bytes, _OWN_BUFFER_BYTES)
        self._objects = S3MapDataset.from_objects(list(names), **self._options(self._reader))
        self._indices = {name: index for index, name in enumerate(names)}

    def open(self, name: str) -> Any:
        """Return a reader for an object that `select` has named; the request is made when it is first read."""
        return self._objects[self._indices[name]]

    def blocks(self, name: str, part: slice = slice(None)) -> Iterator[bytes]:
        """Yield a part of an object's content as it arrives; what was taken is not kept, as the connector's readers keep it.

        Args:
            name: of the object.
            part: its bytes; all of them where it has no ends.
        """
        from s3torchconnectorclient._mountpoint_s3_client import MountpointS3Client  # as the connector's own data sets use it

        if self._streaming is None or self._streaming[0] != os.getpid():
            client = MountpointS3Client(user_agent_prefix="", throughput_target_gbps=_TARGET_GBPS, **self.client_arguments())
            self._streaming = os.getpid(), client
        bucket, _, key = name.removeprefix("s3://").partition("/")
        return iter(self._streaming[1].get_object(bucket, key, part.start, part.stop))

    def one_after_another(self, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Yield the name and a reader of each object by the connector's iterable data set."""
        from s3torchconnector import S3IterableDataset

        if self._in_turn is None or self._in_turn[0] != os.getpid():
            # One for all epochs of a process: each has a client of its own, which takes as long to begin as many objects do.
            wanted = _Wanted()
            self._in_turn = os.getpid(), wanted, S3IterableDataset.from_objects(wanted, **self._options(self._reader))
        _, wanted, dataset = self._in_turn
        wanted.names = list(names)
        for reader in dataset:
            yield f"s3://{reader.bucket}/{reader.key}", reader


class _Wanted:
    """The objects of an epoch, which the connector's data set asks for anew each time."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


def _entry_of(reader: Any) -> StoredName:
    return StoredName(f"s3://{reader.bucket}/{reader.key}", reader.seek(0, SEEK_END))
