"""Fronts and hypervolume: values that a reader works out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.analysis.intervals import mean_interval
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis
from benchmarking.figures.fronts import hypervolume_figure, pareto_figure
from tests.benchmarking.comparison.made_runs import run
from tests.benchmarking.figures.made_details import definition, experiment, trial

QUESTION = ComparisonQuestion(aggregate="mean")


def measured(*points, **given):
    """An experiment of configurations, each with its (loss, acc)."""
    return experiment([trial(n, {"x": 0.1 * n}, {"loss": loss, "acc": acc}) for n, (loss, acc) in enumerate(points)], **given)


def test_the_front_are_those_that_none_beats_in_both_and_its_staircase_joins_them():
    figure = pareto_figure([measured((1.0, 0.5), (2.0, 0.9), (3.0, 0.4), (1.5, 0.5))], QUESTION)
    (panel,) = figure.panels
    assert (panel.x.title, panel.x.better, panel.y.title, panel.y.better) == ("loss", "min", "acc", "max")
    assert [(group.name, group.kind, group.x, group.y) for group in panel.points] == [
        ("on the front", "front", (1.0, 2.0), (0.5, 0.9)),
        ("beaten", "beaten", (3.0, 1.5), (0.4, 0.5)),
    ]
    assert [(curve.x, curve.y, curve.step) for curve in panel.curves] == [((1.0, 2.0), (0.5, 0.9), True)]
    assert panel.points[0].texts[0] == "RS seed 0, configuration 0: loss 1.000, acc 0.5000; measured 1 times"
    assert figure.notes == ("b: nothing was measured twice, so how sure the front is is not known.",)


def test_repeats_give_intervals_and_a_probability():
    repeats = [
        trial(0, {"x": 0.1}, {"loss": 1.0, "acc": 0.5}, evaluation=0),
        trial(1, {"x": 0.1}, {"loss": 1.2, "acc": 0.5}, evaluation=0),
        trial(2, {"x": 0.1}, {"loss": 1.1, "acc": 0.5}, evaluation=0),
        trial(3, {"x": 0.2}, {"loss": 5.0, "acc": 0.1}, evaluation=1),
        trial(4, {"x": 0.2}, {"loss": 5.2, "acc": 0.1}, evaluation=1),
        trial(5, {"x": 0.2}, {"loss": 5.1, "acc": 0.1}, evaluation=1),
    ]
    figure = pareto_figure([experiment(repeats)], QUESTION)
    front, beaten = figure.panels[0].points
    interval = mean_interval([1.0, 1.2, 1.1], 0.95)
    assert (front.x, front.x_low, front.x_high) == (pytest.approx((1.1,)), (interval.low,), (interval.high,))
    assert front.texts[0].endswith("measured 3 times, on the front with probability 1.00")
    assert beaten.texts[0].endswith("measured 3 times, on the front with probability 0.00")
    assert figure.notes == ("Probability of being on the front: bootstrap over repeats.",)
    # A study that was looked at and then extended has wider ones.
    again = pareto_figure([experiment(repeats)], replace(QUESTION, looks=1)).panels[0].points[0]
    assert again.x_low[0] == mean_interval([1.0, 1.2, 1.1], 1 - 0.05 / 6).low


def test_intervals_that_are_far_wider_than_all_points_do_not_make_one_of_them():
    pairs = [(0, 1.0, 0.5), (0, 1.4, 0.5), (1, 2.0, 0.4), (1, 2.0, 0.41)]
    repeats = [trial(n, {"x": 0.1 * at}, {"loss": loss, "acc": acc}, evaluation=at) for n, (at, loss, acc) in enumerate(pairs)]
    figure = pareto_figure([experiment(repeats)], QUESTION)
    (panel,) = figure.panels
    # Of two repeats the interval is 12.7 standard errors each way: from -1.3 to 3.7.
    assert panel.points[0].x_low[0] == pytest.approx(1.2 - 12.706 * 0.2, abs=1e-3)
    assert panel.x.shown == (pytest.approx(1.2 - 0.15 * 0.8), pytest.approx(2.0 + 0.15 * 0.8))
    assert figure.notes[-1] == "Intervals that go far beyond all points are cut off at the edge."


def test_what_lacks_an_objective_is_on_no_front_and_counted():
    figure = pareto_figure([measured((1.0, 0.5), (0.5, None), (0.1, float("nan")))], QUESTION)
    assert [group.x for group in figure.panels[0].points] == [(1.0,)]
    assert figure.notes[0] == "b: 2 configurations lack an objective (a price is unknown), and are on no front."
    none = pareto_figure([measured((1.0, None))], QUESTION)
    assert (none.panels, none.notes[-1]) == ((), "b: no configuration was completed with all objectives.")


def test_three_objectives_have_three_panels_and_a_fourth_is_left_out():
    modes = {"loss": "min", "acc": "max", "cost_usd": "min", "size": "min"}
    values = [{"loss": 1.0, "acc": 0.5, "cost_usd": 3.0, "size": 1.0}, {"loss": 2.0, "acc": 0.5, "cost_usd": 1.0, "size": 1.0}]
    made = experiment(
        [trial(n, {"x": 0.1 * n}, {**one}, cost_usd=one["cost_usd"]) for n, one in enumerate(values)],
        definition=definition(objectives=modes),
    )
    figure = pareto_figure([replace(made, run=replace(made.run, objectives=modes))], QUESTION)
    assert [(panel.x.title, panel.y.title, panel.y.unit) for panel in figure.panels] == [
        ("loss", "acc", ""),
        ("loss", "cost_usd", "USD"),
        ("acc", "cost_usd", "USD"),
    ]
    assert "b: the first 3 of 4 objectives." in figure.notes
    # Of the three the second is on the front for its cost, but behind the first in loss and accuracy alone.
    assert figure.panels[0].points[0].x == (1.0, 2.0)
    assert figure.panels[0].curves[0].x == (1.0,)


def test_one_objective_has_no_front():
    alone = experiment([trial(0, {"x": 0.1}, {"loss": 1.0})])
    alone = replace(alone, run=replace(alone.run, objectives={"loss": "min"}))
    assert pareto_figure([alone], QUESTION).notes == ("No benchmark has several objectives.",)
    assert hypervolume_figure([alone.run], QUESTION).notes == ("No benchmark has several objectives.",)
    assert hypervolume_figure([run("RS", 0, [])], QUESTION).notes == ("b: no result has all objectives.",)


def test_hypervolume_grows_by_the_area_that_each_result_adds_and_has_a_band_over_seeds():
    # The accuracy is 1 less the loss. Worst are 3 and -2, best 1 and 0; a tenth of the range beyond the worst: 3.2 and -2.2.
    figure = hypervolume_figure([run("RS", 0, [3.0, 1.0]), run("RS", 1, [2.0, 3.0]), run("TPE", 0, [1.0, 1.0])], QUESTION, Axis.TRIALS)
    (panel,) = figure.panels
    rs, tpe = panel.curves
    first = [0.2 * 0.2, 1.2 * 1.2]  # the corners of loss 3 and of loss 2
    second = [2.2 * 2.2, 1.2 * 1.2]  # loss 3 adds nothing to loss 2
    assert (rs.name, rs.x) == ("RS", (1.0, 2.0))
    assert rs.y == pytest.approx((sum(first) / 2, sum(second) / 2))
    ends = [mean_interval(values, 0.95) for values in (first, second)]
    # No run can dominate less than nothing, nor more than the best loss and the best accuracy together: 2.2 * 2.2.
    assert [one.low < 0 and one.high > 2.2 * 2.2 for one in ends] == [True, True]
    assert (rs.low, rs.high) == ((0.0, 0.0), pytest.approx((2.2 * 2.2, 2.2 * 2.2)))
    assert (tpe.y, tpe.low) == (pytest.approx((4.84, 4.84)), ())
    assert panel.y.better == "max"
    assert figure.key == "hypervolume_trials"
    assert figure.notes == (
        "b: reference point loss 3.200, acc -2.200: the worst values of any run, and 10% of their range beyond.",
        "b: bands end at 0 and at 4.840, what the best value of each objective, of any run, would have together.",
    )


def test_narrow_bands_are_those_of_the_mean():
    losses = [2.0, 2.01, 2.02]
    runs = [*(run("RS", number, [3.0, loss]) for number, loss in enumerate(losses)), run("TPE", 0, [3.0, 1.0])]
    rs = hypervolume_figure(runs, QUESTION, Axis.TRIALS).panels[0].curves[0]
    interval = mean_interval([(3.2 - loss) ** 2 for loss in losses], 0.95)
    assert (rs.low[1], rs.high[1]) == (pytest.approx(interval.low), pytest.approx(interval.high))


def test_each_line_that_is_missing_has_a_reason():
    runs = [
        *(run("RS", number, [3.0, 1.0]) for number in range(2)), run("RS", 2, []),
        run("TPE", 0, []), run("BO", 0, [2.0], priced=False), run("ASHA", 0, [2.0]), run("ASHA", 1, [9.0, 2.0], full=[False, True]),
    ]  # fmt: skip
    said = hypervolume_figure(runs, QUESTION, Axis.TRIALS).notes
    assert said[:3] == (
        "b: 1 of 3 seeds of RS have no result with all objectives: left out.",
        "b: TPE has no result with all objectives: no line.",
        "b: ASHA has no finished trials at which all its seeds have a result: no line.",
    )
    money = hypervolume_figure(runs, QUESTION, Axis.COST)
    assert "b: of 1 of 1 seeds of BO the cost is not known (a price is unknown, or nothing began): no line." in money.notes


def test_partial_levels_add_nothing_unless_they_are_asked_for():
    runs = [run("RS", 0, [3.0, 1.0, 2.0], full=[True, False, True])]
    (curve,) = hypervolume_figure(runs, QUESTION, Axis.TRIALS).panels[0].curves
    # Of losses 3 and 2 the range is 1.
    assert (curve.x, curve.y) == ((1.0, 3.0), pytest.approx((0.1 * 0.1, 1.1 * 1.1)))
    (curve,) = hypervolume_figure(runs, replace(QUESTION, any_level=True), Axis.TRIALS).panels[0].curves
    assert curve.y[-1] == pytest.approx(2.2 * 2.2)


def test_money_that_is_not_known_has_no_line():
    figure = hypervolume_figure([run("RS", 0, [3.0, 1.0], priced=False)], QUESTION, Axis.COST)
    assert figure.panels == ()
    assert figure.notes[0] == "b: of 1 of 1 seeds of RS the cost is not known (a price is unknown, or nothing began): no line."


def test_more_benchmarks_than_are_drawn_are_counted():
    runs = [run("RS", 0, [3.0, 1.0], benchmark=f"b{number}") for number in range(9)]
    figure = hypervolume_figure(runs, QUESTION, Axis.TRIALS)
    assert len(figure.panels) == 8
    assert figure.notes[-1] == "The first 8 of 9 benchmarks."
