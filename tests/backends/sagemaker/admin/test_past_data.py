import io
import json

import pytest

from backends.past_jobs import FractionSource, fraction_source
from backends.sagemaker.admin.past_data import PastData
from definitions.errors import UserError


class Objects:
    """A bucket `b` with some objects, and how often it was listed."""

    def __init__(self, contents):
        self.contents, self.listings = contents, 0

    def get_paginator(self, operation):
        assert operation == "list_objects_v2"
        return self

    def paginate(self, Bucket, Prefix):  # noqa: N803 - AWS's names
        self.listings += 1
        found = [{"Key": key, "Size": len(body)} for key, body in sorted(self.contents.items()) if key.startswith(Prefix)]
        return [{"Contents": found[:2]}, {"Contents": found[2:]}, {}]

    def get_object(self, Bucket, Key):  # noqa: N803 - AWS's names
        return {"Body": io.BytesIO(self.contents[Key])}


def manifest(*names, prefix="s3://b/data/"):
    return json.dumps([{"prefix": prefix}, *names]).encode()


@pytest.fixture
def objects():
    data = {f"data/{number:02}": b"x" * (number + 1) for number in range(20)}
    return Objects({**data, "data/": b"", "one.manifest": manifest("00"), "two.manifest": manifest("18", "19"), "odd": b"{}"})


def job(**channels):
    kinds = {True: "ManifestFile", False: "S3Prefix"}
    inputs = [
        {"ChannelName": name, "DataSource": {"S3DataSource": {"S3Uri": uri, "S3DataType": kinds[not uri.endswith("/")]}}}
        for name, uri in channels.items()
    ]
    return {"TrainingJobName": "j", "InputDataConfig": inputs}


def fraction(objects, described, way, whole=""):
    return PastData(lambda: objects, whole).fraction(described, fraction_source(way))


def test_entries_of_a_manifest_over_the_objects_that_there_are(objects):
    assert fraction(objects, job(train="s3://b/one.manifest"), "manifest") == 1 / 20
    assert fraction(objects, job(train="s3://b/two.manifest"), "manifest") == 2 / 20
    # One manifest for two channels is one sample, as is usual for training and validation.
    assert fraction(objects, job(train="s3://b/two.manifest", test="s3://b/two.manifest"), "manifest") == 2 / 20
    assert fraction(objects, job(train="s3://b/two.manifest", code="s3://b/data/"), "manifest") == 2 / 20
    assert fraction(objects, job(train="s3://b/one.manifest", test="s3://b/two.manifest"), "manifest:test") == 2 / 20
    assert fraction(objects, job(train="s3://b/one.manifest"), "manifest", "s3://b/data/0") == 1 / 10


def test_bytes_of_channels_over_all_bytes(objects):
    all_bytes = sum(range(1, 21))
    assert fraction(objects, job(train="s3://b/two.manifest"), "channel-bytes") == 39 / all_bytes
    objects.contents |= {"part/x": b"y" * 21}
    assert fraction(objects, job(train="s3://b/part/"), "channel-bytes", "s3://b/data/") == 21 / all_bytes
    assert fraction(objects, job(train="s3://b/part/", code="s3://b/data/"), "channel-bytes:train", "s3://b/data/") == 0.1


def test_listings_and_manifests_are_read_once(objects):
    data = PastData(lambda: objects)
    for _ in range(3):
        data.fraction(job(train="s3://b/one.manifest"), FractionSource("manifest"))
    assert objects.listings == 1


@pytest.mark.parametrize(
    ("described", "way", "message"),
    [
        (job(train="s3://b/data/"), "manifest", "none of its channels is a manifest"),
        (job(train="s3://b/data/"), "channel-bytes", "what its data are a share of is not known"),
        (job(train="s3://b/one.manifest"), "manifest:test", "no such channel of data in S3; its channels: train"),
        (job(), "manifest", "its channels: none"),
        (job(train="s3://b/odd"), "manifest", "is no manifest"),
    ],
)
def test_what_cannot_be_told_is_said(objects, described, way, message):
    with pytest.raises(UserError, match=message):
        fraction(objects, described, way)


def test_more_than_all_of_the_data_is_no_share(objects):
    with pytest.raises(UserError, match="210 bytes of 1"):
        fraction(objects, job(train="s3://b/data/"), "channel-bytes", "s3://b/data/00")


@pytest.mark.parametrize("text", ["share", "hyperparameter", "hyperparameter:", ""])
def test_other_ways_are_refused_with_those_that_there_are(text):
    with pytest.raises(UserError, match="manifest, hyperparameter:NAME and channel-bytes"):
        fraction_source(text)
