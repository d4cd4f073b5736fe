"""Best so far: at the budget of a comparison the figure has its numbers."""

from __future__ import annotations

import pytest

from benchmarking.analysis.step_curves import StepCurve
from benchmarking.comparison.document import document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis
from benchmarking.figures.bands import band, line, thinned
from benchmarking.figures.best_so_far import best_so_far_figure, seeds_figure, shown_values
from benchmarking.figures.data import Curve
from benchmarking.figures.final_values import final_values_figure
from tests.benchmarking.comparison.made_runs import run, several

RUNS = [
    *several("RS", [2.0, 2.2, 1.8, 2.1, 1.9, 2.05]),
    *several("TPE", [1.0, 1.1, 0.9, 1.05, 0.95, 1.01]),
    *several("RS", [5.0, 5.1], "c"),
    *several("TPE", [6.0, 6.1], "c"),
]


def found(axis, runs=RUNS, **asked):
    question = ComparisonQuestion(**asked)
    compared = document(runs, question).benchmarks
    return best_so_far_figure(runs, compared, question, axis), compared


@pytest.mark.parametrize("aggregate", ["iqm", "mean", "median"])
def test_at_the_budget_lines_have_the_numbers_of_the_rows(aggregate):
    question = ComparisonQuestion(aggregate=aggregate)
    made = document(RUNS, question)
    figure = best_so_far_figure(RUNS, made.benchmarks, question, Axis.TRIALS)
    assert [panel.title for panel in figure.panels] == ["b", "c"]
    drawn = {
        (panel.title, curve.name): [values[curve.x.index(2.0)] for values in (curve.y, curve.low, curve.high)]
        for panel in figure.panels
        for curve in panel.curves
    }
    assert drawn == {(row["benchmark"], row["method"]): [row["value"], row["low"], row["high"]] for row in made.rows}
    points = {
        (panel.title.split(":")[0], group.name): [group.y[0], group.y_low[0], group.y_high[0]]
        for panel in final_values_figure(made.benchmarks).panels
        for group in panel.points
        if group.kind == "aggregate"
    }
    assert points == drawn


def test_shares_have_bands_up_to_one_and_dollars_that_nobody_pays_are_called_so():
    runs = [run("RS", number, [0.5, loss], facts={"dollars": "nominal"}) for number, loss in enumerate((0.4, 0.01))]
    figure, made = found(Axis.COST, runs, objective="acc")
    (curve,) = figure.panels[0].curves
    # Accuracies of 0.6 and 0.99: Student's t of two goes beyond 1.
    assert (curve.high, made[0].rows[0].interval.high) == ((0.5, 1.0), 1.0)
    assert figure.notes[0] == "Dollars are nominal: nobody is billed them."
    assert found(Axis.TRIALS, runs)[0].notes[0] == "Line and band: mean of the seeds and its 95 % interval."


def test_each_axis_has_its_unit_and_its_places():
    wallclock, _ = found(Axis.WALLCLOCK)
    assert (wallclock.key, wallclock.panels[0].x.unit, wallclock.panels[0].curves[0].x) == ("best_so_far_wallclock", "s", (10.0, 20.0))
    cost, _ = found(Axis.COST)
    assert (cost.panels[0].x.unit, cost.panels[0].curves[0].x) == ("USD", (0.01, 0.02))


def test_one_seed_has_a_line_and_no_band():
    drawn = band("RS", [StepCurve((1.0,), (9.0,), 5.0)], max, 0.95)
    assert drawn is not None
    assert (drawn.x, drawn.y, drawn.low, drawn.high) == ((1.0, 5.0), (9.0, 9.0), (), ())


def test_thinned_places_keep_both_ends():
    kept = thinned(list(range(1001)), 11)
    assert kept == list(range(0, 1001, 100))
    assert thinned([1.0, 2.0], 2) == [1.0, 2.0]


def test_every_seed_is_a_line_from_its_first_result():
    question = ComparisonQuestion()
    runs = [run("RS", 0, [3.0, 4.0, 1.0], full=[False, True, True]), run("RS", 1, []), run("TPE", 0, [2.0])]
    figure = seeds_figure(runs, document(runs, question).benchmarks, question, Axis.TRIALS)
    drawn = {curve.name: (curve.group, curve.x, curve.y) for curve in figure.panels[0].curves}
    assert drawn == {"RS seed 0": ("RS", (2.0, 3.0), (4.0, 1.0)), "TPE seed 0": ("TPE", (1.0,), (2.0,))}
    assert line("x", StepCurve((1.0, 3.0), (5.0, 4.0), 9.0), until=2.0).x == (1.0, 2.0)


def test_without_prices_the_panel_of_money_says_why_it_is_not_there():
    figure, _ = found(Axis.COST, [run("RS", 0, [1.0], priced=False), run("TPE", 0, [2.0])])
    assert figure.panels == ()
    assert figure.notes[0].startswith("b: not all of its experiments have a cost")


def test_nothing_measured_is_no_panel_and_a_reason():
    figure, compared = found(Axis.TRIALS, [run("RS", 0, [])])
    assert figure.panels == ()
    assert figure.notes[0].startswith("No finished trials at which all seeds")
    assert final_values_figure(compared).panels == ()


def test_long_names_are_short_in_the_lines_and_whole_in_the_figure():
    name = "é" * 10_000
    figure, compared = found(Axis.TRIALS, [*several("RS", [2.0, 2.1]), *several(name, [1.0, 1.1])])
    (short,) = figure.names
    assert figure.names[short] == name
    assert [curve.name for curve in figure.panels[0].curves] == ["RS", short]
    assert final_values_figure(compared).names == figure.names


def test_what_is_drawn_is_where_the_lines_are_and_early_intervals_are_cut_off():
    curves = [
        Curve("a", (1.0, 2.0, 3.0), (0.90, 0.95, 0.98), (-3.0, 0.9, 0.97), (4.0, 1.0, 0.99), step=True),
        Curve("b", (1.0, 2.0), (0.92, 0.94), (None, None), (None, None), step=True),
    ]
    low, high = shown_values(curves, 0.96, log=False)
    assert (low, high) == pytest.approx((0.90 - 0.05 * 0.09, 0.99 + 0.05 * 0.09))


def test_what_is_drawn_on_a_logarithmic_axis_of_one_value_and_of_none():
    low, high = shown_values([Curve("a", (1.0, 2.0), (100.0, 1.0), (None, -1.0), (None, 2.0))], None, log=True)
    assert (low, high) == pytest.approx((1.0 / 100**0.05, 100 * 100**0.05))
    assert shown_values([Curve("a", (1.0,), (4.0,))], None, log=False) == pytest.approx((3.8, 4.2))
    assert shown_values([Curve("a", (1.0,), (0.0,))], None, log=False) == (-1.0, 1.0)
    assert shown_values([], 1.0, log=False) is None


def test_an_interval_wider_than_all_that_the_lines_do_is_cut_off():
    curve = Curve("a", (1.0, 2.0), (0.5, 0.6), (None, -31.5), (None, 32.6))
    assert shown_values([curve], None, log=False) == pytest.approx((0.495, 0.605))


def test_a_method_whose_line_is_missing_is_named():
    # By wall-clock time one of its seeds begins after the other has ended.
    runs = [*several("RS", [2.0, 2.2]), run("TPE", 0, [1.0, 0.9]), run("TPE", 1, [1.0, 0.8], seconds=30.0)]
    question = ComparisonQuestion(axis=Axis.TRIALS)
    figure = best_so_far_figure(runs, document(runs, question).benchmarks, question, Axis.WALLCLOCK)
    assert [curve.name for curve in figure.panels[0].curves] == ["RS"]
    assert "b: TPE has no wall-clock time at which all its seeds have a result." in figure.notes
