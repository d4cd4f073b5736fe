import json
from pathlib import Path

import pytest

from backends.failures import Cause
from backends.simulated.backend import SimulatedBackend
from benchmarking.export.syne_tune_exporter import SyneTuneExporter, experiment_name, metadata, results_table
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeTable, definition
from tests.benchmarking.export.exported import PROGRESSIVE, context, one


def table_of(found):
    header, rows = results_table(found)
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_a_row_a_report_in_their_columns(tmp_path):
    backend = SimulatedBackend(FakeTable(fails={1: Cause.SCRIPT_ERROR}), start_at=1000.0)
    benchmark = definition(space={"x": {"choice": [0, 1]}}, objectives={"loss": "min", "cost_usd": "min"})
    rows = table_of(one(benchmark, tmp_path, method="GRID", backend=backend, n_workers=1))
    assert [(row["trial_id"], row["st_worker_iter"], row["st_status"]) for row in rows if row["trial_id"] == 0] == [
        (0, 0, "InProgress"), (0, 1, "InProgress"), (0, 2, "Completed"),
    ]  # fmt: skip
    assert [row["st_tuner_time"] for row in rows[:3]] == pytest.approx([1.0, 2.0, 3.0], abs=0.01)
    assert [row["config_x"] for row in rows if row["trial_id"] == 1] == [1] * sum(row["trial_id"] == 1 for row in rows)
    assert [row["cost_usd"] for row in rows[:3]] == [None, None, pytest.approx(3.25 / 3600 * 3.6, abs=1e-9)]
    assert {row["st_status"] for row in rows[-1:]} == {"Failed"}


def test_metadata_says_what_their_launchers_said(tmp_path):
    benchmark = definition(objectives={"loss": "min", "acc": "max"}, fidelity=PROGRESSIVE, n_workers=3,
                           budget=Budget(max_num_trials=1, max_wallclock_time=60.0))  # fmt: skip
    found = metadata(one(benchmark, tmp_path))
    names = ("algorithm", "tag", "benchmark", "seed", "random_seed", "n_workers", "max_wallclock_time", "metric_names", "metric_mode")
    assert [found[name] for name in names] == ["RS", "t", "fake", 0, 7, 3, 60.0, ["loss", "acc"], ["min", "max"]]
    assert (found["resource_attr"], found["max_resource_attr"]) == ("epoch", "epochs")


def test_names_have_no_dots_and_tell_experiments_apart(tmp_path):
    budget = Budget(max_num_trials=1)
    names = [experiment_name(one(definition(name=name, budget=budget), tmp_path)) for name in ("a-b", "a_b")]
    assert len(set(names)) == 2
    assert not any("." in name for name in names)


def test_twice_leaves_the_same_bytes(tmp_path):
    benchmark = definition(budget=Budget(max_num_trials=2))
    found = one(benchmark, tmp_path)
    paths = [Path(told) for told in SyneTuneExporter(context(tmp_path)).experiment(found, tmp_path)]
    first = [path.read_bytes() for path in paths]
    SyneTuneExporter(context(tmp_path)).experiment(found, tmp_path)
    assert [path.read_bytes() for path in paths] == first
    assert json.loads(first[1])["st_tuner_creation_timestamp"] == found.state.first_at


@pytest.mark.slow
def test_their_own_loaders_read_it(tmp_path):
    experiments = pytest.importorskip("syne_tune.experiments")
    exporter = SyneTuneExporter(context(tmp_path))
    for name, method in (("a", "RS"), ("b", "GRID")):
        space = {"x": {"choice": [0, 1, 2]}}
        benchmark = definition(name=name, space=space, budget=Budget(max_num_trials=3, max_wallclock_time=600.0), n_workers=2)
        exporter.experiment(one(benchmark, tmp_path, method=method), tmp_path)
    root = tmp_path / "syne_tune"
    frame = experiments.load_experiments_df(root=root)
    assert len(frame) == 18
    for column, values in {
        "algorithm": {"RS", "GRID"}, "tag": {"t"}, "benchmark": {"a", "b"}, "seed": {0}, "random_seed": {7}, "n_workers": {2},
        "max_wallclock_time": {600.0}, "metric_names": {"loss"}, "metric_mode": {"min"},
    }.items():  # fmt: skip
        assert set(frame[column]) == values
    name = frame[frame["algorithm"] == "GRID"]["tuner_name"].iloc[0]
    loaded = experiments.load_experiment(name, local_path=str(root / "t"))
    assert (loaded.metric_names(), loaded.metric_mode()) == (["loss"], ["min"])
    assert loaded.best_config()["config_x"] == 0
    assert loaded.results["loss"].min() == pytest.approx(1 / 3, abs=1e-12)
    assert loaded.name == name
