"""Room on the disk that is kept for what is measured last: a file that takes it, and is deleted when the disk is full."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

RESERVE_BYTES = 1024 * 1024
"""Enough for some thousand reports, and for a write-ahead log that has to grow."""


class Reserve:
    """A file that takes room.

    Args:
        path: of the file; one that an earlier process left is taken over.
        size_bytes: of it. Where there is no room for it, there is no reserve.
    """

    def __init__(self, path: Path, size_bytes: int = RESERVE_BYTES) -> None:
        self._path = path
        self.is_used = False
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.posix_fallocate(descriptor, 0, size_bytes)
            finally:
                os.close(descriptor)

    def use(self) -> bool:
        """Give the room to others; return whether there was any."""
        self.is_used = True
        return self._delete()

    def close(self) -> None:
        """Delete the file."""
        self._delete()

    def _delete(self) -> bool:
        try:
            size_bytes = self._path.stat().st_blocks
            self._path.unlink()
        except OSError:
            return False
        return size_bytes > 0
