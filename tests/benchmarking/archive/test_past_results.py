"""Which past configurations lie within a present space."""

from __future__ import annotations

import pytest

from benchmarking.archive.past_results import within
from tests.benchmarking.experiments import definition

PRESENT = {
    "space": {
        "lr": {"loguniform": [1e-4, 1.0]},
        "opt": {"choice": ["sgd", "adam"]},
        "momentum": {"uniform": [0.0, 1.0], "when": "opt == 'sgd'"},
        "depth": 2,
    },
    "valid": ["lr < 0.5"],
    "arguments": {"data": "a"},
}


@pytest.mark.parametrize(
    ("space", "arguments", "past", "expected"),
    [
        ({"lr": 1, "opt": 1}, {}, {"lr": 0.1, "opt": "adam"}, {"lr": 0.1, "opt": "adam", "depth": 2}),
        ({"lr": 1}, {"opt": "adam"}, {"lr": 0.1}, {"lr": 0.1, "opt": "adam", "depth": 2}),
        ({"lr": 1, "data": 1}, {"opt": "adam"}, {"lr": 0.1, "data": "a"}, {"lr": 0.1, "opt": "adam", "depth": 2}),
        ({"lr": 1, "opt": 1}, {}, {"lr": 0.1, "opt": "sgd"}, "they lack momentum"),
        ({"lr": 1, "opt": 1, "momentum": 1}, {}, {"lr": 0.1, "opt": "adam", "momentum": 0.9}, "momentum does not exist here beside their"),
        ({"lr": 1, "opt": 1}, {}, {"lr": 2.0, "opt": "adam"}, "lr lies outside of its domain"),
        ({"lr": 1, "opt": 1}, {}, {"lr": 0.7, "opt": "adam"}, "a rule of `valid` is against it"),
        ({"lr": 1, "opt": 1, "depth": 1}, {}, {"lr": 0.1, "opt": "adam", "depth": 3}, "depth lies outside of its domain"),
        ({"lr": 1, "data": 1}, {"opt": "adam"}, {"lr": 0.1, "data": "b"}, "data is 'a' here"),
    ],
)
def test_what_is_lacking_comes_from_fixed_arguments_or_single_values(space, arguments, past, expected):
    theirs = definition(space={key: {"choice": [past[key], "other"]} for key in space}, arguments=arguments)
    found, reason = within(definition(**PRESENT), theirs, past)
    if isinstance(expected, dict):
        assert (found, reason) == (expected, "")
    else:
        assert (found, reason[: len(expected)]) == ({}, expected)
