"""When records go, that each number is written once, and who finds out that it is not his any more."""

from __future__ import annotations

import pytest

from benchmarking.controller.journal import ControllerSession
from benchmarking.remote.layout import segment_key
from benchmarking.remote.shipping import Shipper, ShippingPace, TakenOverError, UnreachableJournalError
from definitions.errors import EXIT_CLOUD, EXIT_TAKEN_OVER
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.remote.remote_lab import EXPERIMENT, ONE, TWO, Clock, rows_of, segments_in, shipper_of


def test_records_wait_ten_seconds_or_for_256_of_them():
    store, clock = MemoryStore(), Clock()
    shipper = shipper_of(store, clock=clock)
    assert shipper.due_s() is None
    shipper.add(rows_of(1))
    clock.now += 4.0
    shipper.add(rows_of(2))
    assert shipper.due_s() == 6.0
    shipper.add(rows_of(*range(3, 257)))
    assert shipper.due_s() == 0.0
    shipper.ship()
    assert shipper.due_s() is None
    assert [(one.number, one.first, one.last, one.writer) for one in segments_in(store)] == [(1, 1, 256, ONE)]


def test_the_thread_ships_what_is_due_and_sleeps_when_nothing_is():
    store, clock = MemoryStore(), Clock()
    shipper = shipper_of(store, clock=clock)
    shipper.add(rows_of(1, 2), (ControllerSession(0, 1.0, 2.0),))
    rounds = iter([False, False, False, True])
    shipper.run(lambda: next(rounds))
    assert clock.waits == [10.0, None]
    (segment,) = segments_in(store)
    assert (segment.rows, segment.sessions) == (rows_of(1, 2), (ControllerSession(0, 1.0, 2.0),))


def test_many_records_become_several_segments():
    store = MemoryStore()
    shipper = shipper_of(store)
    shipper.add(rows_of(*range(1, 5001)))
    shipper.ship()
    assert [(one.first, one.last) for one in segments_in(store)] == [(1, 4096), (4097, 5000)]


def test_a_write_that_was_not_answered_is_repeated_as_it_was():
    store, clock = MemoryStore(), Clock()
    answers = iter(["unanswered", "refused"])
    store.failing = lambda operation, key: next(answers, "") if operation == "create" else ""
    shipper = shipper_of(store, clock=clock)
    shipper.add(rows_of(1))
    shipper.ship()
    shipper.add(rows_of(2))
    shipper.ship()
    assert store.calls["create"] == 4
    assert clock.waits == [0.5, 1.0]
    assert [one.rows for one in segments_in(store)] == [rows_of(1), rows_of(2)]


def test_records_that_come_while_one_is_written_go_into_the_next():
    store = MemoryStore()
    shipper = shipper_of(store)
    shipper.add(rows_of(1))

    def meanwhile(operation, key):
        if key.endswith("1"):
            shipper.add(rows_of(2))
        return ""

    store.failing = meanwhile
    shipper.ship()
    assert [one.rows for one in segments_in(store)] == [rows_of(1), rows_of(2)]
    assert shipper.taken == 2


def test_an_interrupt_at_any_write_leaves_no_gap_and_nothing_twice():
    store = MemoryStore()
    shipper = shipper_of(store)
    for number in range(1, 5):
        shipper.add(rows_of(number), [ControllerSession(number, 0.0, 0.0)])

        def interrupted(operation, key):
            raise KeyboardInterrupt

        store.failing = interrupted
        with pytest.raises(KeyboardInterrupt):
            shipper.ship()
        if number % 2:
            store.failing = lambda operation, key: ""
            shipper.ship()
    store.failing = lambda operation, key: ""
    shipper.ship()
    found = segments_in(store)
    assert sum((one.rows for one in found), ()) == rows_of(1, 2, 3, 4)
    assert [session.after for one in found for session in one.sessions] == [1, 2, 3, 4]


def test_who_was_frozen_finds_the_number_taken_and_writes_nothing_any_more():
    store, woken = MemoryStore(), []
    old, new = shipper_of(store), shipper_of(store, TWO, shipped=1, last=1)
    old.lost = lambda: woken.append(True)
    old.add(rows_of(1))
    old.ship()
    new.fence()
    before = dict(store.objects)
    old.add(rows_of(2, kind="start"))
    with pytest.raises(TakenOverError, match=r"another controller \(1, generation 2\) is at work") as caught:
        old.ship()
    assert (caught.value.exit_code, woken) == (EXIT_TAKEN_OVER, [True])
    with pytest.raises(TakenOverError):
        old.ship()
    assert store.objects == before
    assert [one.writer for one in segments_in(store)] == [ONE, TWO]


def test_a_store_that_takes_nothing_for_five_minutes_is_left_to_somebody_else():
    store, clock = MemoryStore(), Clock()
    store.failing = lambda operation, key: "refused"
    shipper = shipper_of(store, clock=clock)
    shipper.add(rows_of(1))
    with pytest.raises(UnreachableJournalError, match=segment_key(EXPERIMENT, 1)) as caught:
        shipper.ship()
    assert caught.value.exit_code == EXIT_CLOUD
    assert 285.0 <= clock.now - 1000.0 <= 300.0
    assert shipper.error is caught.value


def test_a_store_that_denies_for_want_of_a_permission_is_asked_once():
    store, clock = MemoryStore(), Clock()
    store.failing = lambda operation, key: "denied"
    shipper = shipper_of(store, clock=clock)
    shipper.add(rows_of(1))
    with pytest.raises(UnreachableJournalError, match="tried once") as caught:
        shipper.ship()
    assert caught.value.is_denied
    assert (clock.now, store.calls["create"]) == (1000.0, 1)


def test_whoever_waits_for_what_is_due_is_woken_by_the_256th_record_and_not_before():
    woken = []

    def wait(event, seconds):
        woken.append((seconds, event.is_set()))
        if len(woken) == 1:
            shipper.add(rows_of(*range(2, 256)))
            woken.append((seconds, event.is_set()))
            shipper.add(rows_of(256))
            woken.append((seconds, event.is_set()))

    shipper = Shipper(MemoryStore(), EXPERIMENT, ONE, 0, 0, ShippingPace(lambda: 1000.0, wait))
    shipper.add(rows_of(1))
    rounds = iter([False, False, False, True])
    shipper.run(lambda: next(rounds))
    assert woken == [(10.0, False), (10.0, False), (10.0, True), (None, False)]
