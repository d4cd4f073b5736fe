"""Definitions from Python are told of as files are, and keys over a file keep to their places."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from definitions.errors import UserError
from definitions.python_source import laid_over, python_source
from definitions.yaml_source import parse_yaml


def test_values_are_what_yaml_would_have_given():
    given = {
        "source_dir": Path("here"),
        "space": {"x": {"choice": numpy.arange(3)}, "y": {"choice": range(2)}, "z": {"choice": ((1, 2), [3])}},
        "repeats": numpy.int64(2),
    }
    assert python_source(given, Path("folder")).data == {
        "source_dir": "here",
        "space": {"x": {"choice": [0, 1, 2]}, "y": {"choice": [0, 1]}, "z": {"choice": [[1, 2], [3]]}},
        "repeats": 2,
    }


def test_domains_of_syne_tune_are_domains_of_a_space_and_nothing_elsewhere():
    from syne_tune.config_space import uniform

    domain = uniform(0.0, 1.0)
    found = python_source({"space": {"x": domain, "y": {"choice": [domain]}}, "arguments": {"x": domain}, "x": domain}, Path()).data
    assert found["space"] == {"x": {"uniform": [0.0, 1.0]}, "y": {"choice": [domain]}}
    assert (found["arguments"]["x"], found["x"]) == (domain, domain)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"space": {1: 2}}, "python: space: the key 1 is not text"),
        ({"space": {"x": {"choice": {1}}}}, "python: space.x.choice: {1} has no"),
    ],
)
def test_what_has_no_form_is_told_with_its_place(given, said):
    with pytest.raises(UserError) as caught:
        python_source(given, Path())
    assert str(caught.value).startswith(said)


def test_keys_over_a_file_have_their_own_places_and_folders():
    source = parse_yaml("name: a\nscript: train.py\nspace:\n  x: {choice: [1]}\n", Path("inner/a.yaml"))
    both = laid_over(source, {"space": {"y": {"choice": [2]}}, "valid": ["y > 1"]}, Path("outer"))
    assert both.data == {"name": "a", "script": "train.py", "space": {"y": {"choice": [2]}}, "valid": ["y > 1"]}
    assert both.place(("script",)).text == "inner/a.yaml:2"
    assert both.place(("space", "y")).text == both.place(("valid",)).text == "python"
    assert (both.file_of(("script",)).parent, both.file_of(("valid",)).parent) == (Path("inner"), Path("outer"))
    assert (both.about, python_source({}, Path()).about) == ("inner/a.yaml", "the mapping")
