from __future__ import annotations

import io
import os
import tarfile

import pytest

from benchmarking.models.packaging import check_archive, file_sha256, write_archive
from definitions.errors import UserError

CONFIG = 'name: "cnn"\nmax_batch_size: 4\n'


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"weights" * 1000)
    return path


def written(path, entries):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in entries:
            entry = tarfile.TarInfo(name)
            if content is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return path


def test_the_layout_is_tritons(tmp_path, model):
    write_archive(tmp_path / "cnn.tar.gz", "cnn", CONFIG, {"model.onnx": model})
    with tarfile.open(tmp_path / "cnn.tar.gz") as archive:
        assert archive.getnames() == ["cnn", "cnn/1", "cnn/config.pbtxt", "cnn/1/model.onnx"]
        assert {(one.uid, one.uname, one.mtime) for one in archive} == {(0, "", 0)}
    check_archive(tmp_path / "cnn.tar.gz", "cnn", "onnx")


def test_equal_content_is_equal_bytes_whenever_and_wherever_it_is_written(tmp_path, model):
    first = write_archive(tmp_path / "cnn.tar.gz", "cnn", CONFIG, {"model.onnx": model})
    os.utime(model, (1, 1))
    model.chmod(0o600)
    (tmp_path / "other").mkdir()
    second = write_archive(tmp_path / "other" / "renamed.tar.gz", "cnn", CONFIG, {"model.onnx": model})
    assert first == second == file_sha256(tmp_path / "cnn.tar.gz")
    assert write_archive(tmp_path / "cnn.tar.gz", "cnn", CONFIG + "#", {"model.onnx": model}) != first


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([("cnn/config.pbtxt", b""), ("cnn/1/../../../etc/cron", b"")], "outside of its own folder"),
        ([("/etc/cron", b"")], "outside of its own folder"),
        ([("cnn/config.pbtxt", b""), ("cnn/1/model.onnx", None)], "neither a file nor a folder"),
        ([("cnn/1/model.onnx", b"")], "0 files config.pbtxt"),
        ([("cnn/config.pbtxt", b""), ("cnn/1/model.pt", b"")], "no cnn/1/model.onnx in it"),
        ([("cnn/config.pbtxt", b'name: "other"'), ("cnn/1/model.onnx", b"")], "of a model 'other'"),
    ],
)
def test_an_archive_that_is_no_package_is_refused(tmp_path, entries, words):
    with pytest.raises(UserError, match=words):
        check_archive(written(tmp_path / "cnn.tar.gz", entries), "cnn", "onnx")


def test_an_archive_that_is_cut_off_is_refused(tmp_path):
    path = written(tmp_path / "cnn.tar.gz", [("cnn/config.pbtxt", b""), ("cnn/1/model.onnx", os.urandom(100_000))])
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(UserError, match=r"no tar\.gz that can be read to its end"):
        check_archive(path, "cnn", "onnx")
    path.write_bytes(b"<html>")
    with pytest.raises(UserError, match=r"no tar\.gz"):
        check_archive(path, "cnn", "onnx")
