"""What the console shows of a study: names, expressions, values, and that they find no line but their own."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from backends.emulator.logs.delivery import metric_finder
from backends.sagemaker.logs.parser import is_marked
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.state import ExperimentState
from benchmarking.remote.console import MOST, STUDY_MARK, console_lines, console_metrics, console_values
from definitions.resolve import resolve_python
from definitions.schema import BenchmarkDefinition
from tests.benchmarking.experiments import FakeTable, MemoryJournal, tuner

SPACE = {"lr": {"loguniform": [1e-4, 1.0]}, "depth": {"choice": [2, 4]}, "kind": {"choice": ["a", "b"]}, "x": {"randint": [0, 99]}}


def spec_of(folder: Path, number: int = 0, name: str = "toy", **changes: Any) -> ExperimentSpec:
    (folder / "t.py").write_text("", encoding="utf-8")
    given: dict[str, Any] = {
        "name": name, "script": "t.py", "source_dir": str(folder), "space": SPACE, "objectives": {"loss": "min"},
        "budget": {"max_num_trials": 4},
    }  # fmt: skip
    definition = BenchmarkDefinition.model_validate(given | changes)
    resolved = resolve_python(definition, "local")
    return ExperimentSpec(resolved, "RS", number, "t", folder / "results", number=number, hears_levels=False, repeats=1)


def run(spec: ExperimentSpec) -> ExperimentState:
    loop = tuner(spec.definition, MemoryJournal(), table=FakeTable(), seed=spec.seed)
    loop.run()
    return loop.state


def keys(*specs: ExperimentSpec) -> list[tuple[str, str, int]]:
    return [(spec.definition.name, spec.method, spec.number) for spec in specs]


def test_names_are_syne_tunes_and_what_has_no_numbers_is_no_metric(tmp_path):
    found = console_metrics([spec_of(tmp_path)])
    assert list(found.expressions) == [
        *("trials_done", "trials_running", "spent_usd", "best_metric_value", "best_trial_id"),
        *("best_hp_lr", "best_hp_depth", "best_hp_x"),
    ]
    assert found.left_out == ()
    several = console_metrics([spec_of(tmp_path), spec_of(tmp_path, 1), spec_of(tmp_path, name="other")])
    assert "best_experiment" in several.expressions
    assert {"best_hp_lr", "other:best_hp_lr", "other:best_metric_value"} <= set(several.expressions)
    assert "other:best_experiment" not in several.expressions
    progressive = {"fidelity": {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 3}}
    assert "best_resource_value" in console_metrics([spec_of(tmp_path, **progressive)]).expressions


def test_forty_are_defined_and_the_rest_is_named(tmp_path):
    space = {f"p{number}": {"uniform": [0, 1]} for number in range(50)}
    found = console_metrics([spec_of(tmp_path, space=space)])
    assert len(found.expressions) == MOST == 40
    assert len(found.left_out) == 5 + 50 - 40
    assert found.left_out[-1] == "best_hp_p49"
    assert {"best_metric_value", "spent_usd"} <= set(found.expressions)


def test_a_name_that_is_too_long_is_left_out_and_one_with_odd_characters_is_found(tmp_path):
    space = {"a" * 250: {"uniform": [0, 1]}, "opt.lr+x": {"uniform": [0, 1]}}
    found = console_metrics([spec_of(tmp_path, space=space)])
    assert found.left_out == ("best_hp_" + "a" * 250,)
    line = console_lines({"best_hp_opt.lr+x": 0.25})[0]
    match = re.search(found.expressions["best_hp_opt.lr+x"], line)
    assert match is not None
    assert float(match[1]) == 0.25


def test_values_are_those_of_the_best_trial_of_all_experiments(tmp_path):
    specs = [spec_of(tmp_path, number) for number in range(3)]
    states = [run(spec) for spec in specs[:2]]
    found = console_values(list(zip(specs[:2], states, strict=True)), keys(*specs))
    losses = {(place, trial.trial): trial.value_of("loss") for place, state in enumerate(states, 1) for trial in state.trials.values()}
    place, number = min(losses, key=losses.__getitem__)
    best = states[place - 1].trials[number]
    assert found["best_metric_value"] == losses[place, number]
    assert (found["best_experiment"], found["best_trial_id"]) == (place, number)
    assert found["best_hp_lr"] == pytest.approx(best.configuration["lr"])
    assert "best_hp_kind" not in found
    assert (found["trials_done"], found["trials_running"]) == (8.0, 0.0)
    assert found["spent_usd"] == pytest.approx(sum(state.money.spent_usd for state in states))


def test_a_larger_value_is_better_where_it_is_to_be_large(tmp_path):
    spec = spec_of(tmp_path, objectives={"loss": "max"})
    state = run(spec)
    assert console_values([(spec, state)], keys(spec))["best_metric_value"] == max(one.value_of("loss") for one in state.trials.values())


def test_the_level_is_the_last_that_the_best_trial_reported(tmp_path):
    spec = spec_of(tmp_path, fidelity={"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 3})
    assert console_values([(spec, run(spec))], keys(spec))["best_resource_value"] == 3.0


def test_what_is_not_known_yet_is_left_out(tmp_path):
    spec = spec_of(tmp_path)
    journal = MemoryJournal()
    state = tuner(spec.definition, journal, table=FakeTable()).state
    assert console_values([(spec, state)], keys(spec)) == {"trials_done": 0.0, "trials_running": 0.0, "spent_usd": 0.0}


def test_expressions_find_each_value_once_and_nothing_in_other_lines(tmp_path):
    specs = [spec_of(tmp_path), spec_of(tmp_path, name="other")]
    values = console_values([(spec, run(spec)) for spec in specs], keys(*specs))
    lines, expressions = console_lines(values), console_metrics(specs).expressions
    find = metric_finder([{"Name": name, "Regex": text} for name, text in expressions.items()])
    seen = [(name, value) for line in lines for name, value in find(line).items()]
    assert len(seen) == len(dict(seen))
    assert dict(seen) == pytest.approx(values, rel=1e-9)
    assert set(values) == set(expressions)
    # What a trial prints is none of it, and it is no report of a trial.
    for line in (
        '[tune-metric]: {"best_metric_value": 1.0, "loss": 2.0}',
        "best_metric_value=1.0",
        "toy RS 0 | trial 3: loss=0.5 best_hp_lr=3",
    ):
        assert find(line) == {}
    assert not any(is_marked(line) for line in lines)


def test_lines_are_short_enough_to_be_searched_whole():
    lines = console_lines({f"best_hp_{number}": float(number) for number in range(100)})
    assert max(map(len, lines)) <= 400
    assert all(line.startswith(STUDY_MARK) for line in lines)
    assert sum(line.count("=") for line in lines) == 100
    assert console_lines({}) == []


def test_of_two_experiments_that_are_as_good_the_first_is_best_and_which_it_is_is_told(tmp_path):
    first = spec_of(tmp_path)
    second = dataclasses.replace(first, number=1)
    found = console_values([(spec, run(spec)) for spec in (first, second)], keys(first, second))
    assert found["best_experiment"] == 1.0
    assert "best_experiment" not in console_values([(first, run(first))], keys(first))


def test_a_line_is_full_at_four_hundred_characters():
    # A mark, then a space, a name, an equals sign and a digit each.
    left = 400 - len(STUDY_MARK) - len(" a=1") - len(" =1")
    assert [len(line) for line in console_lines({"a": 1.0, "b" * left: 1.0})] == [400]
    assert len(console_lines({"a": 1.0, "b" * (left + 1): 1.0})) == 2
