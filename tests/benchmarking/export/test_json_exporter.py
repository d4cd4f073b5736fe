import json
import math

import pytest

from backends.failures import Cause
from backends.simulated.backend import SimulatedBackend
from benchmarking.export.json_exporter import JsonExporter, pretty, read_result, result_document
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeTable, MemoryJournal, definition
from tests.benchmarking.export.exported import context, one


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_what_an_experiment_came_to(tmp_path):
    benchmark = definition(space={"x": {"choice": [3, 0, 1]}}, budget=Budget(max_failures=5, max_cost=2.0), n_workers=1)
    backend = SimulatedBackend(FakeTable(fails={1: Cause.SCRIPT_ERROR}), start_at=1795817069.0)
    found = one(benchmark, tmp_path, method="GRID", backend=backend, n_workers=1)
    document = result_document(found)
    assert (document["tag"], document["benchmark"], document["method"], document["seed"], document["random_seed"]) == (
        "t", "fake", "GRID", 0, 7,
    )  # fmt: skip
    assert (document["finished"], document["reason"], document["exit_code"]) == (True, "exhausted", 0)
    assert document["trials"] == {"completed": 2, "failed": 1}
    # Three reports each second: loss is 1/3 + x/100 at the end.
    assert (document["best"], document["best_config"]) == (pytest.approx(1 / 3, abs=1e-12), {"x": 0})
    assert document["budget"] == {"max_failures": 5, "max_cost": 2.0}
    assert document["started_at"] == "2026-11-27T22:04:29.000Z"
    assert document["records"] == len([*found.journal.records()])
    assert document["elapsed_s"] == pytest.approx(3.25 + 3.25 + 3.375, abs=0.01)


def test_a_killed_one_is_not_finished(tmp_path):
    whole = MemoryJournal()
    benchmark = definition(budget=Budget(max_num_trials=3))
    one(benchmark, tmp_path, journal=whole)
    found = one(benchmark, tmp_path)
    found.state.ended = None
    document = result_document(found)
    assert (document["finished"], document["reason"], document["exit_code"]) == (False, None, None)


def test_the_files_of_a_tag_hold_its_experiments_and_what_was_left_out(tmp_path):
    exporter = JsonExporter(context(tmp_path))
    for name in ("a", "b"):
        found = one(definition(name=name, budget=Budget(max_num_trials=1)), tmp_path)
        assert exporter.experiment(found, tmp_path / name) == [str(tmp_path / name / "result.json")]
    assert exporter.finish(["c: not started"]) == [str(tmp_path / "collated_results.json")]
    collated = read(tmp_path / "collated_results.json")
    assert [document["benchmark"] for document in collated["experiments"]] == ["a", "b"]
    assert collated["left_out"] == ["c: not started"]
    assert collated["experiments"] == [read_result(tmp_path / name) for name in ("a", "b")]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 99}'])
def test_a_result_that_cannot_be_read_is_none(tmp_path, text):
    (tmp_path / "result.json").write_text(text, encoding="utf-8")
    assert read_result(tmp_path) is None


def test_what_is_not_finite_is_no_invalid_json():
    text = pretty({"b": math.nan, "a": [math.inf, 1.5], "ü": "<script>"})
    assert json.loads(text, parse_constant=pytest.fail) == {"a": [{"$float": "inf"}, 1.5], "b": {"$float": "nan"}, "ü": "<script>"}
