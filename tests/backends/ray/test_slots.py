"""When room is asked for, kept and given back; no cluster is asked."""

from __future__ import annotations

from backends.ray.slots import KEEP_S, MOST_ASKED, Slot, SlotFailed, SlotReady, key_of
from tests.backends.ray.fakes import Desk

SMALL, LARGE = key_of({"CPU": 1.0}), key_of({"GPU": 1.0, "CPU": 4.0})


def test_a_thousand_jobs_ask_for_a_few_slots():
    desk = Desk()
    desk.book.ask([SMALL] * 1000)
    assert len(desk.asked) == MOST_ASKED
    desk.book.ask([SMALL] * 999)
    assert len(desk.asked) == MOST_ASKED


def test_many_that_wait_for_gpus_keep_nobody_from_cores():
    desk = Desk()
    desk.book.ask([LARGE] * 40)
    desk.book.ask([*[LARGE] * 40, SMALL, SMALL])
    assert [slot.key for slot in desk.asked].count(SMALL) == 2
    desk.book.ask([*[LARGE] * 40, SMALL, SMALL])
    assert [slot.key for slot in desk.asked].count(LARGE) == MOST_ASKED
    assert desk.given_back == []


def test_what_is_promised_is_what_is_asked_for_and_what_waits_for_its_next_job():
    desk = Desk()
    desk.book.ask([SMALL, SMALL, LARGE])
    desk.ready("node-1", number=0, now=1.0)
    assert desk.book.promised() == {"CPU": 6.0, "GPU": 1.0}
    desk.book.take(SMALL)
    assert desk.book.promised() == {"CPU": 5.0, "GPU": 1.0}


def test_a_slot_is_one_jobs_at_a_time_and_kept_for_the_next():
    desk = Desk()
    desk.book.ask([SMALL])
    slot = desk.ready("node-1", now=10.0)
    assert desk.book.take(LARGE) is None
    assert desk.book.take(SMALL) is slot
    assert desk.book.take(SMALL) is None
    desk.book.free(slot, 20.0)
    assert desk.book.tidy(20.5, is_wanted=False) == 20.0 + KEEP_S
    assert desk.book.take(SMALL) is slot
    assert desk.given_back == []


def test_a_free_slot_is_given_back_in_time_and_at_once_where_others_are_waited_for():
    desk = Desk()
    desk.book.ask([SMALL])
    first = desk.ready("node-1", now=10.0)
    assert desk.book.tidy(10.0 + KEEP_S, is_wanted=False) is None
    assert desk.given_back == [first]
    desk.book.ask([SMALL])
    second = desk.ready("node-1", now=30.0)
    desk.book.tidy(30.0, is_wanted=True)
    assert desk.given_back == [first, second]


def test_what_nobody_waits_for_any_more_is_taken_back():
    desk = Desk()
    desk.book.ask([SMALL, LARGE])
    desk.book.ask([LARGE])
    assert [slot.key for slot in desk.given_back] == [SMALL]
    desk.book.hear(SlotReady(desk.given_back[0]), 1.0)
    assert desk.book.take(SMALL) is None


def test_a_slot_that_failed_is_asked_for_again_and_those_of_a_lost_node_are_gone():
    desk = Desk()
    desk.book.ask([SMALL])
    desk.book.hear(SlotFailed(desk.asked[0]), 1.0)
    assert desk.given_back == [desk.asked[0]]
    desk.book.ask([SMALL])
    assert len(desk.asked) == 2
    second = desk.ready("node-1", now=2.0)
    desk.book.lose("node-1")
    assert desk.book.take(SMALL) is None
    desk.book.close()
    assert desk.given_back == [desk.asked[0], second]


def test_where_the_room_is_gone_all_is_forgotten_and_asked_for_anew_and_no_job_frees_what_is_not_there():
    desk = Desk()
    desk.book.ask([SMALL, SMALL])
    busy = desk.ready("node-1", number=0)
    assert desk.book.take(SMALL) is busy
    desk.book.ask([SMALL, SMALL])
    desk.ready("node-2", number=1)
    assert desk.book.lose_all() == 1
    desk.book.free(busy, 5.0)
    assert desk.book.take(SMALL) is None
    before = len(desk.asked)
    desk.book.ask([SMALL])
    assert len(desk.asked) == before + 1


def test_what_two_jobs_had_one_after_the_other_is_taken_in_and_given_back_once():
    desk = Desk()
    slot = Slot(SMALL, None, ("node-1",))
    desk.book.adopt(slot)
    desk.book.adopt(slot)
    assert desk.book.lose_all() == 1
    assert desk.given_back == [slot]
