"""Curves of runs, and runs that are the same."""

from __future__ import annotations

from benchmarking.analysis.step_curves import StepCurve
from benchmarking.comparison.runs import Axis, axes_of, distinct
from tests.benchmarking.comparison.made_runs import run


def test_a_curve_is_of_full_results_unless_any_is_asked_for():
    one = run("RS", 0, [0.5, 0.4, 0.3], full=[True, False, True])
    assert one.curve("loss", Axis.TRIALS) == StepCurve((1.0, 3.0), (0.5, 0.3), 3.0)
    assert one.curve("loss", Axis.WALLCLOCK, any_level=True).at == (10.0, 20.0, 30.0)
    assert one.curve("acc", Axis.COST).values == (0.5, 0.7)


def test_what_has_no_price_has_no_curve_over_money():
    one = run("RS", 0, [0.5], priced=False)
    assert one.curve("loss", Axis.COST).at == ()
    assert list(axes_of([one, run("TPE", 0, [0.5])])) == [Axis.WALLCLOCK, Axis.TRIALS]


def test_runs_that_measured_the_same_count_once():
    kept, copies = distinct([run("GRID", 0, [0.5, 0.4]), run("GRID", 1, [0.5, 0.4], seconds=7.0), run("GRID", 2, [0.4, 0.5])])
    assert [one.number for one in kept] == [0, 2]
    assert copies == {0: [1]}
    # Runs without any result are not the same run.
    assert len(distinct([run("RS", 0, []), run("RS", 1, [])])[0]) == 2
