"""What the console shows of a run that goes on, by what study.json says of it now."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchmarking.remote.console import ConsoleMetrics
from benchmarking.remote.launch_record import TUNING_METRICS, LaunchRecord, SentPackage
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord, as_json
from definitions.errors import UserError
from launch.launching.shown import left_out_text, metrics_shown, study_of
from tests.backends.memory_store import MemoryStore

DEFINITION = """
name: {name}
script: gone.py
source_dir: /nobody/has/this
space: {{x: {{uniform: [0.0, 1.0]}}, kind: {{choice: [red, blue]}}}}
objectives: {{loss: min}}
"""


def record(*, shown):
    return LaunchRecord("t", "0", "", "", SentPackage("", ""), controller={TUNING_METRICS: shown})


def place(*names, seeds=1):
    experiments = tuple(PlannedExperiment(name, "GONE", number, number, "h", True, 1) for name in names for number in range(seeds))
    study = StudyRecord(StudyFlags("sagemaker"), {name: DEFINITION.format(name=name) for name in names}, experiments)
    store = MemoryStore()
    store.put("study.json", as_json(study).encode())
    return SimpleNamespace(tag="t", store=store, uri="s3://b/runs/t", found_by=lambda *words: " ".join(words))


def test_neither_script_nor_method_has_to_be_here():
    found = metrics_shown("t", record(shown=True), study_of(place("toy", "other", seeds=2)))
    assert [*found.expressions] == [
        *("trials_done", "trials_running", "spent_usd", "best_metric_value", "best_trial_id", "best_experiment"),
        *("other:best_metric_value", "other:best_trial_id", "other:best_experiment", "best_hp_x", "other:best_hp_x"),
    ]


def test_a_run_that_was_launched_without_shows_none():
    assert metrics_shown("t", record(shown=False), study_of(place("toy"))) == ConsoleMetrics({})


def test_a_run_without_study_json_is_refused_with_what_to_do():
    empty = place("toy")
    empty.store.delete(["study.json"])
    with pytest.raises(UserError, match=r"has no study\.json") as refused:
        study_of(empty)
    assert "`clean --tag t` removes what there is" in str(refused.value)


def test_those_without_room_are_named():
    assert left_out_text(ConsoleMetrics({"a": "b"})) == []
    assert left_out_text(ConsoleMetrics({"a": "b"}, ("c", "d"))) == ["the console takes 1 metrics of a job; it does not show c, d"]
