"""Archives that somebody made."""

from __future__ import annotations

import io
import tarfile

import pytest

from backends.serving.front.packages import FolderSource, PackageError, S3Source, unpack
from tests.backends.serving.onnx_packages import archive

MODEL = {"m/config.pbtxt": "", "m/1/model.onnx": b"12345"}


def test_a_package_is_found_with_and_without_its_outer_folder(tmp_path):
    found = unpack(archive(tmp_path / "a.tar.gz", MODEL), tmp_path / "a", "k")
    assert (found.folder, found.size_bytes, found.kind) == (tmp_path / "a" / "m", 5, "k")
    bare = unpack(archive(tmp_path / "b.tar.gz", {"config.pbtxt": "", "1/model.onnx": b"1"}), tmp_path / "b", "k")
    assert bare.folder == tmp_path / "b"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused_and_nothing_is_left(tmp_path, kind):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("m/1/model.onnx")
        member.type, member.linkname = kind, "/etc/passwd"
        tar.addfile(member)
    with pytest.raises(PackageError, match="no plain file"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "a", "k")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("name", ["../m/1/model.onnx", "/m/1/model.onnx", "m/../../1/model.onnx"])
def test_what_would_leave_the_folder_is_refused(tmp_path, name):
    with pytest.raises(PackageError, match="outside of the model's folder"):
        unpack(archive(tmp_path / "in" / "a.tar.gz", {name: b"1"}), tmp_path / "in" / "a", "k")


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_an_archive_that_is_cut_off_anywhere_is_refused(tmp_path, part):
    whole = archive(tmp_path / "a.tar.gz", MODEL).read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(PackageError, match="cannot be unpacked"):
        unpack(tmp_path / "cut.tar.gz", tmp_path / "cut", "k")
    assert not (tmp_path / "cut").exists()


def test_a_file_twice_is_refused(tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        for _ in range(2):
            member = tarfile.TarInfo("m/1/model.onnx")
            member.size = 1
            tar.addfile(member, io.BytesIO(b"1"))
    with pytest.raises(PackageError, match="cannot be unpacked"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "a", "k")


def test_copies_of_one_archive_are_of_one_kind(tmp_path):
    one = archive(tmp_path / "cache" / "m.tar.gz", MODEL)
    (tmp_path / "t").mkdir()
    for number in range(2):
        (tmp_path / "t" / f"m-v{number}.tar.gz").symlink_to(one)
    source = FolderSource(tmp_path / "t")
    assert source.fetch("m-v0.tar.gz", tmp_path)[1] == source.fetch("m-v1.tar.gz", tmp_path)[1]
    with pytest.raises(PackageError) as missing:
        source.fetch("m-v2.tar.gz", tmp_path)
    assert missing.value.is_missing


@pytest.mark.parametrize("target", ["../cache/m.tar.gz", "/etc/passwd", "a/../../m"])
def test_a_target_outside_of_the_folder_is_not_there(tmp_path, target):
    archive(tmp_path / "cache" / "m.tar.gz", MODEL)
    (tmp_path / "t" / "a").mkdir(parents=True)
    with pytest.raises(PackageError):
        FolderSource(tmp_path / "t").fetch(target, tmp_path)


class Bucket:
    """Objects by bucket and key, as boto3's client of S3 gives them."""

    def __init__(self, objects):
        self.objects, self.asked = objects, []

    def get_object(self, Bucket, Key):  # noqa: N803 (boto3's names)
        self.asked.append((Bucket, Key))
        return {"Body": io.BytesIO(self.objects[Bucket, Key]), "ETag": '"e"'}


def test_a_target_is_looked_for_below_its_prefix_or_where_it_is_said_to_be(tmp_path):
    bucket = Bucket({("b", "p/q/m-v0.tar.gz"): b"zip", ("c", "other.tar.gz"): b"other"})
    source = S3Source("s3://b/p/q/", {"x.tar.gz": "s3://c/other.tar.gz"}, lambda: bucket)
    assert source.fetch("m-v0.tar.gz", tmp_path)[0].read_bytes() == b"zip"
    assert source.fetch("x.tar.gz", tmp_path)[0].read_bytes() == b"other"
    with pytest.raises(PackageError, match=r"Failed to download model data \(bucket: b, key: p/q/none\)"):
        source.fetch("none", tmp_path)
    assert bucket.asked == [("b", "p/q/m-v0.tar.gz"), ("c", "other.tar.gz"), ("b", "p/q/none")]
