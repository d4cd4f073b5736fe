"""Failures counted by cause and method; what the method or the budget wanted is none."""

from __future__ import annotations

from benchmarking.figures.failures import failures_figure
from tests.benchmarking.figures.made_details import experiment, job


def failed(number, cause, message=""):
    return job(number, 0, 1, 2, status="failed", cause=cause, message=message)


def test_causes_are_counted_by_method_the_commonest_first_and_the_last_message_stays():
    made = [
        experiment(jobs=[job(0, 0, 1, 2), failed(1, "disk_full", "no space"), failed(2, "out_of_memory", "first")]),
        experiment(number=4, jobs=[failed(0, "out_of_memory", "second"), job(1, 0, 1, 2, status="stopped", cause="stopped_by_method")]),
        experiment(method="TPE", jobs=[failed(3, "out_of_memory", "third"), job(1, 0, 1, 2, status="paused", cause="paused_by_method")]),
    ]
    figure = failures_figure(made)
    bars, table = figure.panels
    assert bars.bars.categories == ("RS", "TPE")
    assert [(stack.name, stack.values) for stack in bars.stacks] == [("out_of_memory", (2.0, 1.0)), ("disk_full", (1.0, 0.0))]
    assert table.columns == ("method", "cause", "jobs", "last", "message")
    assert table.rows == (
        ("RS", "out_of_memory", 2, "seed 4, trial 0", "second"),
        ("RS", "disk_full", 1, "seed 0, trial 1", "no space"),
        ("TPE", "out_of_memory", 1, "seed 0, trial 3", "third"),
    )
    assert figure.notes == ("4 of 7 jobs failed.",)


def test_where_none_failed_it_says_of_how_many():
    made = experiment(jobs=[job(0, 0, 1, 2), job(1, 0, 1, 2, status="stopped", cause="budget_spent")])
    assert (failures_figure([made]).panels, failures_figure([made]).notes) == ((), ("None of 2 jobs failed.",))


def test_one_that_was_tried_again_and_then_worked_is_a_failure_of_one_job():
    figure = failures_figure([experiment(jobs=[job(0, 0, 1, 2, status="waiting", cause="spot_interruption"), job(0, 3, 4, 5)])])
    assert [(stack.name, stack.values) for stack in figure.panels[0].stacks] == [("spot_interruption", (1.0,))]
    assert figure.notes == ("1 of 2 jobs failed.",)
