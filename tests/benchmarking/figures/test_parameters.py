"""Configurations as places on axes: where each value stands, what its repeats came to, and what is left out."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.figures.parameters import measured_points, named_in, ticks, varying_axes
from definitions.trial import TrialSpec
from tests.benchmarking.figures.made_details import definition, experiment, trial

SPACE = {"rate": {"loguniform": [0.01, 1.0]}, "kind": {"choice": ["a", "b", "c"]}, "same": 3}


def points(*trials, **given):
    return measured_points([experiment(trials, definition=definition(SPACE), **given)])


def test_names_are_those_of_benchmarks_objectives_and_parameters_each_once():
    first, second = (experiment(definition=definition(SPACE), number=number) for number in (0, 1))
    assert named_in([first, second]) == ["b", "loss", "acc", "rate", "kind", "same"]


def test_a_parameter_of_one_value_is_no_axis():
    assert [*varying_axes([experiment(definition=definition(SPACE))])] == ["rate", "kind"]


def test_a_value_stands_at_its_quantile_and_one_that_is_missing_or_outside_nowhere():
    inside, outside, missing = points(
        trial(0, {"rate": 0.1, "kind": "b", "same": 3}, {"loss": 1.0, "acc": 0.5}),
        trial(1, {"rate": 2.0, "kind": "d", "same": 3}, {"loss": 1.0, "acc": 0.5}),
        trial(2, {"rate": 0.01}, {"loss": 1.0, "acc": 0.5}),
        method="TPE",
        number=4,
    )
    # A tenth is half way from a hundredth to one; b has the middle third.
    assert inside.places == pytest.approx({"rate": 0.5, "kind": 0.5})
    assert outside.places == {"rate": None, "kind": None}
    assert missing.places == {"rate": pytest.approx(0.0), "kind": None}
    assert (inside.name, inside.configuration["kind"]) == ("TPE seed 4, configuration 0", "b")


def test_repeats_are_folded_and_a_value_that_one_of_them_lacks_is_no_mean():
    (found,) = points(
        trial(0, {"rate": 0.1}, {"loss": 1.0, "acc": 0.5}, evaluation=7),
        trial(1, {"rate": 0.1}, {"loss": 2.0, "acc": math.nan}, evaluation=7),
        trial(2, {"rate": 0.1}, {"loss": 9.0, "acc": 0.1}, evaluation=7, status=TrialStatus.FAILED),
    )
    assert (found.values, found.status, found.is_full) == ({"loss": 1.5}, "completed", True)
    assert found.repeats == [{"loss": 1.0, "acc": 0.5}, {"loss": 2.0, "acc": None}]


def test_one_that_was_stopped_shows_what_it_reached_and_a_canary_is_no_full_one():
    stopped, canary, failed = points(
        trial(0, {"rate": 0.1}, {"loss": 4.0, "acc": 0.5}, status=TrialStatus.STOPPED),
        replace(trial(1, {}, {"loss": 3.0, "acc": 0.5}), spec=TrialSpec({"rate": 0.1}, level=0.1)),
        trial(2, {"rate": 0.1}, {}, status=TrialStatus.FAILED),
    )
    assert (stopped.values, stopped.status, stopped.is_full) == ({"loss": 4.0, "acc": 0.5}, "stopped", False)
    assert (canary.values["loss"], canary.is_full) == (3.0, False)
    assert (failed.values, failed.status, failed.is_full) == ({}, "failed", False)


@pytest.mark.parametrize(
    ("domain", "places", "labels"),
    [
        ({"uniform": [0.0, 2.0]}, (0.0, 0.25, 0.5, 0.75, 1.0), ("0", "0.5", "1", "1.5", "2")),
        ({"randint": [1, 2]}, (0.25, 0.75), ("1", "2")),
        ({"randint": [0, 99]}, (0.0, 0.25, 0.5, 0.75, 1.0), ("0", "25", "50", "75", "99")),
        ({"choice": ["a", "b"]}, (0.25, 0.75), ("a", "b")),
    ],
)
def test_an_axis_has_all_of_few_values_and_five_places_of_many(domain, places, labels):
    found = ticks(definition({"x": domain}).search_space.domains["x"])
    assert found[0] == pytest.approx(places)
    assert found[1] == labels


def test_of_a_long_list_eight_values_from_the_first_to_the_last_are_named():
    labels = ticks(definition({"x": {"choice": [f"v{number:02d}" for number in range(40)]}}).search_space.domains["x"])[1]
    assert (len(labels), labels[0], labels[-1], len({*labels})) == (8, "v00", "v39", 8)
