"""torch.save to an object, by the first rank: as a stream through the S3 connector, or whole from memory by boto3, in parts."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from .base import StoreOptions, region_of, split
from .threaded import ThreadedStore

_PART_BYTES = 8 << 20


class TorchObject(ThreadedStore):
    """An object a checkpoint, through the S3 connector."""

    def __init__(self, options: StoreOptions) -> None:
        super().__init__(options)
        self._made: Any = None

    def save(self, state: Mapping[str, Any], name: str) -> None:
        """Stream the first rank's state; the others have nothing to do. The store has it when the stream is closed."""
        import torch

        if self._options.rank == 0:
            with self._checkpoint().writer(self._uri(name)) as writer:
                torch.save(dict(state), writer)

    def load(self, name: str, like: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read it, on each rank that asks."""
        import torch

        with self._checkpoint().reader(self._uri(name)) as reader:
            found: Mapping[str, Any] = torch.load(reader, map_location="cpu", weights_only=True)
        return found

    def remove(self, name: str) -> None:
        """Delete the object."""
        if self._options.rank == 0:
            self._checkpoint()._client.delete_object(*split(self._uri(name)))

    def stored_bytes(self, name: str) -> int:
        """Return the size of the object."""
        return int(self._checkpoint()._client.head_object(*split(self._uri(name))).size)

    def _checkpoint(self) -> Any:
        if self._made is None:
            from s3torchconnector import S3Checkpoint

            environ = self._options.environ
            endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or None
            self._made = S3Checkpoint(region_of(environ), endpoint=endpoint)
        return self._made

    def _uri(self, name: str) -> str:
        return f"{self._options.place}/{name}.pt"


class Boto3Object(ThreadedStore):
    """An object a checkpoint, by boto3, which sends so many parts at once as there are threads."""

    def __init__(self, options: StoreOptions) -> None:
        super().__init__(options)
        self._made: Any = None

    def save(self, state: Mapping[str, Any], name: str) -> None:
        """Serialise the first rank's state into memory, and upload that."""
        import torch

        if self._options.rank == 0:
            file = io.BytesIO()
            torch.save(dict(state), file)
            file.seek(0)
            self._client().upload_fileobj(file, *split(self._uri(name)), Config=self._transfer())

    def load(self, name: str, like: Mapping[str, Any]) -> Mapping[str, Any]:
        """Download it into memory, on each rank that asks, and read that."""
        import torch

        file = io.BytesIO()
        self._client().download_fileobj(*split(self._uri(name)), file, Config=self._transfer())
        file.seek(0)
        found: Mapping[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        return found

    def remove(self, name: str) -> None:
        """Delete the object."""
        bucket, key = split(self._uri(name))
        if self._options.rank == 0:
            self._client().delete_object(Bucket=bucket, Key=key)

    def stored_bytes(self, name: str) -> int:
        """Return the size of the object."""
        bucket, key = split(self._uri(name))
        return int(self._client().head_object(Bucket=bucket, Key=key)["ContentLength"])

    def _transfer(self) -> Any:
        from boto3.s3.transfer import TransferConfig

        threads = self._options.threads
        return TransferConfig(max_concurrency=threads, use_threads=threads > 1, multipart_chunksize=_PART_BYTES)

    def _client(self) -> Any:
        if self._made is None:
            import boto3

            environ = self._options.environ
            endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or None
            self._made = boto3.session.Session().client("s3", region_name=region_of(environ), endpoint_url=endpoint)
        return self._made

    def _uri(self, name: str) -> str:
        return f"{self._options.place}/{name}.pt"
