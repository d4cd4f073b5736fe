"""What a store has served: requests, bytes on the wire, and its own processor seconds, in a file that jobs of this machine can read."""

from __future__ import annotations

import mmap
import struct
import threading
import time
from collections.abc import Mapping
from pathlib import Path

_FORM = struct.Struct("<4q")
_NAMES = ("requests", "received_bytes", "sent_bytes", "cpu_ns")


class ServedCounts:
    """Counts that only grow; who wants those of a trial takes the difference of two readings.

    Args:
        path: of the file, which is made anew.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        path.write_bytes(_FORM.pack(0, 0, 0, 0))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _FORM.size)
        self._lock = threading.Lock()
        self._requests = self._received = self._sent = 0

    def sent(self, received_bytes: int, sent_bytes: int) -> None:
        """Count one request with the bytes of its body and of its answer's."""
        with self._lock:
            self._requests += 1
            self._received += received_bytes
            self._sent += sent_bytes
            _FORM.pack_into(self._memory, 0, self._requests, self._received, self._sent, time.process_time_ns())


def read_counts(path: Path) -> Mapping[str, int]:
    """Return `requests`, `received_bytes`, `sent_bytes` and `cpu_ns` of the server so far; raises `OSError` where there is no such file."""
    return dict(zip(_NAMES, _FORM.unpack(path.read_bytes()[: _FORM.size]), strict=True))
