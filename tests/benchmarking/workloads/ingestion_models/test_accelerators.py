import pytest

from benchmarking.workloads.ingestion_models.accelerators import ACCELERATORS


def test_what_an_accelerator_takes_and_how_many_a_pipeline_feeds():
    h100 = ACCELERATORS["h100_resnet50"]
    assert h100.samples_per_s == pytest.approx(1785.7, rel=1e-4)
    # 90 % of 1,786 is 1,607: a pipeline of 3,300 a second keeps two busy enough, one of 1,600 none.
    assert [h100.fed_by(rate) for rate in (1600.0, 1610.0, 3300.0)] == [0, 1, 2]
    assert ACCELERATORS["h100_cosmoflow"].fed_by(500.0) == 2


def test_samples_of_another_size_than_the_workloads_are_said_to_be():
    h100 = ACCELERATORS["h100_resnet50"]
    assert h100.size_note(100_000.0) == ""
    assert h100.size_note(3_000.0).startswith(
        "samples have 3,000 bytes at the mean, those of the workload that is emulated 114,660: how many"
    )
    assert h100.size_note(1e6) != ""


def test_the_table_is_that_of_the_source():
    assert {name: (one.batch_size, one.compute_s, one.threshold) for name, one in ACCELERATORS.items()} == {
        "h100_resnet50": (400, 0.224, 0.90),
        "h100_unet3d": (7, 0.323, 0.90),
        "h100_cosmoflow": (1, 0.0035, 0.70),
    }
