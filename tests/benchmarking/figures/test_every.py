"""All figures of stored and made-up studies: JSON that any parser reads, and a reason where nothing is drawn."""

from __future__ import annotations

import json

import pytest

from benchmarking.comparison.document import document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.figures.data import as_json
from benchmarking.figures.every import figures_of
from tests.benchmarking.figures.made_details import experiment, stored, trial

KEYS = [
    "best_so_far_wallclock", "best_so_far_trials", "best_so_far_cost", "seeds_wallclock", "seeds_trials", "seeds_cost", "final_values",
    "matrix", "ranks", "learning_curves", "parallel_axes", "importance", "pareto", "hypervolume_wallclock", "hypervolume_trials",
    "hypervolume_cost", "time_line", "stages", "costs", "forecasts", "load_curves", "load_platforms", "load_calls",
    "failures", "environment",
]  # fmt: skip


def every(experiments):
    question = ComparisonQuestion()
    found = figures_of(experiments, document([one.run for one in experiments], question), question)
    assert [figure.key for figure in found if not figure.panels and not figure.notes] == []
    known = json.loads(as_json(found), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert "$float" not in as_json(found)
    assert [figure["key"] for figure in known["figures"]] == KEYS
    return {figure.key: figure for figure in found}


@pytest.mark.parametrize("name", ["canary", "race", "repeated"])
def test_stored_experiments_have_all_figures(tmp_path, name):
    found = every([stored(tmp_path, name)])
    assert found["time_line"].panels
    assert found["costs"].panels
    assert bool(found["forecasts"].panels) == (name != "repeated")


def test_one_that_was_not_started_or_has_no_trial_has_reasons():
    assert every([experiment(state=None)])["time_line"].notes[0] == "No job was started."
    assert every([experiment()])["parallel_axes"].panels == ()


def test_values_that_are_no_numbers_are_left_out():
    odd = [float("nan"), float("inf"), "text", None, 1.0]
    trials = [trial(number, {"x": 0.1 * number}, {"loss": value, "acc": 0.5}) for number, value in enumerate(odd)]
    found = every([experiment(trials, losses=[float("nan"), float("inf"), 1.0])])
    assert sorted((line.value is None) for line in found["parallel_axes"].panels[0].lines) == [False, True, True, True, True]
    assert found["best_so_far_trials"].panels[0].curves[0].y == (1.0,)


def test_names_of_any_kind_and_length():
    names = ["<script>alert(1)</script>", "größe\n", "m" * 10_000]
    trials = [trial(0, {"x": 0.5}, {"loss": 1.0, "acc": 0.5})]
    found = every([experiment(trials, method=name, losses=[1.0]) for name in names])
    (short,) = [short for short, whole in found["final_values"].names.items() if whole == names[2]]
    assert len(short) <= 48
    assert len(as_json([found["time_line"]])) < 100_000
