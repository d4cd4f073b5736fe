"""What holds for every part of a definition."""

import pytest
from pydantic import ValidationError

from definitions.parts import Budget, InputChannel, Overrides


@pytest.mark.parametrize(
    ("part", "key", "value"), [(Budget(max_cost=1.0), "max_cost", 99.0), (InputChannel(), "dataset", "d"), (Overrides(), "repeats", 2)]
)
def test_a_part_cannot_be_changed_once_it_is_made(part, key, value):
    before = getattr(part, key)
    with pytest.raises(ValidationError, match="frozen"):
        setattr(part, key, value)
    assert getattr(part, key) == before


def test_equal_parts_are_one_key_of_a_mapping():
    assert len({Budget(max_failures=3), Budget(), Budget(max_failures=4)}) == 2


@pytest.mark.parametrize("part", [Budget, InputChannel, Overrides])
def test_a_key_that_nobody_knows_is_refused(part):
    with pytest.raises(ValidationError, match="extra_forbidden"):
        part.model_validate({"max_cots": 3})


def test_limits_that_nobody_gave():
    assert Budget().model_dump() == {
        "max_wallclock_time": None, "max_failures": 3, "max_cost": None, "max_num_trials": None, "max_run": None,
    }  # fmt: skip
