"""Packages for real: exported by a process of its own, kept, and packed; and archives of S3 with a client that is made up."""

from __future__ import annotations

import tarfile

import pytest
from pydantic import TypeAdapter

from benchmarking.models.packaging import file_sha256, write_archive
from benchmarking.models.preparation import Batching, ModelSource, package
from definitions.errors import UserError
from definitions.models import EndpointModels

# Each export is a process that imports torch, for minutes where a machine does much else.
pytestmark = pytest.mark.timeout(400)

ARCHIVE = {
    "type": "package",
    "uri": "s3://bucket/there.tar.gz",
    "platform": "onnx",
    "inputs": [{"name": "x", "shape": [4]}],
    "outputs": [{"name": "y", "shape": [2]}],
}


def model(**given):
    return TypeAdapter(EndpointModels).validate_python({"net": {"type": "small_cnn", "width": 4, **given}})["net"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
def test_a_model_is_exported_once_and_packed_by_how_it_is_served(cache):
    lines = []
    source = ModelSource(cache, say=lines.append)
    first = package("net", model(), "onnx", Batching(), source)
    assert lines == ["model net: exported for onnx, and compared with torch"]
    again = package("net", model(), "onnx", Batching(), source)
    assert (again, len(lines)) == (first, 1)
    delayed = package("net", model(), "onnx", Batching(delay_ms=2.5, threads=2), source)
    assert len(lines) == 1
    assert delayed.sha256 != first.sha256
    with tarfile.open(delayed.path) as archive:
        text = archive.extractfile("net/config.pbtxt").read().decode()
    assert "max_queue_delay_microseconds: 2500" in text
    assert 'string_value: "2"' in text
    assert (first.max_batch_size, [one.name for one in first.inputs]) == (8, ["image"])


@pytest.mark.slow
def test_a_fresh_cache_makes_the_same_bytes(cache, tmp_path):
    for platform in ("onnx", "pt"):
        # TorchScript names its classes by how many of them a process had before, and its top folder by the file.
        first, second = (package("net", model(), platform, Batching(), ModelSource(place)).sha256 for place in (cache, tmp_path))
        assert first == second


@pytest.mark.slow
def test_what_is_wrong_is_said_by_the_name_of_the_model(tmp_path):
    (tmp_path / "nets.py").write_text("def net():\n    raise ValueError('no weights')\n")
    given = TypeAdapter(EndpointModels).validate_python(
        {"net": {"type": "torch", "factory": "nets:net", "inputs": [{"name": "x", "shape": [4]}]}}
    )["net"]
    with pytest.raises(UserError, match=r"model 'net' as onnx\n  nets:net\(\) failed: ValueError: no weights"):
        package("net", given, "onnx", Batching(), ModelSource(tmp_path / "cache", str(tmp_path)))


def test_a_platform_that_a_model_does_not_have_is_refused(tmp_path):
    given = TypeAdapter(EndpointModels).validate_python({"net": {"type": "onnx", "path": "net.onnx"}})["net"]
    with pytest.raises(UserError, match=r"model 'net' as pt\n  it is onnx"):
        package("net", given, "pt", Batching(), ModelSource(tmp_path))


class Bucket:
    """One object of S3, which counts how often it was fetched."""

    def __init__(self, path) -> None:
        self.path, self.fetched = path, 0

    def __call__(self, uri, path) -> str:
        if not self.path.is_file():
            raise UserError(f"{uri} is not there")
        if path is not None:
            self.fetched += 1
            path.write_bytes(self.path.read_bytes())
        return f"{self.path.stat().st_size} {file_sha256(self.path)}"


def archive_of(tmp_path):
    weights = tmp_path / "model.onnx"
    weights.write_bytes(b"weights")
    write_archive(tmp_path / "there.tar.gz", "theirs", 'name: "theirs"\n', {"model.onnx": weights})
    return Bucket(tmp_path / "there.tar.gz")


def test_a_package_of_s3_is_fetched_once_and_again_when_it_changed(tmp_path):
    bucket = archive_of(tmp_path)
    source = ModelSource(tmp_path / "cache", fetch=bucket)
    given = TypeAdapter(EndpointModels).validate_python({"net": ARCHIVE})["net"]
    first = package("net", given, "onnx", Batching(), source)
    assert package("net", given, "onnx", Batching(), source) == first
    assert (bucket.fetched, first.sha256, first.uri) == (1, file_sha256(bucket.path), ARCHIVE["uri"])
    weights = tmp_path / "model.onnx"
    weights.write_bytes(b"others")
    write_archive(bucket.path, "theirs", 'name: "theirs"\n', {"model.onnx": weights})
    assert package("net", given, "onnx", Batching(), source).sha256 != first.sha256
    assert bucket.fetched == 2


def test_elsewhere_it_stays_where_it_is_and_is_served_as_it_says(tmp_path):
    bucket = archive_of(tmp_path)
    source = ModelSource(tmp_path / "cache", fetch=bucket, brings_here=False)
    given = TypeAdapter(EndpointModels).validate_python({"net": ARCHIVE})["net"]
    found = package("net", given, "onnx", Batching(), source)
    assert (found.path, found.uri, bucket.fetched) == ("", ARCHIVE["uri"], 0)
    with pytest.raises(UserError, match=r"holds a config\.pbtxt of its own"):
        package("net", given, "onnx", Batching(delay_ms=1.0), source)


def test_a_package_that_is_missing_or_broken_is_refused(tmp_path):
    bucket = archive_of(tmp_path)
    given = TypeAdapter(EndpointModels).validate_python({"net": ARCHIVE})["net"]
    bucket.path.write_bytes(b"<Error>NoSuchKey</Error>")
    with pytest.raises(UserError, match=r"no tar\.gz that can be read"):
        package("net", given, "onnx", Batching(), ModelSource(tmp_path / "cache", fetch=bucket))
    bucket.path.unlink()
    with pytest.raises(UserError, match="is not there"):
        package("net", given, "onnx", Batching(), ModelSource(tmp_path / "cache", fetch=bucket))
