"""Follows a file that somebody else writes, appends to, truncates or replaces."""

from __future__ import annotations

import os
import stat

_PROBE_BYTES = 4096


class FileTail:
    """The bytes of a file as they come.

    What was read is known by its beginning and its end, so that a file which was written anew in place is noticed, whatever its size.

    Args:
        path: of the file, which need not be there yet.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1
        self._identity = (0, 0)
        self._offset = 0
        self._head = b""
        self._end = b""
        self._state = (0, 0)

    def take(self, most_bytes: int) -> tuple[bool, bytes]:
        """Return whether the file begins anew, and its next bytes; after what is anew they come with the next call."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 (a text, several times a second)
        except OSError:
            found = None
        if self._descriptor < 0 and not (found is not None and self._open()):
            return False, b""
        if found is not None and (found.st_dev, found.st_ino) != self._identity:
            # Replaced: first what was written to the old file until then.
            data = self._read(most_bytes)
            self._offset += len(data)
            if not data:
                self.close()
            return not data, data
        status = os.fstat(self._descriptor)
        state = (status.st_mtime_ns, status.st_size)
        if state == self._state and status.st_size == self._offset:
            return False, b""
        data = self._read(most_bytes)
        # Looked at after reading: had it been written anew before, this would show it.
        if status.st_size < self._offset or not self._is_same():
            self._forget()
            return True, b""
        self._state = state
        self._offset += len(data)
        self._head += data[: _PROBE_BYTES - len(self._head)]
        self._end = (self._end + data)[-_PROBE_BYTES:]
        return False, data

    def look_again(self) -> None:
        """Compare with what is in the file at the next call, though its time and size tell no change: a clock has its steps."""
        self._state = (0, 0)

    def close(self) -> None:
        """Release the file; the next call opens it again, from its beginning."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        self._forget()

    def _open(self) -> bool:
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        status = os.fstat(self._descriptor)
        self._identity = status.st_dev, status.st_ino
        if not stat.S_ISREG(status.st_mode):
            self.close()
        return self._descriptor >= 0

    def _forget(self) -> None:
        self._offset, self._head, self._end, self._state = 0, b"", b"", (0, 0)

    def _read(self, most_bytes: int) -> bytes:
        try:
            return os.pread(self._descriptor, most_bytes, self._offset)
        except OSError:
            return b""

    def _is_same(self) -> bool:
        """Return whether what was read earlier is still where it was."""
        try:
            head = os.pread(self._descriptor, len(self._head), 0)
            end = os.pread(self._descriptor, len(self._end), self._offset - len(self._end))
        except OSError:
            return False
        return head == self._head and end == self._end
