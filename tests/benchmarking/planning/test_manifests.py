"""Which manifests are written, what each holds, and how often a data set is listed."""

import hashlib
import json

import pytest

from benchmarking.datasets.s3target import S3Target
from benchmarking.planning import manifests
from benchmarking.planning.manifests import Manifests
from benchmarking.planning.sampling import choose
from definitions.errors import UserError

OBJECTS = [(f"part-{number:02}", 10) for number in range(20)]
TARGET = S3Target("bucket", "outrider/datasets")


@pytest.fixture
def s3(monkeypatch):
    """Return what was asked of S3: listed URIs, and written (key, content)."""
    listed, written = [], []

    def list_objects(uri, target):
        assert target is TARGET
        listed.append(uri)
        return OBJECTS

    def put_object(key, body, target):
        written.append((key, body))
        return f"s3://{target.bucket}/{target.prefix}/{key}"

    monkeypatch.setattr(manifests, "list_objects", list_objects)
    monkeypatch.setattr(manifests, "put_object", put_object)
    return listed, written


def test_a_manifest_holds_the_folder_and_the_samples_objects(s3):
    listed, written = s3
    uri = Manifests(TARGET, 5).uri("s3://theirs/photos", 0.3, 2)
    ((key, body),) = written
    assert listed == ["s3://theirs/photos/"]
    assert json.loads(body) == [{"prefix": "s3://theirs/photos/"}, *choose(OBJECTS, 0.3, 5, 2).objects]
    assert len(json.loads(body)) == 1 + 6
    assert key == f"samples/0.3-s5-r2-{hashlib.sha256(body).hexdigest()[:12]}.manifest"
    assert uri == f"s3://bucket/outrider/datasets/{key}"


def test_each_is_written_once_and_each_data_set_listed_once(s3):
    listed, written = s3
    made = Manifests(TARGET, 5)
    asked = [("s3://a", 0.3, 0), ("s3://a", 0.3, 0), ("s3://a", 0.5, 0), ("s3://a", 0.3, 1), ("s3://b/", 0.3, 0), ("s3://b", 0.3, 0)]
    uris = [made.uri(*one) for one in asked]
    assert uris[0] == uris[1]
    assert len(set(uris)) == 4
    assert uris[4] == uris[5]
    assert listed == ["s3://a/", "s3://b/"]
    assert [key.rsplit("-", 1)[0] for key, _ in written] == ["samples/0.3-s5-r0", "samples/0.5-s5-r0", "samples/0.3-s5-r1"] + [
        "samples/0.3-s5-r0"
    ] * 2


def test_another_seed_is_another_sample(s3):
    _, written = s3
    for seed in (1, 2):
        Manifests(TARGET, seed).uri("s3://a/", 0.3, 0)
    (_, one), (_, other) = written
    assert json.loads(one)[1:] != json.loads(other)[1:]


def test_too_few_objects_are_told_and_nothing_is_written(s3, monkeypatch):
    _, written = s3
    monkeypatch.setattr(manifests, "list_objects", lambda uri, target: OBJECTS[:9])
    with pytest.raises(UserError):
        Manifests(TARGET, 0).uri("s3://a/", 0.3, 0)
    assert written == []
