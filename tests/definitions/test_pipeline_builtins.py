"""The built-in experiments on input pipelines: what they measure, on which data, and what stands for what."""

from __future__ import annotations

import pytest

from definitions.registry import Registry
from definitions.resolve import resolve
from definitions.scaling import datasets_of, scaled, steady_samples

NAMES = ("blog_ingestion", "dataloading", "sharding", "record_size", "feed_h100")


def definition(name, backend="local", *settings):
    return resolve(Registry().find(name), backend, settings).definition


def grid(made):
    return len({tuple(sorted(one.items())) for one in made.search_space.grid(1)})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_each_is_listed_says_what_it_is_and_measures_all_its_points_in_turn(name, backend):
    made = definition(name, backend)
    assert made.method == "GRID"
    assert made.order == "interleave"
    assert made.repeats >= 2
    assert made.budget.max_num_trials >= grid(made) * made.repeats >= 16
    assert next(one for one in Registry().names() if one.name == name).summary.endswith("?") or "?" in made.description


@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_the_demo_has_samples_for_a_steady_window_under_each_of_its_configurations_on_fast_machines_too(backend):
    made = definition("demo", backend)
    samples = {data.samples for data in made.datasets.values()}
    assert min(samples) >= steady_samples(made)
    # At 8,000 samples a second, half again what was measured on two cores, with the batches that are left out at 0 to 2 workers.
    assert (min(samples) - 7 * 64) / 8000 > made.arguments["min_window_s"]


def test_the_blog_is_twelve_trials_three_times():
    made = definition("blog_ingestion")
    assert (grid(made), made.repeats) == (12, 3)
    datasets = made.datasets
    total = {name: datasets[name].samples * datasets[name].copies for name in made.search_space.domains["dataset"].grid(0)}
    assert total == {"small_files": 30_607, "small_records": 30_607, "large_files": 1_530_350, "large_records": 1_530_350}
    # 64 images at the published mean of File and FSx.
    assert made.arguments["batch_size"] / made.arguments["compute_s"] == pytest.approx((329.5 + 328.4 + 327.3 + 326.3) / 4, rel=2e-3)


def test_on_a_laptop_the_blog_says_what_stands_for_what():
    made = definition("blog_ingestion")
    assert made.stands_for["ingestion"] == {"local": "FSx for Lustre"}
    assert "328 images/s" in made.stands_for["model_without_gpu"]["sleep"]
    assert "ingestion" not in definition("blog_ingestion", "sagemaker").stands_for
    assert definition("blog_ingestion", "sagemaker").arguments["instance_type"] == "ml.p3.2xlarge"


def test_the_blog_compares_no_small_set_with_a_large_one():
    made = definition("blog_ingestion", "local")
    groups = made.compare_within["dataset"]
    assert sorted(name for values in groups.values() for name in values) == sorted(made.datasets)
    assert all(name.split()[0] in value for name, values in groups.items() for value in values)


def test_at_a_two_hundredth_the_blog_is_small_but_each_set_has_a_steady_window():
    made = definition("blog_ingestion", "local", "scale=0.005")
    found = {name: one.samples for name, one in scaled(made).items()}
    assert found == {"small_files": 1_536, "small_records": 1_536, "large_files": 7_652, "large_records": 7_652}


def test_shards_are_of_4_to_64_mib_and_record_files_of_1_to_2048():
    sizes = sorted(one.shard_size for one in definition("sharding").datasets.values() if one.format == "tar")
    assert sizes == [n << 20 for n in (4, 8, 16, 32, 64)]
    assert sorted(one.samples_per_shard for one in definition("record_size").datasets.values()) == [2**n for n in range(12)]


def test_an_h100_is_fed_by_samples_of_its_size_in_its_batches():
    from benchmarking.workloads.ingestion_models.accelerators import ACCELERATORS

    made, h100 = definition("feed_h100"), ACCELERATORS["h100_resnet50"]
    assert (made.arguments["batch_size"], made.arguments["compute_s"]) == (h100.batch_size, h100.compute_s)
    assert made.datasets["files"].resolution == "490x382"  # noise of 114,814 bytes, as was measured over 400 images
    # What is scaled is read in batches of an H100 on as many workers as there may be.
    small = datasets_of(definition("feed_h100", "local", "scale=0.001"))
    assert small["files"].samples >= 400 * (2 * 3 + 2 * 9)
