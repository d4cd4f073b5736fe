"""Levels as jobs of their own, and levels that one job passes."""

import pytest
from pydantic import ValidationError

from definitions.fidelity import PerJob, Progressive


def per_job(**changes):
    return PerJob(kind="per_job", argument="fraction", **changes)


def test_the_usual_ladder_is_one_three_and_ten_percent_of_all():
    assert (per_job().ladder, per_job().full, per_job().family) == ((0.01, 0.03, 0.1), 1.0, None)
    assert per_job(ladder=(10, 1000), full=1000).ladder == (10, 1000)


@pytest.mark.parametrize(
    ("ladder", "says"),
    [
        ((), "above 0 and at most"),
        ((0.0, 0.1), "above 0 and at most full = 1"),
        ((0.1, 1.1), "above 0 and at most full = 1"),
        ((0.1, 0.03), "must ascend"),
        ((0.1, 0.1), "must ascend"),
    ],
)
def test_a_ladder_that_cannot_be_climbed_is_refused(ladder, says):
    with pytest.raises(ValidationError, match=says):
        per_job(ladder=ladder)


@pytest.mark.parametrize("full", [0, -1])
def test_a_full_level_is_above_zero(full):
    with pytest.raises(ValidationError, match="greater than"):
        per_job(full=full, ladder=(0.1,))
    with pytest.raises(ValidationError, match="greater than"):
        Progressive(kind="progressive", argument="epochs", reported_as="epoch", full=full)
