"""From segments to a journal: all of it, more of it, or nothing with a reason."""

from __future__ import annotations

import pytest

from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.remote.layout import segment_key
from benchmarking.remote.restored import NAME, read_restored
from definitions.errors import UserError
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.remote.remote_lab import EXPERIMENT, restored, rows_in, rows_of, shipper_of


@pytest.fixture
def store():
    """Five segments of two records each."""
    found = MemoryStore()
    shipper = shipper_of(found)
    for first in range(1, 11, 2):
        shipper.add(rows_of(first, first + 1))
        shipper.ship()
    return found


def more(store, shipped=5, last=10, *sequences):
    shipper = shipper_of(store, shipped=shipped, last=last)
    shipper.add(rows_of(*sequences))
    shipper.ship()


def test_what_is_new_is_added_and_nothing_is_fetched_twice(store, tmp_path):
    assert restored(store, tmp_path).last == 10
    assert rows_in(tmp_path) == rows_of(*range(1, 11))
    more(store, 5, 10, 11)
    store.asked.clear()
    restored(store, tmp_path)
    assert [key[-1] for operation, key in store.asked if operation == "get"] == ["7", "6"]  # whether there is a seventh, and the sixth
    assert rows_in(tmp_path) == rows_of(*range(1, 12))
    store.asked.clear()
    restored(store, tmp_path)
    assert [operation for operation, _ in store.asked] == ["list", "get"]
    # Readers of the file may leave the two beside it.
    assert {path.name for path in tmp_path.iterdir()} - {"journal.sqlite-shm", "journal.sqlite-wal"} == {NAME, "journal.sqlite"}


def test_a_missing_segment_is_named_and_nothing_is_changed(store, tmp_path):
    before = restored(store, tmp_path)
    more(store, 5, 10, 11)
    more(store, 6, 11, 12)
    store.delete([segment_key(EXPERIMENT, 6)])
    with pytest.raises(UserError, match=f"{segment_key(EXPERIMENT, 6)} is missing, and the journal goes on to segment 7"):
        restored(store, tmp_path)
    assert (read_restored(tmp_path), rows_in(tmp_path)) == (before, rows_of(*range(1, 11)))
    store.delete([segment_key(EXPERIMENT, number) for number in (2, 3, 4, 5)])
    with pytest.raises(UserError, match="00000004 and more are missing"):
        restored(store, tmp_path / "new")
    assert not (tmp_path / "new" / "journal.sqlite").exists()


def test_a_listing_that_lags_hides_nothing(store, tmp_path):
    store.hidden |= {segment_key(EXPERIMENT, 2), segment_key(EXPERIMENT, 4), segment_key(EXPERIMENT, 5)}
    assert restored(store, tmp_path).last == 10


def test_a_torn_or_longer_file_does_not_matter(store, tmp_path):
    restored(store, tmp_path)
    journal = SqliteJournal(tmp_path / "journal.sqlite")
    journal.append(99.0, "closed", {"never": "shipped"})
    journal.close()
    restored(store, tmp_path)
    assert rows_in(tmp_path) == rows_of(*range(1, 11))
    (tmp_path / "journal.sqlite").write_bytes(b"SQLite format 3\0 and no more")
    (tmp_path / "journal.sqlite-wal").write_bytes(b"old")
    restored(store, tmp_path)
    assert rows_in(tmp_path) == rows_of(*range(1, 11))
    (tmp_path / NAME).write_text("{}")
    restored(store, tmp_path)
    assert rows_in(tmp_path) == rows_of(*range(1, 11))


def test_what_was_measured_here_and_is_not_there_is_kept_where_one_asks_for_it(store, tmp_path):
    journal = SqliteJournal(tmp_path / "journal.sqlite")
    journal.extend(rows_of(*range(1, 13)))
    journal.close()
    with pytest.raises(UserError, match="holds 12 records, and s3://bucket/outrider/runs/t 10 of this"):
        restored(store, tmp_path, keep_longer=True)
    assert rows_in(tmp_path) == rows_of(*range(1, 13))
    restored(store, tmp_path)
    assert rows_in(tmp_path) == rows_of(*range(1, 11))


def test_of_another_run_all_is_fetched_anew(store, tmp_path):
    restored(store, tmp_path)
    other = MemoryStore("s3://bucket/other/runs/t")
    more(other, 0, 0, 1, 2, 3)
    restored(other, tmp_path)
    assert (read_restored(tmp_path).uri, rows_in(tmp_path)) == ("s3://bucket/other/runs/t", rows_of(1, 2, 3))


def test_a_segment_that_does_not_follow_is_damaged(store, tmp_path):
    store.objects[segment_key(EXPERIMENT, 3)] = store.objects[segment_key(EXPERIMENT, 4)]
    with pytest.raises(UserError, match="00000003 is damaged\n  it says that it is number 4"):
        restored(store, tmp_path)
    more(store, 5, 20, 21)
    del store.objects[segment_key(EXPERIMENT, 3)]
    store.objects.pop(segment_key(EXPERIMENT, 4))
    more(store, 2, 4, *range(5, 7))
    more(store, 3, 6, 7, 8)
    with pytest.raises(UserError, match="00000006 is damaged\n  it begins with record 21, and the one before it ended with 10"):
        restored(store, tmp_path)


def test_what_a_listing_does_not_show_yet_right_after_what_is_here_is_fetched(store, tmp_path):
    restored(store, tmp_path)
    more(store, 5, 10, 11)
    more(store, 6, 11, 12)
    store.hidden = {segment_key(EXPERIMENT, 6)}
    assert restored(store, tmp_path).last == 12
    assert rows_in(tmp_path) == rows_of(*range(1, 13))
