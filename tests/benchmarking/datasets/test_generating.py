"""What generated files hold, read by other means than ours, and how a set is cut into parts."""

import csv
import io
import tarfile

import numpy as np
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from benchmarking.datasets import generating
from benchmarking.datasets.generating import Generator, content_key
from benchmarking.datasets.parts import Parts, fitting_per_file, fixed_per_file, parts_of
from benchmarking.workloads.ingestion.tfrecord import parsed, records
from definitions.errors import UserError
from definitions.schema import BytesDataset, Dataset, ImagesDataset, TableDataset


def images(**given):
    return ImagesDataset(**{"type": "images", "samples": 10, "resolution": "32x32", **given})


def written(spec, folder):
    generator = Generator(spec)
    for number in range(generator.parts.count):
        generator.write_part(number, folder)
    return folder


@pytest.mark.parametrize("content", ["photo", "noise"])
def test_tar_shards_hold_an_image_and_its_class_side_by_side(tmp_path, content):
    written(images(format="tar", content=content, samples_per_shard=5), tmp_path)
    with tarfile.open(tmp_path / "shard-00001.tar") as archive:
        found = {member.name: archive.extractfile(member).read() for member in archive}
    assert list(found) == [f"{index:06d}.{ending}" for index in range(5, 10) for ending in ("jpg", "cls")]
    assert found["000007.cls"] == str(7 % (2 if content == "photo" else 10)).encode()
    assert Image.open(io.BytesIO(found["000007.jpg"])).size == (32, 32)


def test_pixels_in_tar_shards_are_what_numpy_loads(tmp_path):
    spec = images(format="tar", encoding="raw", resolution="20x30")
    written(spec, tmp_path)
    with tarfile.open(tmp_path / "shard-00000.tar") as archive:
        pixels = np.load(io.BytesIO(archive.extractfile("000003.npy").read()))
    assert (pixels.shape, pixels.dtype) == ((30, 20, 3), np.uint8)
    encoded = images(format="tar", encoding="png", resolution="20x30")
    written(encoded, tmp_path)
    with tarfile.open(tmp_path / "shard-00000.tar") as archive:
        again = np.asarray(Image.open(io.BytesIO(archive.extractfile("000003.png").read())))
    assert (pixels == again).all()


@pytest.mark.parametrize(("encoding", "more"), [(None, {}), ("raw", {"height": [30], "width": [20], "depth": [3]})])
def test_records_hold_the_features_that_bencher_writes(tmp_path, encoding, more):
    written(images(format="tfrecord", encoding=encoding, resolution="20x30"), tmp_path)
    with (tmp_path / "shard-00000.tfrecord").open("rb") as file:
        found = [parsed(payload) for payload in records(file, "shard")]
    assert len(found) == 10
    third = found[3]
    image = third.pop("image")[0]
    assert third == {"label": [1], "key": [b"000003"], **more}
    assert len(image) == 1800 if more else Image.open(io.BytesIO(image)).size == (20, 30)


def test_bytes_are_of_their_size_and_differ(tmp_path):
    written(BytesDataset(type="bytes", samples=50, size="1kB"), tmp_path)
    found = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert {len(one) for one in found} == {1000}
    assert len(set(found)) == 50


def test_bytes_may_have_a_spread_and_lie_in_shards(tmp_path):
    written(BytesDataset(type="bytes", samples=200, size=1000, spread=0.5, format="tar", samples_per_shard=200), tmp_path)
    with tarfile.open(tmp_path / "shard-00000.tar") as archive:
        sizes = [member.size for member in archive]
    assert min(sizes) >= 500
    assert max(sizes) <= 1500
    assert 950 < np.mean(sizes) < 1050
    assert len(sizes) == 200


def rows_of(folder):
    found = []
    for path in sorted(folder.iterdir()):
        with path.open() as file:
            found.append(list(csv.DictReader(file)))
    return found


def test_tables_have_their_rows_columns_and_partitions(tmp_path):
    written(TableDataset(type="table", rows=2500, columns=3, partitions=4, classes=4), tmp_path)
    parts = rows_of(tmp_path)
    assert [len(part) for part in parts] == [625, 625, 625, 625]
    assert list(parts[0][0]) == ["x0", "x1", "x2", "label"]
    rows = [row for part in parts for row in part]
    share = np.bincount([int(row["label"]) for row in rows]) / len(rows)
    assert share == pytest.approx([0.25] * 4, abs=0.04)
    total = [sum(float(row[f"x{column}"]) for column in range(3)) for row in rows]
    assert np.corrcoef(total, [int(row["label"]) for row in rows])[0, 1] > 0.9


def test_rows_do_not_depend_on_partitions(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    (one,) = rows_of(written(TableDataset(type="table", rows=2300, partitions=1), tmp_path / "one"))
    many = rows_of(written(TableDataset(type="table", rows=2300, partitions=7), tmp_path / "many"))
    assert one == [row for part in many for row in part]


def test_parquet_is_the_same_table(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "csv").mkdir()
    (tmp_path / "parquet").mkdir()
    (rows,) = rows_of(written(TableDataset(type="table", rows=20, partitions=1, columns=2), tmp_path / "csv"))
    written(TableDataset(type="table", rows=20, partitions=1, columns=2, format="parquet"), tmp_path / "parquet")
    table = parquet.read_table(tmp_path / "parquet" / "part-00000.parquet").to_pydict()
    assert list(table) == ["x0", "x1", "label"]
    assert [int(row["label"]) for row in rows] == table["label"]
    assert [float(row["x1"]) for row in rows] == pytest.approx(table["x1"], rel=1e-5)


@pytest.mark.parametrize(
    ("parts", "count", "last_files", "last_samples"),
    [
        (Parts(1000, 1, 256), 4, range(768, 1000), range(999, 1000)),
        (Parts(10, 4, 1), 3, range(2, 3), range(8, 10)),
        (Parts(10, 4, 64), 1, range(3), range(8, 10)),
        (Parts(1, 4, 1), 1, range(1), range(1)),
    ],
)
def test_parts_hold_each_sample_once(parts, count, last_files, last_samples):
    assert parts.count == count
    assert parts.files(count - 1) == last_files
    assert parts.of_file(last_files[-1]) == last_samples
    files = [file for number in range(count) for file in parts.files(number)]
    assert [sample for file in files for sample in parts.of_file(file)] == list(range(parts.samples))


@pytest.mark.parametrize(
    ("spec", "per_file", "files_per_part"),
    [
        (images(), 1, 256),
        (images(format="tar", samples_per_shard=100), 100, 2),
        (images(format="tar", samples_per_shard=1000), 1000, 1),
        (images(format="tar"), None, 25),
        (TableDataset(type="table", rows=10, partitions=4), 3, 1),
    ],
)
def test_a_part_has_about_256_samples(spec, per_file, files_per_part):
    assert fixed_per_file(spec) == per_file
    assert parts_of(spec, 1000, per_file or 10).files_per_part == files_per_part


def test_a_shard_holds_at_least_one_sample():
    assert fitting_per_file(1000, 300.0) == 3
    assert fitting_per_file(1000, 3000.0) == 1


def test_what_does_not_change_the_bytes_does_not_change_the_key():
    assert content_key(images(shard_size="1MiB")) == content_key(images(shard_size="2MiB"))
    given = {"format": "tar", "samples_per_shard": 3}
    assert content_key(images(**given)) != content_key(images(format="tar"))
    changes = ({}, {"content": "noise"}, {"quality": 50}, {"classes": 3}, {"spread": 0.1}, {"copies": 2}, {"format": "png"})
    assert len({content_key(images(**change)) for change in changes}) == len(changes)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"type": "images", "format": "csv"}, "images are made as jpg, png, tar, tfrecord or chunks"),
        ({"type": "images", "format": "parquet"}, "images are made as jpg, png, tar, tfrecord or chunks; 'parquet' was given"),
        ({"type": "images", "encoding": "raw"}, "files of format jpg hold jpg"),
        ({"type": "images", "resolution": "496"}, "width x height in pixels"),
        ({"type": "images", "resolution": "0x7"}, "width x height in pixels"),
        ({"type": "images", "resolution": "4x7", "image_size": 5}, "resolution and image_size: give one"),
        ({"type": "images", "format": "tar", "samples_per_shard": 4, "shard_size": 5}, "samples_per_shard and shard_size: give one"),
        ({"type": "images", "spread": 1.0}, "less than 1"),
        ({"type": "images", "quality": 101}, "less than or equal to 100"),
        ({"type": "table", "rows": 3, "partitions": 4}, "a partition needs a row"),
        ({"type": "path", "path": "x", "format": "jpg", "labels": "member"}, "with format jpg they are one of folder, none"),
        ({"type": "s3", "uri": "s3://b/x", "format": "tar", "labels": "feature"}, "with format tar they are one of member, folder, none"),
    ],
)
def test_what_contradicts_itself_is_refused(given, said):
    with pytest.raises(ValidationError, match=said):
        TypeAdapter(Dataset).validate_python(given)


def test_a_dump_is_read_again_as_it_was():
    for one in (
        images(image_size=96, resolution="9x8"),
        images(image_size=96, format="tar", samples_per_shard=4),
        BytesDataset(type="bytes"),
    ):
        assert TypeAdapter(Dataset).validate_python(one.model_dump(mode="json")) == one


def test_keys_that_came_later_are_not_in_the_dump_of_what_was_there_before():
    assert ImagesDataset(type="images").model_dump() == {
        "type": "images",
        "format": "jpg",
        "samples": 2000,
        "image_size": 96,
        "shard_size": 8388608,
        "seed": 0,
    }


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        (TableDataset(type="table", format="parquet"), "pyarrow"),
        (images(content="noise"), "pillow"),
        (images(), "scikit-learn"),
    ],
)
def test_a_package_that_is_missing_is_named_before_anything_is_made(monkeypatch, spec, missing):
    from importlib import metadata

    real = metadata.version

    def version(name):
        if name == missing:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    with pytest.raises(UserError, match=f"the package {missing} is not installed\n.*pip install .*{missing}"):
        generating.versions(spec)
