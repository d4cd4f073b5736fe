"""What is wrong, in words: how a value is shown that was given."""

import pytest
from pydantic import ValidationError

from definitions.problems import problems_of
from definitions.schema import BenchmarkDefinition

MINIMAL = {"name": "demo", "script": "train.py", "objectives": {"loss": "min"}}


def told(**parts):
    data = {**MINIMAL, **parts}
    with pytest.raises(ValidationError) as caught:
        BenchmarkDefinition.model_validate(data)
    ((path, text),) = ((problem.path, problem.text) for problem in problems_of(caught.value, data))
    return ".".join(map(str, path)), text


@pytest.mark.parametrize(("given", "shown"), [(None, "null"), (True, "true"), (False, "false"), ([1, "a"], "[1, 'a']")])
def test_values_are_shown_as_a_file_has_them(given, shown):
    assert told(objectives=given) == ("objectives", f"needs a mapping (key: value); {shown} was given")


@pytest.mark.parametrize(("length", "shown"), [(58, "'" + "x" * 58 + "'"), (59, "'" + "x" * 56 + "...")])
def test_no_more_than_sixty_characters_are_shown(length, shown):
    assert told(objectives="x" * length) == ("objectives", f"needs a mapping (key: value); {shown} was given")


def test_a_choice_is_told_with_the_nearest():
    assert told(order="randon") == (
        "order",
        "must be one of default, interleave, random; 'randon' was given; did you mean 'random'?",
    )


def test_limits_are_told():
    assert told(repeats=0) == ("repeats", "must be above 0; 0 was given")


@pytest.mark.parametrize(
    ("given", "place", "said"),
    [
        ({"path": "x", "format": "jpeg"}, "format", "must be one of jpg, png, "),
        ({"path": 3}, "path", "needs text; 3 was given"),
        ({"path": "x", "labels": "member"}, "", "labels: 'member': with format jpg they are one of folder, none"),
        ({"pth": "x", "path": "x"}, "pth", "unknown key; did you mean 'path'?"),
        ({}, "path", "is missing"),
    ],
)
def test_a_type_that_is_called_like_a_key_is_not_taken_for_it(given, place, said):
    """The path of a data set was told for faults of its format."""
    path, text = told(space={"a": 1}, datasets={"d": {"type": "path", **given}})
    assert path == f"datasets.d.{place}".rstrip(".")
    assert text.startswith(said)
