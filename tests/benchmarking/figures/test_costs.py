"""Dollars by what became of jobs: sums that a reader can check."""

from __future__ import annotations

import dataclasses

from benchmarking.figures.costs import costs_figure
from benchmarking.figures.details import KeptDetail
from tests.benchmarking.figures.made_details import experiment, job


def bars(panel):
    return panel.bars.categories, {stack.name: stack.values for stack in panel.stacks}


def test_each_method_has_the_dollars_of_all_its_seeds_by_what_became_of_the_jobs():
    made = [
        experiment(jobs=[job(0, 0, 1, 2), job(1, 0, 1, 2, status="stopped", cost_usd=0.5)]),
        experiment(number=1, jobs=[job(0, 0, 1, 2), job(1, 0, 1, 2, status="failed", cause="script_error", cost_usd=0.125)]),
        experiment(method="TPE", jobs=[job(0, 0, 1, 2, cost_usd=2.0)], kept=[KeptDetail("j0", "m", 2.0, 4.0, 0.75)]),
    ]
    figure = costs_figure(made)
    (panel,) = figure.panels
    assert (panel.title, panel.value.unit, figure.notes) == ("b", "USD", ())
    assert bars(panel) == (
        ("RS", "TPE"),
        {"completed": (0.5, 2.0), "stopped": (0.5, 0.0), "failed": (0.125, 0.0), "kept instances": (0.0, 0.75)},
    )
    assert [stack.name for stack in panel.stacks] == ["completed", "stopped", "failed", "kept instances"]


def test_one_that_is_tried_again_has_failed_and_one_that_never_ran_or_is_open_costs_nothing():
    jobs = [
        job(0, 0, 1, 2, status="waiting", cause="spot_interruption"),
        job(1, 0, 1, 2, status="waiting"),
        job(2, 0, None, 2, status="failed", cost_usd=None),
        job(3, 0, 1, None, status="", cost_usd=None),
    ]
    figure = costs_figure([experiment(jobs=jobs)])
    assert bars(figure.panels[0])[1] == {"failed": (0.25,), "waiting": (0.25,)}
    assert figure.notes == ()


def test_unknown_prices_are_counted_and_add_nothing():
    jobs = [job(0, 0, 1, 2), job(1, 0, 1, 2, cost_usd=None)]
    # The first ended at a price that is not known; the second is still kept, and its price comes.
    kept = [KeptDetail("j0", "m", 2.0, 4.0), KeptDetail("j1", "m", 2.0)]
    figure = costs_figure([experiment(jobs=jobs, kept=kept)])
    assert bars(figure.panels[0])[1] == {"completed": (0.25,), "kept instances": (0.0,)}
    assert figure.notes == ("b: the price of 2 jobs is unknown, so that bars are too short.",)


def test_each_benchmark_has_a_panel_and_nothing_a_reason():
    other = experiment(jobs=[job(0, 0, 1, 2, cost_usd=4.0)])
    other = dataclasses.replace(other, run=dataclasses.replace(other.run, benchmark="c"))
    figure = costs_figure([experiment(jobs=[job(0, 0, 1, 2)]), other])
    assert [(panel.title, bars(panel)[1]) for panel in figure.panels] == [("b", {"completed": (0.25,)}), ("c", {"completed": (4.0,)})]
    assert costs_figure([experiment()]).notes == ("No job has ended.",)
