import pytest
from pydantic import TypeAdapter, ValidationError

from definitions.datasets import Dataset, Resolution

RESOLUTION = TypeAdapter(Resolution)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("496x387", "496x387"), (" 8 X 9 ", "8x9"), ("1x1", "1x1"), ("65500x65500", "65500x65500"), ("007x08", "7x8")],
)
def test_a_resolution_is_written_one_way(text, expected):
    assert RESOLUTION.validate_python(text) == expected


@pytest.mark.parametrize("text", ["0x9", "9x0", "65501x9", "9x65501", "9", "9x", "x9", "-9x9", "9x9x9", "9.5x9", ""])
def test_what_no_jpeg_can_have_is_refused(text):
    with pytest.raises(ValidationError, match="needs width x height in pixels, such as 496x387"):
        RESOLUTION.validate_python(text)


DATASET = TypeAdapter(Dataset)
PATH = {"type": "path", "path": "/data"}
SHARED = {"type": "filesystem", "kind": "fsx", "id": "fs-0123456789abcdef0", "directory": "/set"}


def made(**given):
    return DATASET.validate_python(given)


@pytest.mark.parametrize(
    ("kind", "dumped"),
    [
        # The contents of sets that were made follow from these: another default makes them all anew.
        ("images", {"format": "jpg", "samples": 2000, "image_size": 96, "shard_size": 8388608, "seed": 0}),
        (
            "bytes",
            {"format": "bin", "samples": 1000, "size": 100000, "spread": 0.0, "samples_per_shard": None, "shard_size": 8388608}
            | {"copies": 1, "seed": 0},
        ),
        ("table", {"format": "csv", "rows": 10000, "columns": 10, "partitions": 4, "classes": 2, "copies": 1, "seed": 0}),
        (
            "caltech256",
            {"format": "jpg", "encoding": None, "samples": None, "samples_per_shard": None, "shard_size": 8388608, "copies": 1}
            | {"url": "https://data.caltech.edu/records/nyy15-4j048/files/256_ObjectCategories.tar"}
            | {"md5": "67b4f42ca05d46448c6bb8ecd2220f6d"},
        ),
    ],
)
def test_what_a_set_is_by_default(kind, dumped):
    assert made(type=kind).model_dump() == {"type": kind, **dumped}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("content", "noise"),
        ("encoding", "jpg"),
        ("resolution", "8x9"),
        ("spread", 0.5),
        ("quality", 3),
        ("classes", 3),
        ("samples_per_shard", 5),
        ("copies", 2),
    ],
)
def test_a_key_that_came_later_is_dumped_where_it_says_something(key, value):
    found = made(type="images", **{key: value}).model_dump()
    assert found == {**made(type="images").model_dump(), key: value}


@pytest.mark.parametrize(
    ("given", "inside", "pixels", "quality", "classes"),
    [
        ({}, "jpg", (96, 96), 90, 2),
        ({"content": "noise"}, "jpg", (96, 96), 75, 10),
        ({"format": "png"}, "png", (96, 96), 90, 2),
        ({"format": "tar", "image_size": 8}, "jpg", (8, 8), 90, 2),
        ({"format": "tar", "encoding": "raw", "resolution": "8x9", "quality": 1, "classes": 1}, "raw", (8, 9), 1, 1),
    ],
)
def test_images_follow_from_what_is_given(given, inside, pixels, quality, classes):
    found = made(type="images", **given)
    assert (found.inside, found.pixels, found.encoder_quality, found.class_count) == (inside, pixels, quality, classes)


@pytest.mark.parametrize(
    ("given", "layout", "labels", "own"),
    [
        ({"type": "images"}, "files", "folder", None),
        ({"type": "images", "format": "chunks"}, "chunks", "member", None),
        ({"type": "bytes", "format": "tar"}, "shards", "none", None),
        ({"type": "table"}, "table", "feature", None),
        ({"type": "caltech256", "format": "tfrecord"}, "records", "feature", None),
        (PATH, "files", "folder", None),
        ({**PATH, "labels": "none"}, "files", "none", None),
        ({**PATH, "format": "tar", "labels": "folder"}, "shards", "folder", None),
        ({"type": "s3", "uri": "s3://bucket", "format": "parquet"}, "table", "feature", None),
        (SHARED, "files", "folder", "fsx"),
        ({**SHARED, "kind": "efs"}, "files", "folder", "efs"),
    ],
)
def test_how_it_is_read_follows_from_its_format(given, layout, labels, own):
    found = made(**given)
    assert (found.layout, found.label_place, found.own_ingestion) == (layout, labels, own)


def test_a_shared_file_system_has_a_place_of_its_own_form():
    assert made(**SHARED).uri == "fsx://fs-0123456789abcdef0/set"
    assert made(**{**SHARED, "kind": "efs", "directory": "/"}).uri == "efs://fs-0123456789abcdef0/"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"type": "images", "format": "parquet"}, "images are made as jpg, png, tar, tfrecord or chunks; 'parquet' was given"),
        ({"type": "images", "encoding": "png"}, "encoding: 'png': files of format jpg hold jpg; tar, tfrecord and chunks any"),
        ({"type": "images", "resolution": "8x9", "image_size": 8}, "resolution and image_size: give one of them"),
        ({"type": "images", "samples_per_shard": 5, "shard_size": 5}, "samples_per_shard and shard_size: give one of them"),
        ({"type": "images", "spread": 1.0}, "less than 1"),
        ({"type": "images", "spread": -0.1}, "greater than or equal to 0"),
        ({"type": "images", "quality": 0}, "greater than or equal to 1"),
        ({"type": "images", "quality": 101}, "less than or equal to 100"),
        ({"type": "bytes", "samples_per_shard": 5, "shard_size": 5}, "samples_per_shard and shard_size: give one of them"),
        ({"type": "table", "rows": 3}, "partitions: 4 of 3 rows: a partition needs a row"),
        ({"type": "caltech256", "encoding": "raw"}, "encoding: 'raw': files of format jpg hold jpg; tar and tfrecord any"),
        ({"type": "caltech256", "samples_per_shard": 5, "shard_size": 5}, "samples_per_shard and shard_size: give one of them"),
        ({"type": "caltech256", "md5": "67b4f42ca05d46448c6bb8ecd2220f6"}, "should match pattern"),
        ({**PATH, "labels": "member"}, "labels: 'member': with format jpg they are one of folder, none"),
        ({"type": "s3", "uri": "s3:///key"}, "should match pattern"),
        ({**SHARED, "id": "fs-0123456"}, "should match pattern"),
        ({**SHARED, "directory": "set"}, "should match pattern"),
        ({**SHARED, "directory": "/" + "a" * 4096}, "at most 4096 characters"),
    ],
)
def test_what_cannot_be_is_refused_in_words(given, said):
    with pytest.raises(ValidationError) as caught:
        made(**given)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"type": "images", "resolution": "8x9", "image_size": 96},
        {"type": "images", "quality": 100, "spread": 0.99},
        {"type": "bytes", "samples_per_shard": 5},
        {"type": "table", "rows": 4},
        {"type": "caltech256", "format": "tar", "encoding": "raw", "samples_per_shard": 5},
        {**SHARED, "id": "fs-01234567", "directory": "/" + "a" * 4095},
    ],
)
def test_at_its_limits_it_is_taken(given):
    assert made(**given).model_dump(include=set(given)) == given
