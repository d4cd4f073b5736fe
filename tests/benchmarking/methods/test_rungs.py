"""The levels of successive halving, and who gets which."""

from __future__ import annotations

import math

import pytest

from benchmarking.methods.rungs import bracket_rungs, choose_bracket
from definitions.errors import UserError

PLAIN = {"rungs": None, "grace_period": None, "reduction_factor": 3.0, "brackets": 1}


@pytest.mark.parametrize(
    ("given", "rungs"),
    [
        ({}, [(1, 3, 9)]),
        ({"brackets": 2}, [(1, 3, 9), (3, 9)]),
        ({"grace_period": 2.0, "reduction_factor": 2.5}, [(2, 5, 12.5)]),
        ({"rungs": (1, 2, 10)}, [(1, 2, 10)]),
        ({"reduction_factor": 100.0}, [(1,)]),
    ],
)
def test_rungs(given, rungs):
    assert bracket_rungs("ASHA", PLAIN | given, 27.0) == rungs


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rungs": (1, 27)}, r"rungs = \[1, 27\][\s\S]*27 is not below the full level 27"),
        ({"rungs": (1, 99)}, "99 is not below the full level 27"),
        ({"grace_period": 27.0}, "grace_period = 27[\\s\\S]*not below the full level"),
        ({"rungs": (1, 3), "grace_period": 1.0}, "both given"),
        ({"brackets": 4}, r"brackets = 4[\s\S]*there are 3 rungs: 1, 3, 9"),
    ],
)
def test_rungs_that_cannot_be_are_told_before_the_start(given, says):
    with pytest.raises(UserError, match=says):
        bracket_rungs("ASHA", PLAIN | given, 27.0)


def test_brackets_are_drawn_by_trial_and_seed_alone_as_often_as_in_syne_tune():
    brackets = [(1, 3, 9), (3, 9)]
    drawn = [choose_bracket(brackets, 5, trial) for trial in range(4000)]
    assert drawn == [choose_bracket(brackets, 5, trial) for trial in range(4000)]
    assert sum(drawn) / 4000 == pytest.approx(1 / (1 + math.e), abs=0.03)
