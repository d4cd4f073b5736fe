"""Until when no jobs are taken: of which kind, and which refusals say so."""

from __future__ import annotations

import pytest

from backends.events import Rejected, Scope
from backends.failures import Cause
from benchmarking.controller.closed_doors import ClosedDoors


def refused(scope, retry_at):
    return Rejected("j", 1.0, Cause.QUOTA, "full", retry_at=retry_at, scope=scope)


@pytest.mark.parametrize(
    ("scope", "retry_at", "until"),
    [
        (Scope.BACKEND, 50.0, {"": 50.0}),
        (Scope.INSTANCE_TYPE, 50.0, {"ml.a": 50.0}),
        (Scope.JOB, 50.0, {}),
        (Scope.INSTANCE_TYPE, None, {}),
    ],
)
def test_a_refusal_closes_what_it_is_about(scope, retry_at, until):
    doors = ClosedDoors()
    doors.refused(refused(scope, retry_at), "ml.a")
    assert doors.until == until
    assert bool(doors) is bool(until)


def test_the_latest_time_counts():
    doors = ClosedDoors()
    for retry_at in (50.0, 70.0, 60.0):
        doors.refused(refused(Scope.INSTANCE_TYPE, retry_at), "ml.a")
    assert doors.closed_until("ml.a") == 70.0


def test_each_kind_has_a_door_and_all_have_one():
    doors = ClosedDoors()
    assert (doors.last_at(), doors.closed_until("ml.a"), doors.closed_until("")) == (0.0, 0.0, 0.0)
    doors.refused(refused(Scope.INSTANCE_TYPE, 50.0), "ml.a")
    assert (doors.last_at(), doors.closed_until("ml.a"), doors.closed_until("ml.b"), doors.closed_until("")) == (50.0, 50.0, 0.0, 0.0)
    doors.refused(refused(Scope.BACKEND, 30.0), "ml.a")
    assert (doors.last_at(), doors.closed_until("ml.a"), doors.closed_until("ml.b"), doors.closed_until("")) == (50.0, 50.0, 30.0, 30.0)
    doors.open("ml.a")
    assert (doors.last_at(), doors.closed_until("ml.a")) == (30.0, 30.0)
