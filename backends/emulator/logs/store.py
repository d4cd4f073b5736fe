"""Log streams in the emulator's database: events in the order of their arrival, read from any place."""

from __future__ import annotations

import bisect
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from backends.emulator.core.database import Database

GROUP = "/aws/sagemaker/TrainingJobs"
SCHEMA = """
CREATE TABLE IF NOT EXISTS log_streams (id INTEGER PRIMARY KEY, name TEXT UNIQUE, created_ms INTEGER);
CREATE TABLE IF NOT EXISTS log_events (stream INTEGER, sequence INTEGER, timestamp_ms INTEGER, ingested_ms INTEGER, message TEXT,
    PRIMARY KEY (stream, sequence)) WITHOUT ROWID;
"""
_BLOCK_EVENTS = 1000
_FIRST_ROWS, _MOST_ROWS = 16, 1024
_MOST_CHARACTERS = 1 << 18


@dataclass(frozen=True)
class LogEvent:
    """One event.

    Args:
        timestamp_ms: when it was printed; `ingested_ms`: when it arrived, both in milliseconds since the epoch.
        sequence: counts the events of its stream by their arrival, from 0.
    """

    timestamp_ms: int
    ingested_ms: int
    message: str
    sequence: int


@dataclass
class LogStream:
    """What is known of a stream without reading its events.

    Args:
        id: its number in the database; `created_ms`: when it began.
        count: of its events; `lost`: of those that the disk had no room for.
        first_ms, last_ms: smallest and largest timestamp; `ingested_ms`: when the last one arrived; None where there are no events.
        blocks: for each block of so many events the largest timestamp up to its end, so that reading from a time need not begin at the
            start.
    """

    id: int
    name: str
    created_ms: int
    count: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    ingested_ms: int | None = None
    blocks: list[int] = field(default_factory=list)
    lost: int = 0

    def add(self, count: int, first_ms: int, last_ms: int, ingested_ms: int) -> None:
        """Take note of events that have been added, of which none lies in more than one block."""
        block = self.count // _BLOCK_EVENTS
        self.count += count
        self.first_ms = first_ms if self.first_ms is None else min(self.first_ms, first_ms)
        self.last_ms = last_ms if self.last_ms is None else max(self.last_ms, last_ms)
        self.ingested_ms = ingested_ms
        self.blocks[block:] = [self.last_ms]


class LogStore:
    """All streams of the group of training jobs.

    Args:
        database: with the tables of `SCHEMA`.
        now: the service's clock, in seconds since the epoch.
    """

    def __init__(self, database: Database, now: Callable[[], float]) -> None:
        self._database, self._now = database, now
        self._streams: dict[str, LogStream] = {}
        self._load()

    def create(self, name: str) -> None:
        """Begin a stream; raises OSError where the disk has no room for it."""
        created_ms = int(self._now() * 1000)
        try:
            with self._database.lock:
                self._database.run("INSERT INTO log_streams (name, created_ms) VALUES (?, ?)", (name, created_ms))
                ((number,),) = self._database.run("SELECT id FROM log_streams WHERE name = ?", (name,))
                self._streams[name] = LogStream(number, name, created_ms)
        except sqlite3.OperationalError as error:
            raise OSError(f"log stream {name}: {error}") from error

    def delete(self, name: str) -> None:
        """Forget a stream and its events."""
        with self._database.lock:
            stream = self._streams.pop(name, None)
            if stream is not None:
                self._database.run("DELETE FROM log_events WHERE stream = ?", (stream.id,))
                self._database.run("DELETE FROM log_streams WHERE id = ?", (stream.id,))

    def append(self, name: str, events: list[tuple[float, str]]) -> None:
        """Add events (time in seconds, message) at the end of a stream; what the disk has no room for is lost and counted."""
        stream = self._streams.get(name)
        if stream is None or not events:
            return
        ingested_ms = int(self._now() * 1000)
        with self._database.lock:
            number, sequence = stream.id, stream.count
            rows = [(number, place, int(at * 1000), ingested_ms, message) for place, (at, message) in enumerate(events, sequence)]
            try:
                self._database.run_all("INSERT INTO log_events VALUES (?, ?, ?, ?, ?)", rows)
            except sqlite3.OperationalError:
                stream.lost += len(events)
                return
            # Counted block by block.
            while rows:
                left = _BLOCK_EVENTS - stream.count % _BLOCK_EVENTS
                part, rows = rows[:left], rows[left:]
                times = [row[2] for row in part]
                stream.add(len(part), min(times), max(times), ingested_ms)

    def get(self, name: str) -> LogStream | None:
        """Return a stream."""
        return self._streams.get(name)

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of streams that begin with `prefix`, in order."""
        with self._database.lock:
            return sorted(name for name in self._streams if name.startswith(prefix))

    def read(self, stream: LogStream, sequence: int, since_ms: int | None = None) -> Iterator[LogEvent]:
        """Yield a stream's events from a sequence number on, leaving out a beginning that is surely older than `since_ms`."""
        if since_ms is not None:
            sequence = max(sequence, bisect.bisect_left(stream.blocks, since_ms) * _BLOCK_EVENTS)
        end, rows = stream.count, _FIRST_ROWS
        while sequence < end:
            found = self._select("sequence >= ? AND sequence < ? ORDER BY sequence", stream, sequence, end, rows)
            if not found:
                return
            yield from found
            sequence, rows = found[-1].sequence + 1, _more(rows, found)

    def read_back(self, stream: LogStream, sequence: int) -> Iterator[LogEvent]:
        """Yield the events before a sequence number, the latest first."""
        rows = _FIRST_ROWS
        while sequence > 0:
            found = self._select("sequence >= ? AND sequence < ? ORDER BY sequence DESC", stream, 0, sequence, rows)
            if not found:
                return
            yield from found
            sequence, rows = found[-1].sequence, _more(rows, found)

    def _select(self, which: str, stream: LogStream, begin: int, end: int, rows: int) -> list[LogEvent]:
        statement = f"SELECT timestamp_ms, ingested_ms, message, sequence FROM log_events WHERE stream = ? AND {which} LIMIT ?"
        return [LogEvent(*row) for row in self._database.run(statement, (stream.id, begin, end, rows))]

    def _load(self) -> None:
        streams = {row[0]: LogStream(*row) for row in self._database.run("SELECT id, name, created_ms FROM log_streams")}
        blocks = self._database.run(
            "SELECT stream, COUNT(*), MIN(timestamp_ms), MAX(timestamp_ms), MAX(ingested_ms) FROM log_events "
            f"GROUP BY stream, sequence / {_BLOCK_EVENTS} ORDER BY stream, sequence / {_BLOCK_EVENTS}"
        )
        for number, *block in blocks:
            streams[number].add(*block)
        self._streams = {stream.name: stream for stream in streams.values()}


def _more(rows: int, found: list[LogEvent]) -> int:
    """Return how many events to take next: more each time, unless they are long."""
    return min(4 * rows, _MOST_ROWS) if sum(len(event.message) for event in found) < _MOST_CHARACTERS else rows
