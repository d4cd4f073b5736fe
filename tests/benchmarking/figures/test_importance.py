"""Importance of parameters: shares that can be worked out, and what is said where nothing is decided."""

from __future__ import annotations

import pytest

from benchmarking.figures import importance as module
from benchmarking.figures.importance import importance_figure
from tests.benchmarking.figures.made_details import definition, experiment, trial

SPACE = {"x": {"uniform": [0.0, 1.0]}, "y": {"uniform": [0.0, 1.0]}, "same": 3}


def swept(count, loss, space=SPACE, **given):
    """An experiment of `count` points on a lattice that fills the square evenly."""
    places = [{"x": (number + 0.5) / count, "y": (number * 7 % count + 0.5) / count} for number in range(count)]
    trials = [trial(number, {**place, "same": 3}, {"loss": loss(**place), "acc": 0.5}) for number, place in enumerate(places)]
    return experiment(trials, definition=definition(space), **given)


def test_what_one_parameter_explains_alone_it_has_alone():
    figure = importance_figure([swept(40, lambda x, y: float(x > 0.5))])
    (panel,) = figure.panels
    assert panel.title == "b: 40 configurations"
    (bars,) = panel.stacks
    assert bars.name == "share of the variance of loss"
    # Every tree splits at the middle of x, and then nothing is left to split.
    shares = dict(zip(panel.bars.categories, zip(bars.values, bars.low, bars.high, strict=True), strict=True))
    assert panel.bars.categories[0] == "x"
    assert shares["x"] == pytest.approx((1.0, 1.0, 1.0))
    assert shares["y"] == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert shares["x x y"] == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert figure.notes == (
        "Functional ANOVA (Hutter et al. 2014): shares of the variance over the whole space, 10 % to 90 % of the trees.",
    )


def test_what_matters_only_together_is_a_share_of_the_pair():
    (panel,) = importance_figure([swept(97, lambda x, y: float((x > 0.5) == (y > 0.5)))]).panels
    (bars,) = panel.stacks
    assert panel.bars.categories[0] == "x x y"
    assert bars.values[0] > 0.7
    assert sum(bars.values) == pytest.approx(1.0, abs=0.05)


def test_two_that_matter_alike_are_not_put_in_an_order():
    figure = importance_figure([swept(97, lambda x, y: x + y)])
    names = figure.panels[0].bars.categories
    assert {*names[:2]} == {"x", "y"}
    assert f"b: which of {names[0]} and {names[1]} matters more is not decided: their intervals overlap." in figure.notes


def test_too_few_trials_decide_nothing_and_failed_or_stopped_ones_do_not_count():
    figure = importance_figure([swept(19, lambda x, y: x)])
    assert (figure.panels, figure.notes) == ((), ("b: not decided: 19 completed trials, and 20 are needed.",))
    assert importance_figure([swept(20, lambda x, y: x)]).panels[0].title == "b: 20 configurations"
    # Seeds of several methods are one sample.
    assert importance_figure([swept(10, lambda x, y: x), swept(10, lambda x, y: x, method="TPE")]).panels[0].title == "b: 20 configurations"


def test_a_metric_that_is_constant_and_a_space_without_anything_that_varies_have_reasons():
    assert importance_figure([swept(30, lambda x, y: 1.0)]).notes == (
        "b: loss is the same for all configurations, so nothing explains it.",
    )
    assert importance_figure([swept(30, lambda x, y: x, space={"same": 3, "x": 1, "y": 2})]).notes == (
        "b: not decided: no parameter varies.",
    )


def test_a_large_study_is_cut_and_that_is_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 30)
    monkeypatch.setattr(module, "MOST_BARS", 1)
    figure = importance_figure([swept(40, lambda x, y: float(x > 0.4))])
    assert figure.panels[0].title == "b: 30 configurations"
    assert figure.panels[0].bars.categories == ("x",)
    assert "b: the first 30 of 40 completed configurations." in figure.notes
    assert "b: the 1 greatest of 3; the others explain at most 0.0% each." in figure.notes
