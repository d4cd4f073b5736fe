"""Objects in S3 below one prefix, written under conditions: the state of launched runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from backends.object_store import ListedObject, ReadObject
from backends.sagemaker.aws import s3
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import FailureKind, failure_of
from definitions.errors import UserError
from definitions.files import replacing_with

_TRIES = 6
_FIRST_PAUSE_S = 0.1
_IN_PARTS_BYTES = 64 * 1024**2
"""Files above this size travel in parts, several at a time."""
_CHUNK_BYTES = 1024**2
_IN_THE_MIDDLE = ("IncompleteReadError", "ResponseStreamingError")
_NOT_SO = "PreconditionFailed"
_IN_BETWEEN = "ConditionalRequestConflict"

T = TypeVar("T")


class S3ObjectStore:
    """An `ObjectStore` in S3.

    Args:
        uri: `s3://bucket/prefix`, the root of all keys.
        clients: of the bucket's region.
        sleep: waits so many seconds before a write is tried again that another one got in the way of.
    """

    def __init__(self, uri: str, clients: Clients, sleep: Callable[[float], None] = time.sleep) -> None:
        self.uri = uri.rstrip("/")
        self._bucket, key = s3.split_uri(self.uri)
        self._root = s3.joined(key)
        self._clients, self._sleep = clients, sleep

    def put(self, key: str, body: bytes) -> str:
        """Write an object; see `ObjectStore`."""
        return str(self._asked("it cannot be written", key, lambda client: client.put_object(**self._place(key), Body=body))["ETag"])

    def create(self, key: str, body: bytes) -> bool:
        """Write an object where there is none; see `ObjectStore`."""
        return self._written_if(key, body, IfNoneMatch="*") is not None

    def replace(self, key: str, body: bytes, etag: str) -> str | None:
        """Write an object in the place of a known one; see `ObjectStore`."""
        return self._written_if(key, body, IfMatch=etag)

    def get(self, key: str) -> ReadObject | None:
        """Return an object; see `ObjectStore`."""

        def read(client: Any) -> ReadObject | None:
            answer = client.get_object(**self._place(key))
            return ReadObject(answer["Body"].read(), str(answer["ETag"]))

        return self._asked("it cannot be read", key, lambda client: _again(lambda: read(client)), missing=None)

    def list(self, prefix: str = "") -> list[ListedObject]:
        """Return the objects whose keys begin so; see `ObjectStore`."""

        def pages(client: Any) -> list[ListedObject]:
            request: dict[str, Any] = {"Bucket": self._bucket, "Prefix": self._root + prefix, "MaxKeys": s3.BATCH}
            found: list[ListedObject] = []
            while True:
                page = client.list_objects_v2(**request)
                found += [self._listed(one) for one in page.get("Contents", [])]
                if not page.get("IsTruncated"):
                    return found
                request["ContinuationToken"] = page["NextContinuationToken"]

        return self._asked("it cannot be listed", prefix, pages)

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; see `ObjectStore`."""
        whole = [self._root + key for key in keys]
        self._asked("objects cannot be deleted", "", lambda client: s3.delete_keys(client, self._bucket, whole, self._sleep))

    def upload(self, path: Path, key: str) -> None:
        """Write a file's content as an object; see `ObjectStore`."""

        def send(client: Any) -> None:
            with path.open("rb") as file:
                if path.stat().st_size > _IN_PARTS_BYTES:
                    client.upload_fileobj(file, **self._place(key))
                else:
                    client.put_object(**self._place(key), Body=file)

        self._asked("it cannot be written", key, send)

    def download(self, key: str, path: Path) -> None:
        """Write an object's content to a file; see `ObjectStore`."""
        with replacing_with(path) as temporary:

            def fetch(client: Any) -> None:
                answer = client.get_object(**self._place(key))
                with temporary.open("wb") as file:
                    for chunk in answer["Body"].iter_chunks(_CHUNK_BYTES):
                        file.write(chunk)

            self._asked("it cannot be read", key, lambda client: _again(lambda: fetch(client)))

    def _place(self, key: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._root + key}

    def _listed(self, one: Any) -> ListedObject:
        key = str(one["Key"]).removeprefix(self._root)
        return ListedObject(key, int(one["Size"]), str(one["ETag"]), one["LastModified"].timestamp())

    def _written_if(self, key: str, body: bytes, **condition: str) -> str | None:
        """Write under a condition; return the ETag of the object that is there with this body, None where it is another."""
        for number in range(_TRIES):
            try:
                with s3.s3_errors(f"{self.uri}/{key}: it cannot be written", self._bucket):
                    return str(self._renewing(lambda client: client.put_object(**self._place(key), Body=body, **condition))["ETag"])
            except Exception as error:
                failure = failure_of(error)
                code = "" if failure is None else failure.code
                if code == "NoSuchKey" and "IfMatch" in condition:
                    return None
                if code == _NOT_SO or (code == _IN_BETWEEN and number + 1 == _TRIES):
                    # The client repeats what was not answered, so that it may be our own.
                    there = self.get(key)
                    return there.etag if there is not None and there.body == body else None
                if code != _IN_BETWEEN:
                    raise
            self._sleep(_FIRST_PAUSE_S * 2.0**number)
        raise AssertionError("the last try returns or raises")

    def _asked(self, what: str, key: str, call: Callable[[Any], T], **otherwise: T) -> T:
        """Return what a call returns; `missing` in place of an error where there is no such object."""
        with s3.s3_errors(f"{self.uri}/{key}: {what}", self._bucket):
            try:
                return self._renewing(call)
            except Exception as error:
                failure = failure_of(error)
                if failure is not None and failure.code in ("NoSuchKey", "404"):
                    if "missing" in otherwise:
                        return otherwise["missing"]
                    raise UserError(f"{self.uri}/{key}: {what}", "there is no such object") from error
                raise

    def _renewing(self, call: Callable[[Any], T]) -> T:
        """Make a call, and once more where credentials have expired that somebody has renewed meanwhile."""
        try:
            return call(self._clients.get("s3"))
        except Exception as error:
            failure = failure_of(error)
            if failure is None or failure.kind is not FailureKind.CREDENTIALS:
                raise
        self._clients.renew()
        return call(self._clients.get("s3"))


def _again(read: Callable[[], T]) -> T:
    """Return what a read returns, tried again where the connection breaks in the middle of a body, which the client does not repeat."""
    for _ in range(_TRIES - 1):
        try:
            return read()
        except Exception as error:
            failure = failure_of(error)
            if failure is None or failure.kind is not FailureKind.UNREACHABLE or failure.code not in _IN_THE_MIDDLE:
                raise
    return read()
