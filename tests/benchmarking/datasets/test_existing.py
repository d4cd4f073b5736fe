"""What folders and prefixes hold, and what of it is not read."""

import io
import tarfile

import pytest

from benchmarking.datasets import existing
from benchmarking.datasets.existing import check_folder, holding, look_into_folder, look_into_prefix
from benchmarking.workloads.ingestion.tfrecord import framed
from definitions.errors import UserError
from definitions.schema import PathDataset, S3Dataset

FILES = [("cat/1.jpg", 10), ("cat/2.JPEG", 20), ("dog/1.JPG", 5), ("dog/notes.txt", 7)]


def path(**given):
    return PathDataset(**{"type": "path", "path": "/data", **given})


def test_samples_classes_and_bytes_are_of_what_is_read():
    found = holding(FILES, path())
    assert (found.samples, found.classes, found.size_bytes) == (3, 2, 35)
    assert found.note == "not read: 1 of 4 files (1 .txt)"


def test_without_labels_in_folders_there_are_no_classes():
    assert holding(FILES, path(labels="none")).classes is None


def test_of_shards_nobody_counted_the_samples():
    found = holding([("a.tar", 10), ("b.TAR", 5)], path(format="tar"))
    assert (found.samples, found.classes, found.size_bytes, found.note) == (None, None, 15, "")


def test_of_a_part_no_count_is_told():
    found = holding(FILES, path(), is_whole=False)
    assert (found.samples, found.classes, found.size_bytes) == (None, None, None)
    assert found.note == "not read: 1 of 4 files (1 .txt), of the first 4"


def test_nothing_of_the_format_is_none():
    assert holding(FILES, path(format="png")) is None


def test_a_folder_is_looked_into(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.PNG").write_bytes(b"123")
    assert look_into_folder("d", path(path=str(tmp_path), format="png")).samples == 1
    with pytest.raises(UserError, match=r"data set .d.: [\s\S]*holds no \*.tfrecord"):
        look_into_folder("d", path(path=str(tmp_path), format="tfrecord"))


def test_whether_a_folder_can_be_read_is_known_without_reading_all_of_it(tmp_path, monkeypatch):
    for name in ("a/1.jpg", "b/2.jpg"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    monkeypatch.setattr("benchmarking.datasets.existing.files_below", None)
    check_folder("d", path(path=str(tmp_path)))
    with pytest.raises(UserError, match=r"holds no \*\.png"):
        check_folder("d", path(path=str(tmp_path), format="png"))
    with pytest.raises(UserError, match="there is no such folder"):
        check_folder("d", path(path=str(tmp_path / "c")))


def packed(path, *members):
    with tarfile.open(path, "w") as archive:
        for name in members:
            info = tarfile.TarInfo(name)
            info.size = 1
            archive.addfile(info, io.BytesIO(b"1"))


NONE = "shard_1.tar has no .cls beside {}: its samples have no labels, which `labels: none` says"


@pytest.mark.parametrize(
    ("members", "labels", "note"),
    [
        (
            ["image_0.JPEG", "image_1.JPEG"],
            None,
            "shard_1.tar has no .cls beside image_0.JPEG: its samples have no labels, which `labels: none` says",
        ),
        (["image_0.JPEG", "image_1.JPEG"], "none", ""),
        (["0.jpg", "0.cls", "1.jpg"], None, ""),
        (["0.cls", "0.jpg"], None, ""),
        (["0.jpg", "1.cls"], None, NONE.format("0.jpg")),
    ],
)
def test_an_archive_without_labels_is_told_before_the_start(tmp_path, members, labels, note):
    packed(tmp_path / "shard_1.tar", *members)
    assert look_into_folder("d", path(path=str(tmp_path), format="tar", labels=labels)).note == note


def test_an_archive_that_is_none_is_told_too(tmp_path):
    (tmp_path / "a.tar").write_bytes(b"x" * 1000)
    assert look_into_folder("d", path(path=str(tmp_path), format="tar")).note.startswith("a.tar is no TAR archive that can be read")


def test_a_record_file_that_is_cut_is_told_with_its_place(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(framed(b"abc"))
    assert look_into_folder("d", path(path=str(tmp_path), format="tfrecord")).note == ""
    (tmp_path / "a.tfrecord").write_bytes(framed(b"abc")[:-1])
    assert look_into_folder("d", path(path=str(tmp_path), format="tfrecord")).note == (
        "a.tfrecord: record at byte 0: the file ends within it: 6 of 7 bytes"
    )


@pytest.mark.parametrize(
    ("listed", "most", "samples", "note"),
    [
        (FILES, 10, 3, "not read: 1 of 4 files (1 .txt)"),
        (FILES, 4, None, "not read: 1 of 4 files (1 .txt), of the first 4"),
        ([("a.txt", 1)] * 9, 5, None, "not read: the first 5 objects, of which none is a *.jpg or *.jpeg (in upper or lower case)"),
    ],
)
def test_a_prefix_is_listed_as_far_as_is_cheap(monkeypatch, listed, most, samples, note):
    monkeypatch.setattr(existing, "MOST_LISTED", most)
    monkeypatch.setattr(existing, "objects_under", lambda uri, target: iter(listed))
    found = look_into_prefix("d", S3Dataset(type="s3", uri="s3://b/d"), None)
    assert (found.samples, found.note) == (samples, note)


@pytest.mark.parametrize(("listed", "said"), [([], "no object under this prefix"), ([("a.txt", 1)], r"it holds no \*.jpg")])
def test_an_empty_prefix_and_one_of_another_format_are_refused(monkeypatch, listed, said):
    monkeypatch.setattr(existing, "objects_under", lambda uri, target: iter(listed))
    with pytest.raises(UserError, match=said):
        look_into_prefix("d", S3Dataset(type="s3", uri="s3://b/d"), None)
