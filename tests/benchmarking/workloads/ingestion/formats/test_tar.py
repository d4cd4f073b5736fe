import pytest

from benchmarking.workloads.ingestion.formats.tar import members_of
from benchmarking.workloads.ingestion.samples import BadSampleError
from benchmarking.workloads.ingestion.tolerance import Tolerance
from tests.benchmarking.workloads.ingestion.contract import tar_of


def samples(tmp_path, members, labels="member", tolerance=None):
    path = tar_of(tmp_path / "s.tar", members)
    with path.open("rb") as file:
        return list(members_of(file, "s.tar", labels, tolerance or Tolerance()))


def brief(found):
    return [(sample.key, sample.content, sample.label) for sample in found]


def test_members_of_one_stem_are_one_sample_in_any_order(tmp_path):
    given = {"0.jpg": b"a", "0.cls": b"3", "1.cls": b"4", "1.JPEG": b"b", "d/2.png": b"c", "d/2.json": b"{}", "d/2.cls": b" 5\n"}
    assert brief(samples(tmp_path, given)) == [("0", b"a", 3), ("1", b"b", 4), ("2", b"c", 5)]


def test_samples_without_labels_are_read_and_counted(tmp_path):
    """As s3torch-datagen writes them."""
    tolerance = Tolerance()
    found = samples(tmp_path, {f"image_{number}.jpeg": b"x" for number in range(30)}, tolerance=tolerance)
    assert len(found) == 30
    assert {sample.label for sample in found} == {0}
    assert tolerance.counts()["unlabelled"] == 30


def test_a_stem_counts_with_its_folder(tmp_path):
    assert brief(samples(tmp_path, {"a/0.jpg": b"x", "b/0.jpg": b"y"}, "none")) == [("0", b"x", 0), ("0", b"y", 0)]


def test_labels_by_numbered_folders(tmp_path):
    given = {"007.cat/1.jpg": b"x", "12/2.jpg": b"y"}
    assert [sample.label for sample in samples(tmp_path, given, "folder")] == [7, 12]
    with pytest.raises(BadSampleError, match=r"member cat/1\.jpg: its folder 'cat' begins with no number"):
        samples(tmp_path, {"cat/1.jpg": b"x"}, "folder")


def test_a_label_that_is_no_number_is_located_and_may_be_skipped(tmp_path):
    given = {"0.jpg": b"x", "0.cls": b"cat", "1.jpg": b"y", "1.cls": b"1"}
    with pytest.raises(BadSampleError, match=r"s\.tar: member 0\.jpg: its label b'cat' is no whole number"):
        samples(tmp_path, given)
    assert brief(samples(tmp_path, given, tolerance=Tolerance(1, len))) == [("1", b"y", 1)]
    assert [sample.label for sample in samples(tmp_path, given, "none")] == [0, 0]


def test_what_comes_before_damage_is_read(tmp_path):
    path = tar_of(tmp_path / "s.tar", {f"{number}.jpg": b"x" * 600 for number in range(5)})
    path.write_bytes(path.read_bytes()[: 3 * 1536 + 700])
    tolerance = Tolerance(1, len)
    with path.open("rb") as file:
        assert [sample.key for sample in members_of(file, "s.tar", "none", tolerance)] == ["0", "1"]
    assert tolerance.counts()["bad_samples"] == 1
