"""The loop waits until the first moment at which something is due, and not at all longer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from benchmarking.controller.rows import JobState, StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.wait_limits import limit_at, timeout_s


def found(
    *, waiting: Sequence[tuple[float, int]] = (), blocked: dict[str, float] | None = None, runs: bool = False, **given: Any
) -> float | None:
    state = ExperimentState(StateSetup(objectives={"loss": "min"}))
    state.waiting = [*waiting]
    state.doors.until = dict(blocked or {})
    if runs:
        state.jobs["job"] = JobState("job", 0, 1, 0.0, None, None)
    defaults: dict[str, Any] = {"stopping": False, "limit_at": None, "is_computing": False, "release_until": None}
    return timeout_s(state, lambda: 100.0, **(defaults | given))


@pytest.mark.parametrize(
    ("given", "expected_s"),
    [
        ({}, None),
        ({"waiting": [(103.0, 0), (107.0, 1)]}, 3.0),
        ({"waiting": [(100.0, 0)]}, None),
        ({"waiting": [(103.0, 0)], "stopping": True}, None),
        ({"blocked": {"": 105.0, "ml.m5.large": 102.0}}, 2.0),
        ({"blocked": {"": 99.0}}, None),
        ({"blocked": {"": 105.0}, "stopping": True}, 5.0),
        ({"limit_at": 104.0, "waiting": [(103.0, 0)]}, 3.0),
        ({"limit_at": 102.0, "waiting": [(103.0, 0)]}, 2.0),
        ({"limit_at": 90.0}, 0.0),
        ({"limit_at": 104.0, "stopping": True}, None),
        ({"is_computing": True}, 60.0),
        ({"is_computing": True, "limit_at": 130.0}, 30.0),
        ({"release_until": 108.0}, 8.0),
        ({"release_until": 108.0, "runs": True}, None),
        # Due since it was last tried to start something: it is tried again at once.
        ({"waiting": [(99.5, 0)], "looked_at": 99.0}, 0.0),
        ({"waiting": [(99.5, 0)], "looked_at": 99.5}, None),
        ({"blocked": {"": 99.5}, "looked_at": 99.0}, 0.0),
        ({"waiting": [(99.5, 0)], "looked_at": 99.0, "stopping": True}, None),
    ],
)
def test_the_wait_ends_when_something_is_due(given: dict[str, Any], expected_s: float | None) -> None:
    assert found(**given) == expected_s


def test_times_within_a_microsecond_are_the_same_moment() -> None:
    # What is due now ends no wait: it would have been taken up before it. What is due in two microseconds does.
    assert found(waiting=[(100.0 + 0.9e-6, 0)]) is None
    assert found(blocked={"": 100.0 + 0.9e-6}) is None
    assert found(waiting=[(100.0 + 1.1e-6, 0)]) == pytest.approx(1.1e-6, abs=1e-9)
    assert found(blocked={"": 100.0 + 1.1e-6}) == pytest.approx(1.1e-6, abs=1e-9)


def test_the_clock_is_not_asked_where_nothing_can_be_due() -> None:
    state = ExperimentState(StateSetup(objectives={"loss": "min"}))
    assert timeout_s(state, lambda: pytest.fail("asked"), stopping=False, limit_at=None, is_computing=False, release_until=None) is None


def test_the_limit_of_time_moves_on_by_pauses_and_waits_and_there_is_none_while_jobs_wait_for_others():
    state = ExperimentState(StateSetup(objectives={"loss": "min"}, waits_for_others=True))
    assert limit_at(state, 60.0, 0.0) is None
    state.first_start = (3, 100.0)
    state.waits.started("a", 100.0)
    assert limit_at(state, None, 0.0) is None
    assert limit_at(state, 60.0, 5.0) == 165.0
    state.waits.over("a", 110.0)
    state.waits.submitted("b", 110.0)
    assert limit_at(state, 60.0, 5.0) is None
    state.waits.started("b", 117.0)
    assert limit_at(state, 60.0, 5.0) == 172.0
