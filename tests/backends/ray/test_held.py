"""Ends that are kept back until their node has outlived them."""

from __future__ import annotations

from backends.events import Closed
from backends.failures import Cause, Outcome
from backends.ray.held import HOLD_S, LOOK_S, HeldEnds


def end(job: str, cause: Cause | None) -> Closed:
    return Closed(job, 1.0, Outcome.STOPPED if cause else Outcome.COMPLETED, cause)


def test_only_what_somebody_outside_ended_is_held_and_told_in_time():
    held = HeldEnds()
    assert not held.holds("a", 0, end("done", None), 10.0)
    assert not held.holds("a", 0, end("mine", Cause.SCHEDULER), 10.0)
    assert held.holds("a", 0, end("killed", Cause.OUTSIDE), 10.0)
    assert held.next_look(11.0) == 10.0 + HOLD_S
    assert held.due({"a": 10.0 + HOLD_S / 2, "b": 99.0}) == [], "its node has not answered since"
    assert held.next_look(50.0) == 50.0 + LOOK_S
    assert [one.closed.job for one in held.due({"a": 10.0 + HOLD_S})] == ["killed"]
    assert held.next_look(50.0) is None


def test_those_of_a_node_that_is_gone_are_dropped():
    held = HeldEnds()
    held.holds("a", 0, end("one", Cause.OUTSIDE), 10.0)
    held.holds("b", 1, end("two.rank1", Cause.OUTSIDE), 10.0)
    held.forget("a")
    assert [(one.closed.job, one.rank) for one in held.due({"b": 99.0})] == [("two.rank1", 1)]
