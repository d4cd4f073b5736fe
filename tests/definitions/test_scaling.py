"""What `scale` makes of data sets, and what a steady window keeps them from."""

from __future__ import annotations

import math

import pytest

from benchmarking.workloads.ingestion.knobs import Knobs
from benchmarking.workloads.measuring import window
from definitions.datasets import Caltech256Dataset, ImagesDataset, TableDataset
from definitions.definition_hash import definition_hash
from definitions.scaling import STEADY_ROUNDS, datasets_of, scale_lines, scaled, shrunk, steady_samples
from definitions.schema import BenchmarkDefinition

LARGE = {"type": "images", "samples": 30_607, "copies": 50}
SMALL = {"type": "images", "samples": 30_607}


def made(**changes):
    given = {"name": "a", "script": "a.py", "space": {"batch_size": 32, "loader_workers": 2}, "objectives": {"loss": "min"}}
    return BenchmarkDefinition(**{**given, "datasets": {"large": LARGE, "small": SMALL, "own": {"type": "path", "path": "x"}}, **changes})


def test_copies_go_first_then_samples():
    found = shrunk(ImagesDataset(**LARGE), 0.005, 1)
    assert (found.full, found.samples) == (1_530_350, 7_652)
    assert (found.dataset.samples, found.dataset.copies) == (7_652, 1)
    half = shrunk(ImagesDataset(**LARGE), 0.5, 1)
    assert (half.dataset.samples, half.dataset.copies) == (30_607, 25)


def test_it_never_falls_below_what_a_steady_window_needs_nor_above_what_there_is():
    kept = shrunk(ImagesDataset(**SMALL), 0.005, 768)
    assert (kept.samples, kept.kept_for_window) == (768, True)
    assert shrunk(ImagesDataset(**SMALL), 0.5, 768) == shrunk(ImagesDataset(**SMALL), 0.5, 1)
    assert shrunk(ImagesDataset(type="images", samples=100), 0.5, 768).samples == 100


def test_each_worker_has_a_shard_as_at_full_size():
    records = ImagesDataset(**SMALL, format="tfrecord", samples_per_shard=3061)
    found = shrunk(records, 0.05, 1, workers=2)
    assert (found.samples, found.dataset.samples_per_shard, found.per_shard) == (1_531, 766, 766)
    assert shrunk(records, 0.5, 1, workers=2).dataset.samples_per_shard == 3061
    # Where there are fewer shards than workers at full size too, that is part of the question.
    assert shrunk(records, 0.05, 1, workers=16).dataset.samples_per_shard == 3061
    told = made(scale=0.05, datasets={"records": {**SMALL, "format": "tfrecord", "samples_per_shard": 3061}})
    assert scale_lines(told) == ["scale 0.05 of generated data: records 1,531 of 30,607, in shards of 766 so that each worker has one"]


def test_tables_lose_rows_and_the_partitions_that_would_be_empty():
    found = shrunk(TableDataset(type="table", rows=100, partitions=4), 0.02, 1).dataset
    assert (found.rows, found.partitions) == (2, 2)


def test_all_of_an_archive_is_counted_as_what_it_is_known_to_hold():
    assert shrunk(Caltech256Dataset(type="caltech256"), 0.01, 1).samples == 307


@pytest.mark.parametrize(("workers", "batch", "prefetch"), [(0, 32, 0), (2, 32, 0), (4, 64, 3), (8, 128, 0)])
def test_so_many_samples_have_a_steady_window_by_the_measure_of_the_script(workers, batch, prefetch):
    space = {"batch_size": batch, "loader_workers": workers, **({"prefetch_factor": prefetch} if prefetch else {})}
    samples = steady_samples(made(space=space))
    ahead = Knobs(loader_workers=workers, prefetch_factor=prefetch).prefetch

    def window_of(batches):
        return window.steady_window(range(1, batches + 1), [batch] * batches, workers=workers, prefetch=ahead, min_window_s=0)

    assert isinstance(window_of(samples // batch), window.Window)
    assert isinstance(window_of(samples // batch - 1), window.TooShort)
    assert window.MIN_ROUNDS == STEADY_ROUNDS


def test_where_a_step_takes_a_known_time_the_window_is_as_long_as_it_must_be():
    # 64 images in 64/328 s, on two workers: 5 s are 26 batches; 1.25 times that are 33, of which each round has two.
    asked = {"model": "sleep", "compute_s": 64 / 328, "batch_size": 64, "loader_workers": 2}
    assert steady_samples(made(space={"x": 1}, arguments=asked)) == 64 * (6 + 2 * (17 + 1))
    assert steady_samples(made(space={"x": 1}, arguments={**asked, "min_window_s": 0.5})) == 64 * (6 + 2 * 9)


def test_of_a_space_the_largest_of_each_key_counts_and_of_trials_each():
    swept = made(space={"batch_size": {"choice": [32, 128]}, "loader_workers": {"randint": [0, 4]}})
    assert steady_samples(swept) == 128 * (4 * 3 + 4 * 9)
    listed = made(space={}, trials=({"batch_size": 128, "loader_workers": 0}, {"batch_size": 32, "loader_workers": 4}))
    assert steady_samples(listed) == max(128 * 10, 32 * 48)


def test_what_is_no_number_is_left_to_the_script():
    assert steady_samples(made(space={"batch_size": "auto"})) == 64 * 10


def test_the_users_own_data_are_as_they_are():
    found = datasets_of(made(scale=0.005))
    assert found["own"].path == "x"
    assert (found["large"].samples, found["small"].samples) == (7_652, 32 * 24)
    assert datasets_of(made()) == made().datasets


def test_it_is_said():
    assert scale_lines(made(scale=0.005)) == [
        "scale 0.005 of generated data: large 7,652 of 1,530,350; small 768 of 30,607 (a steady window needs so many)"
    ]
    alike = {"a": SMALL, "b": {**SMALL, "format": "tar"}}
    assert scale_lines(made(scale=0.5, datasets=alike)) == ["scale 0.5 of generated data: a, b 15,304 of 30,607"]
    assert scale_lines(made()) == []
    assert scale_lines(made(scale=0.5, datasets={})) == ["scale 0.5: no data set is generated, so nothing is smaller"]


def test_it_is_in_the_hash_and_full_size_is_as_it_was():
    assert len({definition_hash(made(scale=scale)) for scale in (1.0, 0.5, 0.25)}) == 3
    assert definition_hash(made(scale=1)) == definition_hash(made())
    assert scaled(made()) == {}


@pytest.mark.parametrize("scale", [0, -1, 1.5, math.nan, "half", True])
def test_what_is_no_share_is_refused(scale):
    with pytest.raises(ValueError, match="scale"):
        made(scale=scale)


def test_the_share_of_models_whose_checkpoints_are_saved_is_said():
    saving = {"checkpoint_model": "vit_base", "checkpoint_scale": 0.5}
    assert scale_lines(made(datasets={}, arguments=saving)) == ["checkpoints have 0.5 of their models' parameters"]
    assert scale_lines(made(scale=0.1, datasets={}, arguments=saving)) == ["checkpoints have 0.05 of their models' parameters"]
    assert scale_lines(made(datasets={}, arguments={"checkpoint_model": "vit_base"})) == []
