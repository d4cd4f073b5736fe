"""A journal that says the same here and in the store, intents first."""

from __future__ import annotations

import pytest

from benchmarking.controller.journal import ControllerSession, DiskFullError
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.remote.segment_journal import SegmentJournal
from benchmarking.remote.shipping import TakenOverError
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.remote.remote_lab import TWO, restored, rows_in, segments_in, shipper_of


@pytest.fixture
def store():
    return MemoryStore()


def opened(store, folder, **options):
    return SegmentJournal(SqliteJournal(folder / "journal.sqlite"), shipper_of(store, **options), 0, start=lambda thread: None)


def test_an_intent_is_there_when_the_commit_returns_with_all_before_it(store, tmp_path):
    journal = opened(store, tmp_path)
    journal.append(1.0, "suggest", {"x": 1})
    journal.commit()
    assert store.calls["create"] == 0
    journal.append(2.0, "start", {"job": "a"})
    assert store.calls["create"] == 0
    journal.commit()
    assert [[row[2] for row in one.rows] for one in segments_in(store)] == [["suggest", "start"]]
    journal.append(3.0, "reported", {})
    journal.commit()
    journal.append(4.0, "stop", {"job": "a"})
    journal.commit()
    assert [[row[2] for row in one.rows] for one in segments_in(store)] == [["suggest", "start"], ["reported", "stop"]]
    journal.close()


def test_closing_ships_the_rest_and_a_restore_gives_the_same_rows(store, tmp_path):
    journal = opened(store, tmp_path)
    for number in range(300):
        journal.append(0.1 * number, "reported", {"n": number, "x": float("nan"), "t": "\udc80"})
    journal.begin_session(ControllerSession(7, 1.0, 2.0))
    journal.close()
    assert restored(store, tmp_path / "new").last == 300
    assert rows_in(tmp_path / "new") == rows_in(tmp_path)
    again = SqliteJournal(tmp_path / "new" / "journal.sqlite")
    assert again.sessions() == [ControllerSession(7, 1.0, 2.0)]
    again.close()


def test_what_was_there_before_it_had_a_store_is_shipped_too(store, tmp_path):
    local = SqliteJournal(tmp_path / "journal.sqlite")
    local.append(1.0, "suggest", {})
    local.begin_session(ControllerSession(0, 0.0, 1.0))
    local.close()
    opened(store, tmp_path).close()
    (segment,) = segments_in(store)
    assert ([row[2] for row in segment.rows], len(segment.sessions)) == (["suggest"], 1)


def test_one_that_is_taken_over_says_so_at_the_next_commit_and_writes_nothing_more(store, tmp_path):
    woken = []
    journal = opened(store, tmp_path)
    journal.when_lost(lambda: woken.append(True))
    journal.append(1.0, "start", {})
    journal.commit()
    shipper_of(store, TWO, shipped=1, last=1).fence()
    journal.append(2.0, "stop", {})
    with pytest.raises(TakenOverError):
        journal.commit()
    assert woken == [True]
    journal.append(3.0, "reported", {})  # nor what would wait for others
    with pytest.raises(TakenOverError):
        journal.commit()
    journal.close()
    assert store.calls["create"] == 3
    assert [one.writer.generation for one in segments_in(store)] == [1, 2]


def test_what_an_interrupt_kept_from_being_taken_goes_with_the_next(store, tmp_path, monkeypatch):
    journal = opened(store, tmp_path)
    journal.append(1.0, "suggest", {})

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("benchmarking.remote.shipping.Shipper.add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.commit()
    journal.append(2.0, "start", {})
    journal.commit()
    assert [row[0] for one in segments_in(store) for row in one.rows] == [1, 2]
    with monkeypatch.context() as patched:
        patched.setattr("benchmarking.remote.shipping.Shipper.add", interrupted)
        journal.append(3.0, "suggest", {})
        with pytest.raises(KeyboardInterrupt):
            journal.commit()
    journal.append(4.0, "end", {})
    journal.close()
    assert [row[0] for one in segments_in(store) for row in one.rows] == [1, 2, 3, 4]


def test_on_a_full_disk_the_last_records_get_to_the_store_all_the_same(store, tmp_path, monkeypatch):
    journal = opened(store, tmp_path)

    def full(self):
        raise DiskFullError("full")

    monkeypatch.setattr(SqliteJournal, "commit", full)
    journal.append(1.0, "closed", {})
    with pytest.raises(DiskFullError):
        journal.commit()
    assert store.objects == {}
    monkeypatch.setattr(SqliteJournal, "_write", full)
    with pytest.raises(DiskFullError):
        journal.close()
    assert [row[2] for one in segments_in(store) for row in one.rows] == ["closed"]
