"""An experiment whose state is kept in a store: the same records there as in its folder."""

from __future__ import annotations

import shutil

import pytest

from benchmarking.archive.folder import read_nonce
from benchmarking.remote.keeping import key_of
from benchmarking.remote.shipping import TakenOverError
from definitions import strict_json
from tests.backends.memory_store import MemoryStore, StoreFaultError
from tests.benchmarking.remote.remote_lab import TWO, fake_spec, rows_in, run_kept, segments_in


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarking.archive.environment._git", lambda folder: None)  # which would start a process
    return fake_spec(tmp_path)


def test_the_store_has_the_records_of_the_folder(spec):
    store = MemoryStore()
    assert run_kept(spec, store).ending.exit_code == 0
    assert key_of(spec) == "fake/RS-simulated-0"
    found = segments_in(store, key_of(spec))
    assert sum((one.rows for one in found), ()) == rows_in(spec.folder)
    assert rows_in(spec.folder)[-1][2] == "end"
    said = strict_json.loads(store.objects[f"{key_of(spec)}/live.json"][0].decode())
    assert (said["trials"], said["records"], said["generation"]) == (4, len(rows_in(spec.folder)), 1)


def left(spec, store):
    """Run it up to its second report, and leave it there."""
    tuners = []
    result = run_kept(
        spec,
        store,
        started=lambda tuner, n_workers: tuners.append(tuner),
        observers=(lambda record, state: state.reports == 2 and tuners[0].detach(),),
    )
    assert str(result.ending.reason) == "detached"


def test_one_that_is_left_has_no_results_yet(spec):
    store = MemoryStore()
    left(spec, store)
    assert not (spec.folder / "trials.csv").exists()
    assert sum((one.rows for one in segments_in(store, key_of(spec))), ()) == rows_in(spec.folder)
    files = [one.key.removeprefix(f"{key_of(spec)}/files/") for one in store.list(f"{key_of(spec)}/files/")]
    assert files == ["definition.yaml", "environment.json", "experiment.json"]


def test_another_machine_goes_on_with_the_same_names_and_leaves_the_same_files(spec):
    store = MemoryStore()
    left(spec, store)
    nonce = read_nonce(spec.folder)
    jobs = {row[3] for row in rows_in(spec.folder) if row[2] == "start"}
    shutil.rmtree(spec.results_dir)
    assert run_kept(spec, store, TWO).ending.exit_code == 0
    assert read_nonce(spec.folder) == nonce
    assert jobs <= {row[3] for row in rows_in(spec.folder) if row[2] == "start"}
    files = {one.key.removeprefix(f"{key_of(spec)}/files/") for one in store.list(f"{key_of(spec)}/files/")}
    assert files >= {"definition.yaml", "environment.json", "experiment.json", "trials.csv", "reports.csv", "result.json"}
    assert not {name for name in files if name.startswith(("journal", "lock", "source", "."))}
    assert store.objects[f"{key_of(spec)}/files/trials.csv"][0] == (spec.folder / "trials.csv").read_bytes()
    assert "ended_under" in store.objects[f"{key_of(spec)}/files/experiment.json"][0].decode()


class LaggingStore(MemoryStore):
    """A store whose listings do not show the objects that were written last."""

    newest = 5

    def list(self, prefix=""):
        late = [*self.objects][-self.newest or len(self.objects) :]
        return [one for one in super().list(prefix) if one.key not in late]


@pytest.mark.parametrize("newest", [1, 3, 5, 8, 99])
def test_a_listing_that_lags_hides_nothing_from_who_goes_on(spec, newest):
    store = LaggingStore()
    store.newest = newest
    left(spec, store)
    nonce, before = read_nonce(spec.folder), rows_in(spec.folder)
    shutil.rmtree(spec.results_dir)
    assert run_kept(spec, store, TWO).ending.exit_code == 0
    assert read_nonce(spec.folder) == nonce
    assert rows_in(spec.folder)[: len(before)] == before
    store.newest = 0
    found = segments_in(store, key_of(spec))
    assert sum((one.rows for one in found), ()) == rows_in(spec.folder)


def test_who_begins_what_another_began_at_the_same_moment_does_nothing(spec):
    store = MemoryStore()
    key = f"{key_of(spec)}/files/experiment.json"

    def another(operation, asked):
        # Between the look and the write.
        if operation == "create" and asked == key:
            store.objects[key] = (b'{"nonce": "theirs"}', "x", 0.0)
        return ""

    store.failing = another
    with pytest.raises(TakenOverError, match="another controller began it"):
        run_kept(spec, store)
    assert segments_in(store, key_of(spec)) == []


def test_what_is_not_there_when_a_job_would_begin_keeps_it_from_beginning(spec):
    store, submitted = MemoryStore(), []
    store.failing = lambda operation, key: "refused" if operation == "upload" else ""
    with pytest.raises(StoreFaultError):
        run_kept(spec, store, observers=(lambda record, state: submitted.append(record),))
    assert submitted == []
