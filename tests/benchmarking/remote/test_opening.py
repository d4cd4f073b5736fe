"""Who opens a journal has it alone, from what the segments say."""

from __future__ import annotations

import pytest

from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.remote.opening import open_journal
from benchmarking.remote.restored import read_restored
from benchmarking.remote.shipping import TakenOverError
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.remote.remote_lab import EXPERIMENT, ONE, TWO, Clock, rows_of, segments_in

pytestmark = pytest.mark.filterwarnings("error")


def opened(store, folder, writer):
    folder.mkdir(exist_ok=True)
    return open_journal(store, folder, EXPERIMENT, writer, Clock().pace)


def test_the_next_one_goes_on_elsewhere_and_the_first_is_shut_out(tmp_path):
    store = MemoryStore()
    first = opened(store, tmp_path / "a", ONE)
    assert store.calls["create"] == 0  # nobody can have begun it
    first.append(1.0, "suggest", {"n": 1})
    first.append(2.0, "start", {"n": 2})
    first.commit()
    second = opened(store, tmp_path / "b", TWO)
    assert [record.kind for record in second.records()] == ["suggest", "start"]
    first.append(3.0, "stop", {})
    with pytest.raises(TakenOverError):
        first.commit()
    first.close()
    second.append(3.0, "end", {})
    second.close()
    assert [(one.writer.token, len(one.rows)) for one in segments_in(store)] == [(ONE.token, 2), (TWO.token, 0), (TWO.token, 1)]


def test_two_that_begin_at_once_are_one(tmp_path):
    store = MemoryStore()
    first, second = opened(store, tmp_path / "a", ONE), opened(store, tmp_path / "b", TWO)
    for journal in (first, second):
        journal.append(1.0, "start", {})
    second.commit()
    with pytest.raises(TakenOverError):
        first.commit()
    first.close()
    second.close()


def test_what_one_did_not_ship_is_forgotten_at_its_own_restart(tmp_path):
    store = MemoryStore()
    journal = opened(store, tmp_path / "a", ONE)
    journal.append(1.0, "start", {})
    journal.commit()
    store.failing = lambda operation, key: "refused" if operation == "create" else ""
    journal.append(2.0, "closed", {})
    journal.commit()
    with pytest.raises(Exception, match="cannot be written"):
        journal.close()
    store.failing = lambda operation, key: ""
    again = opened(store, tmp_path / "a", TWO)
    assert [record.kind for record in again.records()] == ["start"]
    again.close()
    assert read_restored(tmp_path / "a").number == 0


def test_a_run_of_this_machine_can_be_one_with_a_store_later(tmp_path):
    local = SqliteJournal(tmp_path / "journal.sqlite")
    local.extend(rows_of(1, 2))
    local.close()
    store = MemoryStore()
    opened(store, tmp_path, ONE).close()
    assert [one.rows for one in segments_in(store)] == [rows_of(1, 2)]
