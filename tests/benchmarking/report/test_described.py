"""The summary as a definition and a back-end have it: labels of both, and a command that finds the benchmark again."""

from __future__ import annotations

import pytest

from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import StateSetup, TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.report.described import summary_of
from definitions.registry import built_in
from definitions.resolve import resolve
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec

OPTION = {"change": {"loader_workers": 2}, "gain": 1.5, "low": 1.4, "high": 1.6, "then": "compute"}
LAST = {"samples_per_s": 9.0, "bound_by": "decode", "ceiling_reader": 99.0, "advice": "a", "advice_options": [OPTION]}


def summary(tmp_path):
    made = BenchmarkDefinition(
        name="mine", script="s.py", space={"ingestion": "fastfile"}, objectives={"samples_per_s": "max"}, scale=0.5,
        datasets={"d": {"type": "images"}}, inputs={"train": {}},
    )  # fmt: skip
    state = ExperimentState(StateSetup(objectives=made.objectives))
    state.trials[0] = TrialState(0, 0, TrialSpec({"ingestion": "fastfile"}), status=TrialStatus.COMPLETED)
    state.trials[0].last.update(LAST)
    return summary_of(made, "local", state, "nominal", tmp_path)


def test_labels_of_both_are_in_it(tmp_path):
    found = summary(tmp_path)
    assert "fastfile (emulated)" in found.table
    assert found.table.splitlines()[-2:] == [
        "scale 0.5 of generated data: d 1,000 of 2,000",
        "ingestion fastfile: emulated, so that speed and cost are not the platform's",
    ]


def advised(tmp_path, definition):
    state = ExperimentState(StateSetup(objectives=definition.objectives))
    state.trials[0] = TrialState(0, 0, TrialSpec({"ingestion": "local"}), status=TrialStatus.COMPLETED)
    state.trials[0].last.update(LAST)
    return summary_of(definition, "local", state, "nominal", tmp_path).verdict


def test_a_command_names_a_built_in_benchmark_and_the_kept_definition_of_any_other(tmp_path):
    demo = resolve(built_in("demo"), "local", ["scale=0.5", "ingestion=local"]).definition
    assert "run --benchmark demo --scale 0.5 --set ingestion=local loader_workers=2`" in advised(tmp_path, demo)
    assert f"run --benchmark {tmp_path}/definition.yaml --scale 0.5 --set ingestion=fastfile loader_workers=2`" in summary(tmp_path).verdict


def test_a_command_says_where_it_ran(tmp_path):
    """What was advised on SageMaker's emulator ran on this machine."""
    made = resolve(built_in("demo"), "sagemaker", ["ingestion=file"]).definition
    state = ExperimentState(StateSetup(objectives=made.objectives))
    state.trials[0] = TrialState(0, 0, TrialSpec({"ingestion": "file"}), status=TrialStatus.COMPLETED)
    state.trials[0].last.update(LAST)
    for dollars, words in (("emulated", "--backend sagemaker --emulate"), ("", "--backend sagemaker")):
        said = summary_of(made, "sagemaker", state, dollars, tmp_path).verdict
        assert f"run --benchmark demo {words} --set ingestion=file loader_workers=2`" in said


@pytest.mark.parametrize("setting", ["arguments.epochs=3", "datasets.photo_shards.image_size=32", "preload=[]"])
def test_what_was_set_for_the_run_is_not_lost_by_the_command(tmp_path, setting):
    demo = resolve(built_in("demo"), "local", [setting]).definition
    assert f"run --benchmark {tmp_path}/definition.yaml --set ingestion=local loader_workers=2`" in advised(tmp_path, demo)
