"""Log streams on disk: appended in the order of their arrival, read from any place."""

from __future__ import annotations

import bisect
import json
import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

GROUP = "/aws/sagemaker/TrainingJobs"
_HEAD = struct.Struct(">qqI")
_TAIL = struct.Struct(">I")
_INDEX_STEP_BYTES = 65536


@dataclass(frozen=True)
class LogEvent:
    """One event.

    Args:
        timestamp_ms: when it was printed; `ingested_ms`: when it arrived, both in milliseconds since the epoch.
        start, end: where it lies in the stream's file, in bytes.
    """

    timestamp_ms: int
    ingested_ms: int
    message: str
    start: int
    end: int


@dataclass
class LogStream:
    """A stream's file and what is known of it without reading.

    Args:
        index: (largest timestamp so far, offset) once in a while, so that reading from a time need not begin at the start.
    """

    name: str
    path: Path
    created_ms: int
    size: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    ingested_ms: int | None = None
    index: list[tuple[int, int]] = field(default_factory=list)
    lost: int = 0


class LogStore:
    """All streams of the group of training jobs.

    Args:
        folder: where it keeps them.
        now: the service's clock.
    """

    def __init__(self, folder: Path, now: Callable[[], float]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._now = folder, now
        self._lock = threading.Lock()
        self._streams: dict[str, LogStream] = {}
        self._load()

    def create(self, name: str) -> None:
        """Begin a stream."""
        path = self._folder / f"{zlib.crc32(name.encode()):08x}-{name.replace('/', '%')}.log"
        stream = LogStream(name, path, int(self._now() * 1000))
        path.touch()
        path.with_suffix(".json").write_text(json.dumps({"name": name, "created_ms": stream.created_ms}), encoding="utf-8")
        with self._lock:
            self._streams[name] = stream

    def delete(self, name: str) -> None:
        """Forget a stream and its events."""
        with self._lock:
            stream = self._streams.pop(name, None)
        if stream is not None:
            stream.path.unlink(missing_ok=True)
            stream.path.with_suffix(".json").unlink(missing_ok=True)

    def append(self, name: str, events: list[tuple[float, str]]) -> None:
        """Add events (time in seconds, message) at the end of a stream; what the disk has no room for is lost and counted."""
        stream = self._streams.get(name)
        if stream is None or not events:
            return
        ingested_ms = int(self._now() * 1000)
        chunks = []
        sizes = []
        for at, message in events:
            content = message.encode("utf-8", "replace")
            chunks.append(_HEAD.pack(int(at * 1000), ingested_ms, len(content)) + content + _TAIL.pack(len(content)))
            sizes.append(len(chunks[-1]))
        with self._lock:
            try:
                with stream.path.open("r+b") as file:
                    file.seek(stream.size)
                    file.write(b"".join(chunks))
            except OSError:
                stream.lost += len(events)
                return
            for (at, _), size in zip(events, sizes, strict=True):
                self._count(stream, int(at * 1000), ingested_ms, size)

    def get(self, name: str) -> LogStream | None:
        """Return a stream."""
        return self._streams.get(name)

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of streams that begin with `prefix`, in order."""
        with self._lock:
            return sorted(name for name in self._streams if name.startswith(prefix))

    def read(self, stream: LogStream, offset: int, since_ms: int | None = None) -> Iterator[LogEvent]:
        """Yield a stream's events from an offset on, leaving out a beginning that is surely older than `since_ms`."""
        if since_ms is not None:
            if stream.last_ms is None or stream.last_ms < since_ms:
                return
            place = bisect.bisect_left(stream.index, (since_ms, -1)) - 1
            offset = max(offset, stream.index[place][1] if place >= 0 else 0)
        size = stream.size
        try:
            with stream.path.open("rb") as file:
                file.seek(offset)
                while offset < size:
                    timestamp_ms, ingested_ms, length = _HEAD.unpack(file.read(_HEAD.size))
                    message = file.read(length).decode("utf-8", "replace")
                    file.seek(_TAIL.size, os.SEEK_CUR)
                    end = offset + _HEAD.size + length + _TAIL.size
                    yield LogEvent(timestamp_ms, ingested_ms, message, offset, end)
                    offset = end
        except FileNotFoundError:
            return

    def read_back(self, stream: LogStream, offset: int) -> Iterator[LogEvent]:
        """Yield the events before an offset, the latest first."""
        try:
            with stream.path.open("rb") as file:
                while offset > 0:
                    file.seek(offset - _TAIL.size)
                    (length,) = _TAIL.unpack(file.read(_TAIL.size))
                    start = offset - _TAIL.size - length - _HEAD.size
                    file.seek(start)
                    timestamp_ms, ingested_ms, _ = _HEAD.unpack(file.read(_HEAD.size))
                    yield LogEvent(timestamp_ms, ingested_ms, file.read(length).decode("utf-8", "replace"), start, offset)
                    offset = start
        except FileNotFoundError:
            return

    def _count(self, stream: LogStream, timestamp_ms: int, ingested_ms: int, size: int) -> None:
        latest = timestamp_ms if stream.last_ms is None else max(stream.last_ms, timestamp_ms)
        if not stream.index or stream.size - stream.index[-1][1] >= _INDEX_STEP_BYTES:
            stream.index.append((stream.last_ms if stream.last_ms is not None else -1, stream.size))
        stream.size += size
        stream.first_ms = timestamp_ms if stream.first_ms is None else min(stream.first_ms, timestamp_ms)
        stream.last_ms, stream.ingested_ms = latest, ingested_ms

    def _load(self) -> None:
        for description in self._folder.glob("*.json"):
            try:
                data = json.loads(description.read_text(encoding="utf-8"))
                path = description.with_suffix(".log")
                stream = LogStream(data["name"], path, data["created_ms"])
                end = path.stat().st_size
            except (OSError, ValueError, LookupError):
                continue
            # A last event that was only half written when the emulator was killed is cut off by `size`.
            with path.open("rb") as file:
                while stream.size + _HEAD.size <= end:
                    timestamp_ms, ingested_ms, length = _HEAD.unpack(file.read(_HEAD.size))
                    whole = _HEAD.size + length + _TAIL.size
                    if stream.size + whole > end:
                        break
                    file.seek(length + _TAIL.size, os.SEEK_CUR)
                    self._count(stream, timestamp_ms, ingested_ms, whole)
            self._streams[stream.name] = stream
