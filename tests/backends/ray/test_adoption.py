"""What becomes of the jobs of an earlier controller; no cluster is asked."""

from __future__ import annotations

import json

import pytest

from backends.adopted import AdoptedJob
from backends.events import Accepted, Closed, Ended, Reported, Restarted, Started
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.ray.adoption import Fate, end_of, ends_with_controller, fate_of, going_on, places_of
from backends.ray.nodes import LeftAgent
from backends.ray.parts import JobParts
from backends.ray.slots import Slot, key_of


def job(count: int = 1, **fields) -> AdoptedJob:
    return AdoptedJob(JobSpec("one", 0, 1, "/s/main.py", instance_type="ray.2cpu", instance_count=count), 10.0, **fields)


def agent(**jobs) -> LeftAgent:
    return LeftAgent(None, 7, {name.replace("_", "."): place for name, place in jobs.items()}, 100.0, 100.0)


def place(*nodes: str) -> dict:
    return Slot(key_of({"CPU": 2.0}, len(nodes)), None, nodes).place()


@pytest.mark.parametrize(
    ("fields", "is_known", "fate"),
    [
        ({}, True, Fate.GOES_ON),
        ({"accepted_at": 11.0, "started": True}, True, Fate.GOES_ON),
        ({"accepted_at": 11.0, "started": True}, False, Fate.LOST),
        ({}, False, Fate.ANEW),
        ({"stop_requested_at": 12.0}, False, Fate.STOPPED),
    ],
)
def test_a_job_goes_on_where_a_node_knows_it_is_lost_where_it_had_begun_and_else_never_began(fields, is_known, fate):
    assert fate_of(job(**fields), is_known=is_known) is fate


def test_those_that_do_not_go_on_end_once_and_not_before_their_last_event():
    ended, closed = end_of(job(last_event_at=50.0), Fate.LOST, 40.0)
    assert (ended, closed.at, closed.outcome, closed.cause) == (Ended("one", 50.0), 50.0, Outcome.FAILED, Cause.LOST)
    (closed,) = end_of(job(ended=True, stop_reason=Cause.SCHEDULER), Fate.STOPPED, 40.0)
    assert (closed.outcome, closed.cause) == (Outcome.STOPPED, Cause.SCHEDULER)
    assert [type(event) for event in ends_with_controller(job(), 40.0)] == [Ended, Closed]


def test_parts_are_found_where_nodes_were_told_to_start_them():
    two = place("a", "b")
    assert places_of(job(2), {"a": agent(one=two), "b": agent(one_rank1=two)}) == {0: two, 1: two}
    assert places_of(job(2), {"a": agent(one=two), "b": agent(other=two)}) == {0: two}
    assert places_of(job(), {"a": agent()}) == {}


def test_what_the_journal_has_is_not_told_again():
    known = going_on(job(accepted_at=11.0, started=True, incarnation=1, received={(0, 0): {}, (1, 0): {}}, last_event_at=20.0), place("a"))
    assert known.slot.nodes == ("a",)
    assert [known.parts.take(0, event("one", 11.0)) for event in (Accepted, Started)] == [None, None]
    assert known.is_known(Reported("one", 12.0, 0, {}, 1.0, incarnation=1))
    assert not known.is_known(Reported("one", 12.0, 1, {}, 1.0, incarnation=1))
    assert known.is_known(Restarted("one", 12.0, 1))
    assert not known.is_known(Restarted("one", 12.0, 2))
    assert known.parts.take(0, Ended("one", 21.0)) == Ended("one", 21.0)


def test_an_end_that_comes_again_is_none():
    known = going_on(job(accepted_at=11.0, started=True, ended=True), place("a"))
    assert known.parts.take(0, Ended("one", 21.0)) is None
    closed = Closed("one", 22.0, Outcome.COMPLETED)
    assert [known.parts.take(0, closed) for _ in range(2)] == [closed, None]


def test_the_end_of_a_part_that_nothing_was_told_of_is_remembered():
    before = JobParts(2)
    failed = Closed("one.rank1", 30.0, Outcome.FAILED, Cause.SCRIPT_ERROR, "no", 11.0, 29.0, 18.0, {"cpu_s": 3.0}, ("no",))
    for event in (Ended("one.rank1", 30.0), failed):
        assert before.take(1, event) is None
    memo = json.loads(json.dumps(before.memo(1)))
    known = going_on(job(2, accepted_at=11.0, started=True, memo=memo), place("a", "b"))
    assert known.parts.is_doomed
    assert known.parts.open_ranks == [0]
    assert known.parts.take(0, Ended("one", 31.0)) == Ended("one", 31.0)
    end = known.parts.take(0, Closed("one", 32.0, Outcome.STOPPED, Cause.INTERRUPTED))
    assert (end.cause, end.message, end.log_tail, end.usage) == (Cause.SCRIPT_ERROR, "rank 1: no", ("no",), {"cpu_s": 3.0})
