"""An experiment whose state is kept in a store: the same records there as in its folder."""

from __future__ import annotations

import pytest

from backends.simulated.backend import SimulatedBackend
from benchmarking.experiment import Surroundings, run_experiment
from benchmarking.methods.registry import experiment_spec
from benchmarking.remote.keeping import StoreKeeper, key_of
from definitions.resolve import Resolved
from definitions.schema import Budget
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.experiments import FakeTable, definition
from tests.benchmarking.remote.remote_lab import ONE, Clock, rows_in, segments_in


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarking.archive.environment._git", lambda folder: None)  # which would start a process
    (tmp_path / "fake.py").write_text("")
    fake = definition(budget=Budget(max_num_trials=4), source_dir=str(tmp_path), simulated={"table": "none.csv"})
    return experiment_spec(Resolved(fake, {}, "simulated"), "RS", 1, "t", tmp_path / "results", {})


def run(spec, store, **options):
    keeper = StoreKeeper(store, ONE, Clock().pace)
    made = {"make_backend": lambda name, context: SimulatedBackend(FakeTable()), "keeper": keeper} | options
    return run_experiment(spec, Surroundings({}, spec.results_dir.parent / "cache", **made))


def test_the_store_has_the_records_of_the_folder(spec):
    store = MemoryStore()
    assert run(spec, store).ending.exit_code == 0
    assert key_of(spec) == "fake/RS-simulated-0"
    found = segments_in(store, key_of(spec))
    assert sum((one.rows for one in found), ()) == rows_in(spec.folder)
    assert rows_in(spec.folder)[-1][2] == "end"


def test_one_that_is_left_has_no_results_yet(spec):
    store, tuners = MemoryStore(), []
    result = run(
        spec,
        store,
        started=lambda tuner, n_workers: tuners.append(tuner),
        observers=(lambda record, state: state.reports == 2 and tuners[0].detach(),),
    )
    assert str(result.ending.reason) == "detached"
    assert not (spec.folder / "trials.csv").exists()
    assert sum((one.rows for one in segments_in(store, key_of(spec))), ()) == rows_in(spec.folder)
