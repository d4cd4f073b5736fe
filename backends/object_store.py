"""A place where objects are kept by key, with conditional writes: what the state of launched runs needs of S3, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class ReadObject:
    """An object that was read.

    Args:
        body: its content.
        etag: names this content among all that the key ever had.
    """

    body: bytes
    etag: str


@dataclass(frozen=True)
class ListedObject:
    """An object as a listing tells of it.

    Args:
        key: relative to the store's root.
        size_bytes: of its content.
        etag: as `ReadObject` has it.
        modified_at: when it was written, in seconds since 1970 of the service's clock.
    """

    key: str
    size_bytes: int
    etag: str
    modified_at: float


class ObjectStore(Protocol):
    """Objects below one root; keys are relative to it. Safe to use from several threads.

    Every method raises `OutriderError` where the service refuses or does not answer in the end: `UserError` where there is no such
    bucket. A write that was not answered may have taken effect all the same, and is repeated: `create` and `replace` find out by the
    body whether the object that is there is their own. So whoever calls them puts a mark of its own into the body, a nonce.
    """

    uri: str
    """Of the root, e.g. `s3://bucket/prefix/runs/tag`, without a slash at its end."""

    def put(self, key: str, body: bytes) -> str:
        """Write an object, whether or not there is one; return its ETag."""
        ...

    def create(self, key: str, body: bytes) -> bool:
        """Write an object where there is none, and return whether it is there with this very body; False where it is another's."""
        ...

    def replace(self, key: str, body: bytes, etag: str) -> str | None:
        """Write an object where the one that is there has this ETag; return its new ETag, None where somebody else was first."""
        ...

    def get(self, key: str) -> ReadObject | None:
        """Return an object; None where there is none."""
        ...

    def list(self, prefix: str = "") -> list[ListedObject]:
        """Return all objects whose keys begin so, in the order of their keys."""
        ...

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; those that are not there are passed over."""
        ...

    def upload(self, path: Path, key: str) -> None:
        """Write a file's content as an object, whatever its size; raises `OSError` where it cannot be read."""
        ...

    def download(self, key: str, path: Path) -> None:
        """Write an object's content to a file, which appears whole; raises `UserError` where there is no object or no room."""
        ...
