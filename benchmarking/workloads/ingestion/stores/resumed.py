"""A file in a store that is asked for again where its body breaks off, and read on from there."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from ..tolerance import Tolerance
from .base import ATTEMPTS, Store, is_gone

_BLOCK_BYTES = 1 << 20


class Resumed(io.RawIOBase):
    """A binary file, opened when it is first read.

    Args:
        store: where it lies.
        name: of the object.
        tolerance: where failed reads that were tried again are counted; one that is raised is counted by who catches it.
        opened: it, where it is open already.
    """

    def __init__(self, store: Store, name: str, tolerance: Tolerance, opened: Any = None) -> None:
        self._store, self._name, self._tolerance, self._file = store, name, tolerance, opened
        self._at, self._failed, self._failed_at = 0, 0, -1

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Return so many bytes, all that are left for -1; fewer at the end. Raises what the store raises that fails again and again."""
        while True:
            try:
                found: bytes = self._there().read(size)
                self._at += len(found)
                return found
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001  (each client has classes of its own)
                self._again(error)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, and return how much of it."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def seekable(self) -> bool:
        """Return whether the store's files can be read in any order."""
        try:
            return callable(getattr(self._there(), "seek", None)) and self._there().seek(self._at) == self._at
        except (OSError, AttributeError):  # io.UnsupportedOperation is one
            return False

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Read on from somewhere else; raises `io.UnsupportedOperation` where the store reads forwards only."""
        while True:
            try:
                file = self._there()
                if not hasattr(file, "seek"):
                    raise io.UnsupportedOperation("seek")
                self._at = file.seek(offset, whence)
                return self._at
            except io.UnsupportedOperation:
                raise
            except Exception as error:  # noqa: BLE001
                self._again(error)

    def tell(self) -> int:
        """Return how many bytes come before what is read next."""
        return self._at

    def close(self) -> None:
        """Let go of the store's file."""
        if self._file is not None and not self.closed:
            with contextlib.suppress(Exception):  # it was read as far as was wanted
                self._file.close()
        super().close()

    def _there(self) -> Any:
        if self._file is None:
            file = self._store.open(self._name)
            if self._at:
                _forwards(file, self._at)
            self._file = file
        return self._file

    def _again(self, error: Exception) -> None:
        """Have it opened anew, unless it failed too often at this place or there is none: then raise the error."""
        self._failed = self._failed + 1 if self._failed_at == self._at else 1
        self._failed_at = self._at
        if is_gone(error) or self._failed == ATTEMPTS:
            raise error
        self._tolerance.retry(self._name, error)
        if self._file is not None:
            with contextlib.suppress(Exception):
                self._file.close()
        self._file = None


def _forwards(file: Any, wanted: int) -> None:
    """Pass over the first bytes of a file."""
    with contextlib.suppress(AttributeError, io.UnsupportedOperation):
        file.seek(wanted)
        return
    while wanted and (found := file.read(min(wanted, _BLOCK_BYTES))):
        wanted -= len(found)
