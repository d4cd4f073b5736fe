"""A journal that is not there in whole yet."""

import contextlib
import sqlite3

from benchmarking.controller.journal_versions import is_being_made
from benchmarking.controller.sqlite_journal import SqliteJournal, latest_record, latest_records


def test_a_journal_that_another_process_is_making_has_no_record_yet(tmp_path):
    path = tmp_path / "journal.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        assert is_being_made(path)
        assert (latest_record(path), latest_records(path, "code")) == (None, [])
    SqliteJournal(path).close()
    assert not is_being_made(path)
