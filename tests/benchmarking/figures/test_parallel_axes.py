"""Parallel coordinates: each configuration's places on the axes of its space."""

from __future__ import annotations

import pytest

from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.figures import parallel_axes as module
from benchmarking.figures.parallel_axes import parallel_axes_figure
from tests.benchmarking.figures.made_details import definition, experiment, trial

SPACE = {"rate": {"loguniform": [0.001, 0.1]}, "units": {"randint": [1, 4]}, "kind": {"choice": ["a", "b"]}, "same": 3}


def panel(trials, space=SPACE, **given):
    (found,) = parallel_axes_figure([experiment(trials, definition=definition(space), **given)]).panels
    return found


def at(rate, units, kind):
    return {"rate": rate, "units": units, "kind": kind, "same": 3}


def test_places_are_the_quantiles_of_each_axis_and_one_of_a_single_value_is_no_axis():
    found = panel([trial(0, at(0.01, 1, "a"), {"loss": 2.0, "acc": 0.1}), trial(1, at(0.1, 4, "b"), {"loss": 1.0, "acc": 0.2})])
    assert [axis.title for axis in found.axes] == ["rate", "units", "kind"]
    # The whole numbers 1 to 4 have a quarter of the axis each, two words a half each.
    assert found.axes[0].ticks == pytest.approx((0.0, 0.25, 0.5, 0.75, 1.0))
    assert found.axes[0].labels == ("0.001", "0.003162", "0.01", "0.03162", "0.1")
    assert (found.axes[1].ticks, found.axes[1].labels) == ((0.125, 0.375, 0.625, 0.875), ("1", "2", "3", "4"))
    assert (found.axes[2].ticks, found.axes[2].labels) == ((0.25, 0.75), ("a", "b"))
    assert (found.value.title, found.value.better) == ("loss", "min")
    # The best is drawn last, above all others.
    assert [(line.name, line.value) for line in found.lines] == [("RS seed 0, configuration 0", 2.0), ("RS seed 0, configuration 1", 1.0)]
    assert found.lines[0].places == pytest.approx((0.5, 0.125, 0.25))
    assert found.lines[1].places == pytest.approx((1.0, 0.875, 0.75))
    assert found.lines[1].text == "rate=0.1000 units=4 kind=b"


def test_repeats_are_one_line_of_their_mean_and_one_that_was_stopped_has_the_value_that_it_reached():
    trials = [
        trial(0, at(0.01, 1, "a"), {"loss": 2.0}),
        trial(1, at(0.01, 1, "a"), {"loss": 4.0}, evaluation=0),
        trial(2, at(0.01, 2, "a"), {"loss": 9.0}, status=TrialStatus.STOPPED),
        trial(3, at(0.01, 3, "b"), {}, status=TrialStatus.FAILED),
    ]
    assert [(line.name[-1], line.value, line.kind) for line in panel(trials).lines] == [
        ("3", None, "failed"), ("2", 9.0, "stopped"), ("0", 3.0, "completed"),
    ]  # fmt: skip
    said = parallel_axes_figure([experiment(trials, definition=definition(SPACE))]).notes
    assert said[-1].endswith(": 1 of these was stopped or paused, and has the value that it had reached by then.")


def test_a_value_that_is_absent_or_outside_of_the_space_has_no_place():
    (line,) = panel([trial(0, {"rate": 0.5, "kind": "a"}, {"loss": 1.0})]).lines
    assert line.places == (None, None, 0.25)
    assert line.text == "rate=0.5000 kind=a"


def test_of_too_many_the_best_the_worst_and_some_between_stay(monkeypatch):
    monkeypatch.setattr(module, "MOST_LINES", 3)
    trials = [trial(n, {"x": 0.1 * n}, {"loss": value}) for n, value in enumerate((3.0, 1.0, 5.0, 2.0, 4.0))]
    figure = parallel_axes_figure([experiment(trials)])
    assert [line.value for line in figure.panels[0].lines] == [5.0, 3.0, 1.0]
    assert figure.notes == ("b: 3 of 5 configurations, evenly by their value.",)


def test_more_is_better_where_the_objective_says_so_and_all_seeds_are_in_one_panel():
    given = definition({"x": {"uniform": [0.0, 2.0]}}, objectives={"acc": "max"})
    made = []
    for number, acc in enumerate((0.9, 0.4)):
        one = experiment([trial(0, {"x": 1.0}, {"acc": acc})], number=number, definition=given)
        object.__setattr__(one.run, "objectives", {"acc": "max"})
        made.append(one)
    (found,) = parallel_axes_figure(made).panels
    assert [(line.name, line.value, line.places) for line in found.lines] == [
        ("RS seed 1, configuration 0", 0.4, (0.5,)), ("RS seed 0, configuration 0", 0.9, (0.5,)),
    ]  # fmt: skip


def test_nothing_tried_or_nothing_that_varies_is_a_reason():
    assert parallel_axes_figure([experiment()]).notes == ("No benchmark has a space of which a configuration was tried.",)
    alone = experiment([trial(0, {"x": 1}, {"loss": 1.0})], definition=definition({"x": 1}))
    assert parallel_axes_figure([alone]).panels == ()
