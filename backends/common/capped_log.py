"""A log file of a bounded size: its beginning and its end, and between them a line that says how much was left out."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from definitions.quantities import size_text

LEFT_OUT = b"[outrider] left out here: "
"""What the line begins with that says how much was left out."""

_COPY_BYTES = 1 << 20
_LEAST_BYTES = 1 << 16
_LONGEST_LINE = 4096
_MARK_BYTES = 120
_MARK = re.compile(rb"\n" + re.escape(LEFT_OUT) + rb"(\d+) bytes of output, [^\n]*\n")


class CappedLog:
    """A file that output is appended to.

    A file that has reached its cap keeps its first and its last quarter. It stays the same file, so that who follows it goes on.

    Args:
        path: of the file, which may be there already.
        cap_bytes: most bytes that it may have; None for any number.

    Attributes:
        lost_bytes: what could not be written, as on a full disk.
        left_out_bytes: what was written and taken out again, also by whoever wrote to the file before.
        known_bytes: of the output, what the file has had when it was opened.
    """

    def __init__(self, path: Path, cap_bytes: int | None = None) -> None:
        self._cap_bytes = None if cap_bytes is None else max(cap_bytes, _LEAST_BYTES)
        self._head_bytes = 0
        self.lost_bytes = 0
        self.left_out_bytes = 0
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._size = os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError:
            self._descriptor, self._size = -1, 0
        self._find_mark()
        self.known_bytes = self._size + self.left_out_bytes - (_MARK_BYTES if self._head_bytes else 0)

    def write(self, data: bytes) -> None:
        """Append output. A file that cannot be written ends nothing: the lost bytes are counted."""
        rest = memoryview(data)
        try:
            while rest and self._descriptor >= 0:
                if self._cap_bytes is not None and self._size >= self._cap_bytes:
                    self._shorten(self._cap_bytes)
                room = len(rest) if self._cap_bytes is None else self._cap_bytes - self._size
                written = os.write(self._descriptor, rest[:room])
                self._size += written
                rest = rest[written:]
        except OSError:
            pass
        self.lost_bytes += len(rest)

    def close(self) -> None:
        """Release the file."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = -1

    def _shorten(self, cap_bytes: int) -> None:
        """Take out what is between the first and the last quarter, up to whole lines."""
        quarter = cap_bytes // 4
        # The mark has one length, so that a later one takes the place of an earlier one.
        head = self._head_bytes or self._line_start(quarter)
        begin = head + _MARK_BYTES if self._head_bytes else head
        end = max(begin, self._line_start(self._size - quarter))
        self.left_out_bytes += end - begin
        self._head_bytes = head
        mark = f"{LEFT_OUT.decode()}{self.left_out_bytes} bytes of output, as log_cap is {size_text(cap_bytes)}"
        at = head + os.pwrite(self._descriptor, f"\n{mark[: _MARK_BYTES - 2]:{_MARK_BYTES - 2}}\n".encode(), head)
        while end < self._size:
            piece = os.pread(self._descriptor, min(_COPY_BYTES, self._size - end), end)
            at += os.pwrite(self._descriptor, piece, at)
            end += len(piece)
        os.ftruncate(self._descriptor, at)
        self._size = os.lseek(self._descriptor, at, os.SEEK_SET)

    def _find_mark(self) -> None:
        """Take in what an earlier writer has left out, as its line says."""
        if self._cap_bytes is None or self._size < self._cap_bytes // 4:
            return
        first = self._cap_bytes // 4
        found = _MARK.search(os.pread(self._descriptor, _LONGEST_LINE + _MARK_BYTES, first))
        if found is not None:
            self._head_bytes, self.left_out_bytes = first + found.start(), int(found[1])

    def _line_start(self, at: int) -> int:
        """Return where the first line begins after a place, or the place itself where none begins soon after it."""
        return at + os.pread(self._descriptor, _LONGEST_LINE, at).find(b"\n") + 1
