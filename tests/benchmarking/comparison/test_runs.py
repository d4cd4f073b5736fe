"""Runs read from journals: what counts as a result, and where on each axis it was known."""

from __future__ import annotations

import pytest

from benchmarking.analysis.step_curves import StepCurve
from benchmarking.archive.stored import load
from benchmarking.comparison.runs import Axis, axes_of, distinct, read_run
from tests.benchmarking.archive.stored_folders import copied
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


def test_repeats_are_folded_into_one_result_and_money_and_trials_count_all(tmp_path):
    stored = load(copied(tmp_path, "repeated"))
    found = read_run(stored, {"machine": "m"})
    with stored.journal() as journal:
        state = stored.state(journal)
    whole = [
        [state.trials[number] for number in evaluation.trials]
        for evaluation in state.evaluations.values()
        if [str(state.trials[number].status) for number in evaluation.trials] == ["completed"] * stored.spec.repeats
    ]
    assert stored.spec.repeats > 1
    objective = next(iter(found.objectives))
    means = [sum(trial.value_of(objective) for trial in trials) / len(trials) for trials in whole]
    full = [one for one in found.measurements if one.full]
    assert sorted(one.values[objective] for one in full) == pytest.approx(sorted(means))
    assert full
    assert [one.wallclock for one in full] == sorted(one.wallclock for one in full)
    assert found.ends[Axis.TRIALS] == state.finished > len(full)
    assert found.ends[Axis.COST] == pytest.approx(state.spent_usd)
    assert (found.facts["machine"], found.facts["back-end"]) == ("m", "simulated")


def test_canaries_never_count(tmp_path):
    assert read_run(load(copied(tmp_path, "canary"))).measurements == ()
