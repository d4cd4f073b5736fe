"""Data sets of SageMaker Bencher: which samples, in which files, how often."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from benchmarking.bencher.data import PLACEHOLDER, dataset_of, mounted
from definitions.datasets import Dataset
from definitions.errors import UserError

SYNTHETIC = {"type": "synthetic", "prefix": "p", "dimension": [180, 240, 3], "num_files": 4, "num_copies": 10, "num_classes": 2}
FSX = {"fsx_file_system_id": "fs-0123456789abcdef0", "fsx_file_system_directory_path": "/fsx/"}


def made(given, name="d"):
    notes: list[str] = []
    found = dataset_of(name, given, notes)
    TypeAdapter(Dataset).validate_python(found)
    return found, notes


def test_records_of_synthetic_files_are_samples_and_each_file_is_a_shard():
    found, notes = made({**SYNTHETIC, "format": "tfrecord/raw", "num_records": 1000})
    assert found == {
        "type": "images", "content": "noise", "format": "tfrecord", "samples": 4000, "resolution": "240x180", "classes": 2,
        "encoding": "raw", "samples_per_shard": 1000, "copies": 10,
    }  # fmt: skip
    assert notes == []


def test_files_of_one_image_have_no_shards_and_the_noise_is_another():
    found, notes = made({**SYNTHETIC, "format": "jpg", "num_files": 1000, "num_copies": 1})
    assert (found["samples"], found["quality"]) == (1000, 100)
    assert {"samples_per_shard", "copies", "encoding"}.isdisjoint(found)
    assert notes == ["data set d: pixels are even noise in place of noise about a mean of each class, so that files differ in size"]


def test_caltech_is_the_same_archive():
    assert made({"type": "caltech", "format": "tfrecord/jpg", "num_records": 3061, "num_copies": 50})[0] == {
        "type": "caltech256", "format": "tfrecord", "encoding": "jpg", "samples_per_shard": 3061, "copies": 50
    }  # fmt: skip
    assert made({"type": "caltech", "format": "jpg", "num_copies": 1})[0] == {"type": "caltech256", "format": "jpg"}


def test_a_prefix_is_where_bencher_looks_for_it():
    found, _ = made({"type": "s3prefix", "format": "tar/jpg", "bucket": "b", "prefix": "x/y/"}, name="mine")
    assert found == {"type": "s3", "uri": "s3://b/x/y/mine/", "format": "tar"}


def test_a_mounted_one_lies_below_the_file_systems_directory():
    notes: list[str] = []
    given = {"type": "caltech", "format": "tfrecord/jpg", "prefix": "datasets/cal"}
    found = mounted("d", given, FSX, notes)
    assert found == {
        "type": "filesystem",
        "kind": "fsx",
        "id": "fs-0123456789abcdef0",
        "directory": "/fsx/datasets/cal/d",
        "format": "tfrecord",
    }
    TypeAdapter(Dataset).validate_python(found)
    assert notes == []
    assert mounted("d", given, {**FSX, "fsx_file_system_id": "fs-XXXXXXXXXXXXXXXXX"}, notes)["id"] == PLACEHOLDER
    assert "is no file system: put yours" in notes[0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"type": "imagenet", "format": "jpg"}, "type 'imagenet'"),
        ({"type": "caltech", "format": "webp"}, "format 'webp'"),
        ({"type": "caltech", "format": "tfrecord/jpg"}, "num_records is None"),
        ({**SYNTHETIC, "format": "jpg", "dimension": 180}, "dimension 180"),
        ({**SYNTHETIC, "format": "jpg", "num_files": True}, "num_files is True"),
        ({"type": "s3prefix", "format": "jpg", "prefix": "p"}, "no bucket"),
    ],
)
def test_what_bencher_has_not_is_refused(given, message):
    with pytest.raises(UserError, match=message):
        made(given)


def test_a_file_system_without_its_block_is_refused():
    with pytest.raises(UserError, match="no block `fsx`"):
        mounted("d", {"type": "caltech", "format": "jpg"}, {}, [])


def test_what_has_no_counterpart_is_noted():
    _, notes = made({"type": "caltech", "format": "jpg", "bucket": "b", "colour": 1, "num_copies": 1})
    assert notes == [
        "data set d: colour has no counterpart",
        "data set d: bucket and prefix are left out: what is made here is uploaded to sagemaker.bucket, by its content",
    ]
    assert "three channels" in made({**SYNTHETIC, "format": "jpg", "dimension": [10, 20, 1]})[1][0]
