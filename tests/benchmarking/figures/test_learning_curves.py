"""Learning curves: where each line passes, which marks end it, and at which levels a method decided."""

from __future__ import annotations

import dataclasses

from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.figures import learning_curves as module
from benchmarking.figures.details import LevelReport
from benchmarking.figures.learning_curves import learning_curves_figure
from tests.benchmarking.figures.made_details import definition, experiment, trial

BY_EPOCH = definition(fidelity={"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 9})


def reports(*values, levels=None):
    return [
        LevelReport(number, None if levels is None else levels[number - 1], {} if value is None else {"loss": value})
        for number, value in enumerate(values, start=1)
    ]


def curves(panel):
    return {curve.name: (curve.group, curve.x, curve.y) for curve in panel.curves}


def test_trials_by_level_with_where_they_were_stopped_or_paused_and_the_rungs():
    trials = [
        trial(0, {"x": 0.1}, {"loss": 0.2}),
        trial(1, {"x": 0.2}, {"loss": 0.8}, status=TrialStatus.STOPPED, cause="stopped_by_method"),
        trial(2, {"x": 0.3}, {"loss": 0.5}, status=TrialStatus.PAUSED),
        trial(3, {"x": 0.4}, {"loss": 0.9}, status=TrialStatus.FAILED, cause="out_of_memory"),
    ]
    told = {
        0: reports(0.9, 0.4, 0.2, levels=(1.0, 3.0, 9.0)),
        1: reports(0.8, levels=(1.0,)),
        2: reports(0.7, 0.5, levels=(1.0, 3.0)),
        3: reports(0.9, None, levels=(1.0, 2.0)),
    }
    figure = learning_curves_figure([experiment(trials, method="ASHA", reports=told, decided_at=[1.0, 3.0], definition=BY_EPOCH)])
    (panel,) = figure.panels
    assert (panel.title, panel.x.title, panel.y.title, panel.y.better, panel.y.log) == ("b: ASHA seed 0", "epoch", "loss", "min", False)
    assert curves(panel) == {
        "trial 0": ("completed", (1.0, 3.0, 9.0), (0.9, 0.4, 0.2)),
        "trial 1": ("stopped", (1.0,), (0.8,)),
        "trial 2": ("paused", (1.0, 3.0), (0.7, 0.5)),
        "trial 3": ("failed", (1.0,), (0.9,)),
    }
    assert [(group.kind, group.x, group.y, group.texts) for group in panel.marks] == [
        ("stopped", (1.0,), (0.8,), ("trial 1 stopped_by_method",)),
        ("paused", (3.0,), (0.5,), ("trial 2 paused",)),
        ("failed", (1.0,), (0.9,), ("trial 3 out_of_memory",)),
    ]
    assert [(line.at, line.name, line.along) for line in panel.references] == [(1.0, "rung 1", "x"), (3.0, "rung 3", "x")]
    assert figure.notes == ("Upright lines: levels at which the method stopped or paused a trial.",)


def test_of_a_level_reported_twice_the_last_counts_and_levels_are_in_order():
    told = {0: reports(0.9, 0.5, 0.6, 0.3, levels=(1.0, 2.0, 2.0, 3.0)), 1: reports(0.7, 0.8, levels=(2.0, 1.0))}
    (panel,) = learning_curves_figure([experiment([trial(n, {"x": 0.1}, {}) for n in (0, 1)], reports=told, definition=BY_EPOCH)]).panels
    assert curves(panel) == {"trial 0": ("completed", (1.0, 2.0, 3.0), (0.9, 0.6, 0.3)), "trial 1": ("completed", (1.0, 2.0), (0.8, 0.7))}


def test_without_levels_reports_are_numbered_and_values_far_apart_are_on_a_logarithmic_axis():
    told = {0: reports(500.0, None, 4.0)}
    (panel,) = learning_curves_figure([experiment([trial(0, {"x": 0.1}, {})], reports=told)]).panels
    assert (panel.x.title, panel.y.log, panel.references) == ("report", True, ())
    assert curves(panel) == {"trial 0": ("completed", (1.0, 3.0), (500.0, 4.0))}


def test_the_first_seed_that_reported_more_than_once_is_shown_and_methods_that_stop_come_first():
    one = [trial(0, {"x": 0.1}, {})]
    many, few = {0: reports(2.0, 1.0)}, {0: reports(2.0)}
    made = [
        experiment(one, reports=many, number=5),
        experiment(one, reports=many, number=4),
        experiment(one, reports=few, number=3),
        experiment(one, method="ASHA", reports=many, number=7, decided_at=[1.0]),
    ]
    figure = learning_curves_figure(made)
    assert [panel.title for panel in figure.panels] == ["b: ASHA seed 7", "b: RS seed 4"]
    assert learning_curves_figure(made[2:3]).notes == ("No trial reported more than once.",)


def test_of_too_many_trials_the_best_the_worst_and_some_between_by_rank_stay(monkeypatch):
    monkeypatch.setattr(module, "MOST_TRIALS", 3)
    ends = [5.0, 1.0, 4.0, 2.0, 3.0]
    told = {number: reports(9.0, end) for number, end in enumerate(ends)}
    made = experiment([trial(number, {"x": 0.1}, {}) for number in range(5)], reports=told)
    figure = learning_curves_figure([made])
    assert [(curve.name, curve.y[-1]) for curve in figure.panels[0].curves] == [("trial 0", 5.0), ("trial 1", 1.0), ("trial 4", 3.0)]
    assert figure.notes == ("b: RS seed 0: 2 of its trials are left out, evenly by their value.",)


def test_benchmarks_have_panels_of_their_own():
    made = experiment([trial(0, {"x": 0.1}, {})], reports={0: reports(2.0, 1.0)})
    other = dataclasses.replace(made, run=dataclasses.replace(made.run, benchmark="c"))
    assert [panel.title for panel in learning_curves_figure([made, other]).panels] == ["b: RS seed 0", "c: RS seed 0"]
