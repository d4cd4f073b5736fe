"""Stages and phases: seconds of a trial, and of the mean job where there are several experiments."""

from __future__ import annotations

import dataclasses

from benchmarking.figures.stages import stages_figure
from tests.benchmarking.figures.made_details import experiment, job


def bars(panel):
    return panel.bars.categories, {stack.name: stack.values for stack in panel.stacks}


def timed(number, stages=None, phases=None):
    return job(number, 0.0, 1.0, 9.0, stages_s=stages or {}, phases_s=phases or {})


def test_a_single_experiment_has_a_bar_for_each_trial_with_all_its_attempts():
    jobs = [
        timed(0, {"Training": 30.0, "Starting": 5.0}, {"train": 20.0, "load": 4.0, "extra": 1.0}),
        dataclasses.replace(timed(0, {"Training": 10.0, "Starting": 6.0, "Uploading": 2.0}), attempt=2),
        timed(1, {"Downloading": 3.0}, {"train": 7.0, "checkpoint": 2.0}),
    ]
    stages, phases = stages_figure([experiment(jobs=jobs)]).panels
    assert (stages.title, stages.value.unit) == ("Stages of the trial", "s")
    assert bars(stages) == (
        ("trial 0", "trial 1"),
        {"Starting": (11.0, 0.0), "Downloading": (0.0, 3.0), "Training": (40.0, 0.0), "Uploading": (2.0, 0.0)},
    )
    # In the order of a job's life, and what no one else calls so at the end.
    assert [stack.name for stack in stages.stacks] == ["Starting", "Downloading", "Training", "Uploading"]
    assert [stack.name for stack in phases.stacks] == ["load", "train", "checkpoint", "extra"]
    assert bars(phases)[1] == {"load": (4.0, 0.0), "train": (20.0, 7.0), "checkpoint": (0.0, 2.0), "extra": (1.0, 0.0)}


def test_several_experiments_have_the_mean_over_the_jobs_that_say():
    made = [
        experiment(jobs=[timed(0, {"Training": 30.0}), timed(1, {"Training": 10.0, "Starting": 4.0}), timed(2)]),
        experiment(number=1, jobs=[timed(0, {"Training": 20.0})]),
        experiment(method="TPE", jobs=[timed(0, {"Training": 8.0})]),
    ]
    figure = stages_figure(made)
    (stages,) = figure.panels
    assert stages.title == "Stages of the mean job"
    assert bars(stages) == (("RS", "TPE"), {"Starting": (4.0 / 3, 0.0), "Training": (20.0, 8.0)})
    assert figure.notes == ("Phases of the script: no job says.",)


def test_several_benchmarks_are_named_in_the_bars():
    other = experiment(jobs=[timed(0, {"Training": 3.0})])
    other = dataclasses.replace(other, run=dataclasses.replace(other.run, benchmark="c"))
    (panel,) = stages_figure([experiment(jobs=[timed(0, {"Training": 2.0})]), other]).panels
    assert bars(panel) == (("b, RS", "c, RS"), {"Training": (2.0, 3.0)})
