"""When the faults of a data plane strike: answers that are held, models that are unloaded."""

from __future__ import annotations

import pytest

from backends.emulator.endpoints.invocation_faults import held_s, unloads_due
from backends.emulator.faults.rules import FaultRule


@pytest.mark.parametrize(
    ("fields", "since_s", "held"),
    [
        ({"seconds": 2.0}, 0.0, 2.0),
        ({"seconds": 2.0}, 1.5, 0.5),
        ({"seconds": 2.0}, 2.5, 0.0),
        ({"seconds": 2.0, "at_s": 10.0}, 9.9, 0.0),
        ({"seconds": 2.0, "at_s": 10.0}, 11.0, 1.0),
        ({"seconds": 2.0, "at_s": 10.0}, 31.0, 0.0),
        ({"seconds": 2.0, "at_s": 10.0, "every_s": 20.0}, 31.0, 1.0),
        ({"seconds": 2.0, "at_s": 10.0, "every_s": 20.0}, 25.0, 0.0),
    ],
)
def test_answers_are_held_until_the_stall_is_over(fields, since_s, held):
    assert held_s(FaultRule("stall", fields), since_s) == pytest.approx(held)


@pytest.mark.parametrize(
    ("fields", "since_s", "due"),
    [({}, 0.0, 1), ({}, 90.0, 1), ({"at_s": 5.0}, 4.9, 0), ({"at_s": 5.0}, 5.0, 1), ({"at_s": 5.0, "every_s": 10.0}, 25.0, 3)],
)
def test_models_are_unloaded_once_or_again_and_again(fields, since_s, due):
    assert unloads_due(FaultRule("unload", fields), since_s) == due
