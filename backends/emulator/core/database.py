"""What outlives a killed emulator: an SQLite file of its folder, and the jobs in it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from backends.emulator.core.private import private_file
from definitions.errors import UserError

JOBS_SCHEMA = "CREATE TABLE IF NOT EXISTS jobs (name TEXT PRIMARY KEY, number INTEGER, data TEXT);"

FORMAT = 1
"""Of the tables; 0 is what was written before there was a number, and is read as it is."""
_OTHER_FOLDER = "give the emulator another folder, or use the Outrider that wrote it"


class Database:
    """An SQLite file that several threads share.

    Args:
        path: the file; `schema`: statements that create its tables where they are missing.
        synchronous: SQLite's word for what it survives: `OFF` the process's death, `NORMAL` the machine's.

    Raises:
        UserError: the file is none of ours, or one of a later Outrider; it is left as it is.
    """

    def __init__(self, path: Path, schema: str, synchronous: str = "OFF") -> None:
        self.lock = threading.RLock()
        private_file(path)  # SQLite gives the files beside it the same rights
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        try:
            (found,) = self._connection.execute("PRAGMA user_version").fetchone()
            if found <= FORMAT:
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute(f"PRAGMA synchronous={synchronous}")
                self._connection.executescript(f"{schema}PRAGMA user_version = {FORMAT};")
        except sqlite3.Error as error:
            self._connection.close()
            raise UserError(f"cannot open {path} of the emulator's folder", str(error), _OTHER_FOLDER) from None
        if found > FORMAT:
            self._connection.close()
            what = f"it has format {found}, this Outrider knows {FORMAT}; nothing was changed"
            raise UserError(f"{path} was written by the emulator of a later Outrider", what, _OTHER_FOLDER)

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""
        with self.lock:
            return self._connection.execute(statement, values).fetchall()

    def run_all(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement with each row's values, in one transaction: for all of them or for none."""
        with self.lock:
            if len(rows) == 1:
                self._connection.execute(statement, rows[0])
                return
            with self.transaction():
                self._connection.executemany(statement, rows)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Do what is inside alone, for other threads and for other processes that have the file open; all of it or nothing."""
        with self.lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            self._connection.close()


class JobStore:
    """Jobs by name, each as one JSON value; one that cannot be written (full disk) is kept in memory and `failed_writes` counts it.

    Args:
        database: with the table of `JOBS_SCHEMA`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.failed_writes = 0

    def load(self) -> list[dict[str, Any]]:
        """Return all jobs in the order of their creation."""
        return [json.loads(row[0]) for row in self._database.run("SELECT data FROM jobs ORDER BY number")]

    def save(self, name: str, number: int, data: dict[str, Any]) -> None:
        """Write a job; `number` orders jobs by creation."""
        try:
            self._database.run("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?)", (name, number, json.dumps(data, separators=(",", ":"))))
        except sqlite3.OperationalError:
            self.failed_writes += 1

    def delete(self, name: str) -> None:
        """Forget a job."""
        self._database.run("DELETE FROM jobs WHERE name = ?", (name,))
