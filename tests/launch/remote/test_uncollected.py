"""What of a run is in the store alone."""

from __future__ import annotations

from benchmarking.remote.layout import segment_key
from benchmarking.remote.restored import Restored, note_restored
from launch.remote.uncollected import uncollected, words
from tests.backends.memory_store import MemoryStore

A, B = "toy/RS-sagemaker-0", "toy/RS-sagemaker-1"


def test_an_experiment_is_collected_when_its_last_segment_was_brought_from_this_very_run(tmp_path):
    store = MemoryStore()
    for number in (1, 2, 3):
        store.put(segment_key(A, number), b"x")
    store.put(segment_key(B, 1), b"x")
    store.put(f"{A}/files/experiment.json", b"{}")
    assert uncollected(store, tmp_path) == {A: 3, B: 1}
    (tmp_path / A).mkdir(parents=True)
    (tmp_path / B).mkdir(parents=True)
    note_restored(tmp_path / A, Restored(store.uri, 2, 20))
    note_restored(tmp_path / B, Restored("s3://another/outrider/runs/t", 1, 20))
    assert uncollected(store, tmp_path) == {A: 1, B: 1}
    note_restored(tmp_path / A, Restored(store.uri, 3, 30))
    note_restored(tmp_path / B, Restored(store.uri, 1, 20))
    assert uncollected(store, tmp_path) == {}


def test_what_is_missing_is_named_up_to_five():
    assert words({A: 3, B: 1}) == f"{A} (3 segments), {B} (1 segment)"
    assert words({f"e{number}": 2 for number in range(7)}).endswith("e4 (2 segments), and 2 more experiments")
