"""What arguments of methods take, at the edges, and in which words they refuse."""

import math

import pytest

from benchmarking.controller.method_arguments import POINTS, flag, levels, number, one_of, read_arguments, whole
from definitions.errors import UserError

WRONG = object()


def read(argument, value):
    try:
        return argument.read(value)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2, 2), (3.0, 3), (1, WRONG), (2.5, WRONG), (True, WRONG), ("3", WRONG), (math.inf, WRONG), (math.nan, WRONG), (None, WRONG)],
)
def test_whole_numbers(value, expected):
    found = read(whole(None, 2, ""), value)
    assert found == ("a whole number from 2 up" if expected is WRONG else expected)
    assert type(found) is (str if expected is WRONG else int)


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "wanted"),
    [
        ({"above": 0}, (0.001, 5), (0, -1), "a number above 0"),
        ({"lower": 0, "upper": 1}, (0, 0.5, 1), (-0.1, 1.1), "a number from 0 to 1"),
        ({"lower": 2}, (2, 9), (1.9,), "a number from 2 up"),
        ({"upper": 2}, (2, -9), (2.1,), "a number up to 2"),
        ({}, (-9, 9), (math.inf, math.nan, True, "1", None), "a number"),
    ],
)
def test_numbers_within_bounds(bounds, inside, outside, wanted):
    argument = number(None, "", **bounds)
    assert [read(argument, value) for value in inside] == [float(value) for value in inside]
    assert {read(argument, value) for value in outside} == {wanted}


def test_flags_and_words():
    assert [read(flag(True, ""), value) for value in (True, False, 1, "true")] == [True, False, "true or false", "true or false"]
    kinds = one_of("a", ("a", "b"), "")
    assert [read(kinds, value) for value in ("b", "c")] == ["b", "one of a, b"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [([1, 3.5], (1, 3.5)), (2, (2,)), ((1,), (1,)), ([], WRONG), ([3, 1], WRONG), ([1, 1], WRONG), ([0, 1], WRONG), ([True], WRONG),
     ([1, math.inf], WRONG), (["1"], WRONG)],
)  # fmt: skip
def test_levels_ascend_above_zero(value, expected):
    assert read(levels(""), value) == ("ascending numbers above 0" if expected is WRONG else expected)


def test_points_are_configurations():
    assert read(POINTS, {"x": 1}) == ({"x": 1},)
    assert read(POINTS, [{"x": 1}, {}]) == ({"x": 1}, {})
    assert read(POINTS, [1]).startswith("a list of configurations")


def test_defaults_stand_for_what_is_not_given_and_wrong_ones_are_told():
    declared = {"n": whole(4, 1, "how many"), "rate": number(None, "of it", above=0)}
    assert read_arguments("M", declared, {"rate": 2}) == {"n": 4, "rate": 2.0}
    with pytest.raises(UserError, match=r"method M: n = 0[\s\S]*it must be a whole number from 1 up[\s\S]*how many"):
        read_arguments("M", declared, {"n": 0})
    with pytest.raises(UserError, match=r"method M: there is no argument 'rat'[\s\S]*did you mean 'rate'"):
        read_arguments("M", declared, {"rat": 0})
