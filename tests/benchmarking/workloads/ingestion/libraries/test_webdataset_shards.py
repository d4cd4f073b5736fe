import io

import pytest

from benchmarking.workloads.ingestion import BadSampleError, Tolerance
from benchmarking.workloads.ingestion.libraries.webdataset_shards import WebDatasetShards
from tests.benchmarking.workloads.ingestion.contract import tar_of

pytest.importorskip("webdataset")


class Kept:
    """A store of one object, which counts how often it was opened."""

    def __init__(self, content):
        self.content, self.opened = content, []

    def open(self, name):
        self.opened.append(name)
        return io.BytesIO(self.content)


def read(path, tolerance=None, labels="member"):
    store = Kept(path.read_bytes())
    found = list(WebDatasetShards(store, labels, tolerance or Tolerance())("s3://bucket/a.tar"))
    assert store.opened == ["s3://bucket/a.tar"]
    return found


def test_objects_in_s3_are_opened_by_our_scheme_and_unpacked_by_the_library(tmp_path):
    path = tar_of(tmp_path / "a.tar", {"x/1.jpg": b"one", "x/1.cls": b"7", "x/2.JPEG": b"two", "x/2.cls": b"8"})
    assert [(one.key, one.content, one.label, one.place) for one in read(path)] == [
        ("1", b"one", 7, "s3://bucket/a.tar: member x/1.jpg"),
        ("2", b"two", 8, "s3://bucket/a.tar: member x/2.jpeg"),
    ]


def test_what_is_cut_is_named_with_the_last_sample_and_may_be_skipped(tmp_path):
    path = tar_of(tmp_path / "a.tar", {f"{number}.jpg": bytes(2000) for number in range(5)})
    path.write_bytes(path.read_bytes()[:7000])
    with pytest.raises(
        BadSampleError, match=r"s3://bucket/a\.tar: it cannot be read, after member 0: ReadError: unexpected end of data \("
    ):
        read(path, labels="none")
    tolerance = Tolerance(1, say=lambda line: None)
    assert len(read(path, tolerance, "none")) == 1
    assert tolerance.counts()["bad_samples"] == tolerance.counts()["read_errors"] == 1


def test_samples_without_labels_are_counted(tmp_path):
    tolerance = Tolerance()
    read(tar_of(tmp_path / "a.tar", {"1.jpg": b"x", "2.jpg": b"y"}), tolerance)
    assert tolerance.counts()["unlabelled"] == 2
