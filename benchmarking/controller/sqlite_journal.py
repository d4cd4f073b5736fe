"""A journal in one SQLite file in WAL mode, and what is read of one without opening an experiment."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from backends.common.disk import free_bytes
from benchmarking.controller.journal import ControllerSession, DiskFullError, Journal, Record
from benchmarking.controller.journal_versions import CHANGED_KINDS, READABLE_VERSIONS, SCHEMA_VERSION, is_being_made, upgraded
from benchmarking.controller.reserve import RESERVE_BYTES, Reserve
from definitions import strict_json
from definitions.errors import UserError

RESERVES = ("reserve", "reserve-for-the-end")
"""Files beside a journal that is being written, which keep room for its last records: one while jobs run that may take it, one after."""

_READ_BATCH = 256
_ROWS_TOGETHER = 64
_INSERT = "INSERT INTO records VALUES (?, ?, ?, ?)"
_INSERT_TOGETHER = _INSERT + ", (?, ?, ?, ?)" * (_ROWS_TOGETHER - 1)

Row = tuple[int, float, str, str]
"""A record as it is stored: sequence, seconds, kind, and the body as JSON."""


class SqliteJournal(Journal):
    """A journal in one SQLite file; a torn last page costs at most the records that were being written.

    Args:
        path: the file; created where it does not exist.
        read_only: for reading what another process may be writing.

    A journal of an earlier version is read as one of the present, and becomes one when it is opened for writing.

    Raises:
        UserError: not a journal, one of a later version, or a folder that cannot be written.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._path = path
        self._pending: list[Row] = []
        self._is_torn = False
        self._closing = contextlib.ExitStack()
        try:
            self._db = self._readable() if read_only else self._connect("mode=rwc")
        except (sqlite3.Error, OSError) as error:
            self._closing.close()
            raise self._unopened(error) from error
        try:
            self._db.isolation_level = None
            if not read_only:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._create()
            self._version = self._readable_version()
            if not read_only and self._version != SCHEMA_VERSION:
                self._upgrade()
            self._reserves = [] if read_only else [Reserve(path.with_name(name)) for name in RESERVES]
            self._last: int = self._db.execute("SELECT max(sequence) FROM records").fetchone()[0] or 0
        except sqlite3.Error as error:
            self._release()
            raise self._unopened(error) from error
        except UserError:
            self._release()
            raise

    @property
    def last_sequence(self) -> int:
        """Number of the last record when it was opened, or of the last that was appended here; 0 where there is none."""
        return self._last

    def _connect(self, options: str, path: Path | None = None) -> sqlite3.Connection:
        return sqlite3.connect(f"{(path or self._path).absolute().as_uri()}?{options}", uri=True)

    def _readable(self) -> sqlite3.Connection:
        """Return a connection for reading, also where nothing can be written beside the file."""
        found = self._connect("mode=ro")
        try:
            found.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            found.close()
            if not self._path.is_file() or not error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
        else:
            return found
        # Readers of a file in WAL mode share memory in a file beside it. Where that cannot be made nobody writes either, so that none is
        # needed; but what a killed writer left in the log must be taken over first, in a copy.
        log = self._path.with_name(self._path.name + "-wal")
        if not log.is_file() or not log.stat().st_size:
            return self._connect("mode=ro&immutable=1")
        copy = Path(self._closing.enter_context(tempfile.TemporaryDirectory(prefix="outrider-")), self._path.name)
        for path in (self._path, log):
            shutil.copyfile(path, copy.with_name(path.name))
        return self._connect("mode=rw", copy)

    def _unopened(self, error: Exception) -> UserError:
        return UserError(f"cannot open the journal {self._path}", str(error), "check the folder and the disk, or use another tag")

    def _readable_version(self) -> int:
        row = self._db.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
        for version in READABLE_VERSIONS:
            if row is not None and row[0] == str(version):
                return version
        raise UserError(
            f"the journal {self._path} has {'no version' if row is None else f'version {row[0]}'}",
            f"this Outrider reads the versions {' and '.join(map(str, READABLE_VERSIONS))}; nothing was changed",
            "go on with the Outrider that wrote it or a later one, or use another tag",
        )

    def _upgrade(self) -> None:
        """Rewrite what differs in the present version, all or nothing."""
        with self._writing():
            changed = [(_text(record.body), record.sequence) for record in self.records() if record.kind in CHANGED_KINDS]
            self._db.executemany("UPDATE records SET body = ? WHERE sequence = ?", changed)
            self._db.execute("UPDATE meta SET value = ? WHERE name = 'schema_version'", (str(SCHEMA_VERSION),))
        self._version = SCHEMA_VERSION

    def _create(self) -> None:
        if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            self._readable_version()
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        self._db.execute("INSERT OR IGNORE INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS records (sequence INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL)"
        )
        self._db.execute("CREATE TABLE IF NOT EXISTS sessions (after INTEGER NOT NULL, last_at REAL NOT NULL, started_at REAL NOT NULL)")
        self._db.execute("COMMIT")

    def append(self, at: float, kind: str, body: Mapping[str, Any]) -> Record:
        """Add a record and return it; it is on disk only after the next `commit`."""
        self._last = sequence = self._last + 1
        self._pending.append((sequence, at, kind, _text(body)))
        return Record(sequence, at, kind, body)

    @property
    def pending(self) -> tuple[Row, ...]:
        """What was added since the last commit."""
        return (*self._pending,)

    def extend(self, rows: Iterable[Row]) -> None:
        """Add rows of another journal of this version, which go on where this one ends; raises `ValueError` where they do not."""
        for row in rows:
            if row[0] != self._last + 1:
                raise ValueError(f"record {row[0]} after record {self._last}")
            self._pending.append(row)
            self._last = row[0]

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Yield the committed records after one as they are stored; raises `UserError` where they cannot be read."""
        try:
            yield from self._db.execute("SELECT sequence, at, kind, body FROM records WHERE sequence > ? ORDER BY sequence", (after,))
        except sqlite3.Error as error:
            raise self._unread(error) from error

    def commit(self) -> None:
        """Write all added records in one transaction; where that fails, keep them for the next try and raise `UserError`.

        On a full disk the reserve is given up for them, and `is_tight` says so.
        """
        if not self._pending:
            return
        try:
            self._write()
        except DiskFullError:
            if not self._reserves or not self._reserves[0].use():
                raise
            self.is_tight = True
            self._write()

    def _write(self) -> None:
        was_torn, self._is_torn = self._is_torn, True
        with self._writing():
            if was_torn:
                # A second Ctrl-C may have come at any step of the last write, also when it was done but for what follows the block.
                ((last,),) = self._db.execute("SELECT COALESCE(MAX(sequence), 0) FROM records")
                self._pending = [row for row in self._pending if row[0] > last]
            # Many rows in one statement take a quarter less time than each in its own.
            together = len(self._pending) - len(self._pending) % _ROWS_TOGETHER
            for first in range(0, together, _ROWS_TOGETHER):
                rows = self._pending[first : first + _ROWS_TOGETHER]
                self._db.execute(_INSERT_TOGETHER, tuple(itertools.chain.from_iterable(rows)))
            self._db.executemany(_INSERT, self._pending[together:])
        self._pending.clear()
        self._is_torn = False

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
            if self._is_full(error):
                raise DiskFullError(
                    f"the disk of the journal {self._path} is full",
                    "what was measured is kept, and running trials are stopped; they go on at a resume",
                    "make room, then resume",
                ) from error
            raise UserError(
                f"cannot write the journal {self._path}",
                f"{error}; everything recorded before is kept, and running trials are stopped",
                "make room or mend the folder, then resume",
            ) from error

    def _is_full(self, error: sqlite3.Error) -> bool:
        """Return whether an error says that the disk is full; some say only what could not be written."""
        code = getattr(error, "sqlite_errorcode", None)
        unwritten = code in (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
        return code == sqlite3.SQLITE_FULL or (unwritten and (free_bytes(self._path) or 0) < RESERVE_BYTES)

    def records(self, after: int = 0) -> Iterator[Record]:
        """Yield the committed records after one, older forms as they would be written today; raises `UserError` where damaged."""
        current = self._version == SCHEMA_VERSION
        try:
            rows = self._db.execute("SELECT sequence, at, kind, body FROM records WHERE sequence > ? ORDER BY sequence", (after,))
            while batch := rows.fetchmany(_READ_BATCH):
                # Decoding many bodies at once spares the cost of a call for each.
                try:
                    bodies = strict_json.loads(f"[{','.join([row[3] for row in batch])}]")
                except (TypeError, ValueError) as error:
                    # Pages that were not copied, or are those of another file, can look like rows.
                    raise self._unread(error) from error
                for (sequence, at, kind, _), body in zip(batch, bodies, strict=True):
                    yield Record(sequence, at, kind, body if current else upgraded(self._version, kind, body))
        except sqlite3.Error as error:
            raise self._unread(error) from error

    def _unread(self, error: Exception) -> UserError:
        advice = "the file is damaged: take it from a backup, or use another tag"
        return UserError(f"cannot read the journal {self._path}", str(error), advice)

    def latest(self, kind: str, count: int) -> list[Record]:
        """Return the latest committed records of a kind, at most so many, the latest first."""
        query = "SELECT sequence, at, kind, body FROM records WHERE kind = ? ORDER BY sequence DESC LIMIT ?"
        try:
            rows = self._db.execute(query, (kind, count)).fetchall()
        except sqlite3.Error as error:
            raise self._unread(error) from error
        bodies = [strict_json.loads(row[3]) for row in rows]
        if self._version != SCHEMA_VERSION:
            bodies = [upgraded(self._version, kind, body) for body in bodies]
        return [Record(row[0], row[1], kind, body) for row, body in zip(rows, bodies, strict=True)]

    def last(self) -> Record | None:
        """Return the last committed record; None where there is none."""
        try:
            kind = self._db.execute("SELECT kind FROM records ORDER BY sequence DESC LIMIT 1").fetchone()
        except sqlite3.Error as error:
            raise self._unread(error) from error
        return None if kind is None else self.latest(kind[0], 1)[0]

    def begin_session(self, session: ControllerSession) -> None:
        """Record, on disk at once, that a controller started; raises `UserError` where the file cannot be written."""
        with self._writing():
            self._db.execute("INSERT INTO sessions VALUES (?, ?, ?)", (session.after, session.last_at, session.started_at))

    def sessions(self) -> list[ControllerSession]:
        """Return the controllers that wrote here, the earliest first."""
        return [ControllerSession(*row) for row in self._db.execute("SELECT after, last_at, started_at FROM sessions ORDER BY rowid")]

    def close(self) -> None:
        """Commit what is pending and close the file; where it cannot be written, close it all the same and raise `UserError`."""
        try:
            self.commit()
        except DiskFullError:
            # Nothing runs any more that could take this room.
            self._reserves[-1].use()
            self._write()
        finally:
            self._release()
            for reserve in self._reserves:
                reserve.close()

    def _release(self) -> None:
        self._db.close()
        self._closing.close()


def _text(body: Mapping[str, Any]) -> str:
    text = strict_json.dumps(body)
    # A script may report half a character (a lone surrogate), which no file can hold; as an escape it comes back as it was.
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def latest_records(path: Path, kind: str, count: int = 1) -> list[Record]:
    """Return the latest records of a kind in a journal, the latest first; raises `UserError` where it cannot be read."""
    if is_being_made(path):
        return []
    with contextlib.closing(SqliteJournal(path, read_only=True)) as journal:
        return journal.latest(kind, count)


def latest_record(path: Path) -> Record | None:
    """Return the last record of a journal; None where there is no journal, or none in it; raises `UserError` where it cannot be read."""
    if not path.is_file() or is_being_made(path):
        return None
    with contextlib.closing(SqliteJournal(path, read_only=True)) as journal:
        return journal.last()


def has_records(path: Path) -> bool:
    """Return whether a journal exists and holds anything."""
    if not path.is_file():
        return False
    try:
        with contextlib.closing(SqliteJournal(path, read_only=True)) as journal:
            return next(journal.records(), None) is not None
    except UserError:
        return True  # what cannot be read must not be overwritten
