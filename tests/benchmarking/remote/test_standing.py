"""How a launched run stands, by one listing and one read of each last word."""

from __future__ import annotations

import json

import pytest

from backends.stop_mark import StopMark, leave
from benchmarking.remote.controller_word import ControllerState, ControllerWord, Restart, as_bytes
from benchmarking.remote.generations import claim_generation
from benchmarking.remote.layout import controller_live_key, live_key, segment_key
from benchmarking.remote.standing import SeenJob, look_at, stands
from definitions.errors import UserError
from tests.backends.memory_store import MemoryStore

A, B = "toy/RS-sagemaker-0", "toy/RS-sagemaker-1"


def word(state=ControllerState.RUNNING, generation=1, **rest):
    return ControllerWord(1, generation, "ctl-1", 1240.0, state, **rest)


@pytest.mark.parametrize(
    ("said", "silent_s", "status", "expected"),
    [
        (word(), 80.0, "InProgress", ("running", True)),
        (word(), 185.0, "InProgress", ("silent for 3 min 5 s, job in progress", True)),
        (word(), 185.0, "", ("silent for 3 min 5 s, what its job does is not known", True)),
        (word(), 20.0, "Failed", ("its job is failed; it last said running", False)),
        (word(), 20.0, "Stopped", ("its job is stopped; it last said running", False)),
        (word(ControllerState.INTERRUPTED, why="spot"), 20.0, "InProgress", ("interrupted: spot", True)),
        (word(ControllerState.HANDED_OVER), 900.0, "Completed", ("handed over", True)),
        (word(ControllerState.FAILED, why="3 restarts"), 9000.0, "Failed", ("failed: 3 restarts", False)),
        (word(ControllerState.ENDED), 9000.0, "Completed", ("ended", False)),
    ],
)
def test_a_word_that_is_old_is_not_running(said, silent_s, status, expected):
    assert stands(said, silent_s, SeenJob(status)) == expected


def run_store(now=1000.0):
    store = MemoryStore(now=lambda: now)
    claim_generation(store, "n", 1, 1, "ctl-1", now)
    store.put(segment_key(A, 1), b"x")
    store.put(segment_key(B, 1), b"x")
    store.put(live_key(A), json.dumps({"standing": "running", "in_flight": 2, "seed": 0}).encode())
    # The clock of the instance is four minutes ahead, which says nothing of how old the word is.
    said = word(seconds_left=3600.0, restarts=(Restart(1200.0, "killed"),))
    store.put(controller_live_key(1), as_bytes(said))
    return store


def test_one_listing_and_one_read_of_each_last_word_whatever_the_number_of_segments():
    store = run_store()
    for number in range(2, 400):
        store.put(segment_key(A, number), b"x")
    store.calls.clear()
    run = look_at(store, 1060.0, lambda name: SeenJob("InProgress"))
    assert (store.calls["list"], store.calls["get"]) == (1, 2)
    (controller,) = run.controllers
    assert (controller.state, controller.silent_s, controller.seconds_left, controller.restarts) == ("running", 60.0, 3540.0, ("killed",))
    assert [(one.name, one.state) for one in run.experiments] == [(A, "running"), (B, "waiting")]
    assert run.is_over_unfinished == ""
    assert run.mark is None


def test_what_nobody_is_at_work_on_is_said_first_unless_it_is_finished():
    store = run_store()
    run = look_at(store, 1060.0, lambda name: SeenJob("Failed"))
    assert run.is_over_unfinished == "controller 1, generation 1: its job is failed; it last said running"
    assert [one.state for one in run.experiments] == ["left", "not started"]
    for name in (A, B):
        store.put(live_key(name), json.dumps({"standing": "finished"}).encode())
    assert look_at(store, 1060.0, lambda name: SeenJob("Completed")).is_over_unfinished == ""


def test_a_generation_that_is_claimed_and_has_said_nothing_is_about_to_work():
    store = run_store()
    claim_generation(store, "n", 1, 2, "ctl-2", 1100.0)
    run = look_at(store, 5000.0, lambda name: SeenJob("InProgress"))
    assert [(one.generation, one.state, one.is_alive) for one in run.controllers] == [(2, "claimed, and has said nothing yet", True)]
    assert [(one.job, one.job_status) for one in run.controllers] == [("ctl-2", "InProgress")]


@pytest.mark.parametrize(
    ("job", "now", "expected"),
    [
        (
            SeenJob("Failed", "CapacityError: none left"),
            1060.0,
            ("its job is failed: CapacityError: none left; it has said nothing", False),
        ),
        (SeenJob("Stopped"), 1060.0, ("its job is stopped; it has said nothing", False)),
        (SeenJob(is_there=False), 1060.0, ("claimed, and has said nothing yet", True)),
        (SeenJob(is_there=False), 1240.0, ("claimed 4 min 0 s ago, and its job was never created", False)),
        (SeenJob(), 9000.0, ("claimed, and has said nothing yet", True)),
    ],
)
def test_one_that_ended_before_its_first_word_is_at_work_no_more(job, now, expected):
    store = MemoryStore(now=lambda: 1000.0)
    claim_generation(store, "n", 1, 1, "ctl-1", "")
    store.put(segment_key(A, 1), b"x")
    (controller,) = look_at(store, now, lambda name: job).controllers
    assert (controller.state, controller.is_alive) == expected


def test_why_a_job_failed_is_said_with_its_last_word():
    failed = SeenJob("Failed", "ClientError: out of disk")
    assert stands(word(), 20.0, failed) == ("its job is failed: ClientError: out of disk; it last said running", False)


def test_a_mark_is_shown_and_is_no_run_by_itself():
    store = run_store()
    leave(store, StopMark(5.0, "ann"))
    assert look_at(store, 1060.0, lambda name: SeenJob("Stopping")).mark == StopMark(5.0, "ann")
    alone = MemoryStore()
    leave(alone, StopMark(5.0, "ann"))
    with pytest.raises(UserError, match="there is no run"):
        look_at(alone, 1060.0, lambda name: SeenJob(""))


@pytest.mark.parametrize(
    ("left_s", "status", "expected"),
    [(3600.0, "InProgress", 3540.0), (10.0, "InProgress", 0.0), (3600.0, "Failed", None), (None, "InProgress", None)],
)
def test_who_is_not_at_work_has_no_time_left_and_nobody_has_time_that_was_not_told(left_s, status, expected):
    store = run_store()
    store.put(controller_live_key(1), as_bytes(word(seconds_left=left_s)))
    assert look_at(store, 1060.0, lambda name: SeenJob(status)).controllers[0].seconds_left == expected
