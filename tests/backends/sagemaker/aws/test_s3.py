"""Objects in S3: what the emulator answers, and what only AWS does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from backends.sagemaker.aws import s3
from definitions.errors import UserError
from tests.backends.sagemaker.aws.fake_s3 import FakeClient, refused


def test_uris_and_prefixes():
    assert s3.split_uri("s3://b/x/y") == ("b", "x/y")
    assert s3.split_uri("s3://b") == ("b", "")
    for wrong in ("b/x", "s3://", "https://b/x"):
        with pytest.raises(UserError, match="s3://bucket/key"):
            s3.split_uri(wrong)
    assert s3.joined("", "/a/", "b/c") == "a/b/c/"


@pytest.mark.slow
def test_pages_and_batches_of_a_thousand(client):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: client.put_object(Bucket="bucket", Key=f"many/{number}"), range(1005)))
    client.calls.clear()
    assert s3.delete_prefix(client, "bucket", "many/") == 1005
    assert client.calls == ["ListObjectsV2", "ListObjectsV2", "DeleteObjects", "DeleteObjects"]
    assert list(s3.objects(client, "bucket", "many/")) == []
    with pytest.raises(ValueError, match="whole bucket"):
        s3.delete_prefix(client, "bucket", "")


@pytest.mark.slow
def test_a_missing_bucket_is_the_users_to_mend(client):
    with pytest.raises(UserError, match="NoSuchBucket") as caught:
        s3.put(client, "no-such-bucket", "key", b"content")
    assert "--set bucket=" in str(caught.value)


def test_each_keys_own_answer_is_read():
    busy = [{"Key": "b", "Code": "InternalError"}, {"Key": "c", "Code": "SlowDown"}]
    denied = {"Key": "d", "Code": "AccessDenied", "Message": "by lock"}
    fake = FakeClient(delete_objects=[{"Errors": [*busy, denied]}, {"Errors": busy[:1]}, {}])
    slept = []
    with pytest.raises(UserError, match="1 of 4 objects could not be deleted") as caught:
        s3.delete_keys(fake, "bucket", list("abcd"), slept.append)
    assert "d: AccessDenied: by lock" in str(caught.value)
    assert [[one["Key"] for one in request["Delete"]["Objects"]] for _, request in fake.asked] == [list("abcd"), ["b", "c"], ["b"]]
    assert slept == [0.5, 1.0]


def test_a_key_that_stays_busy_is_told():
    fake = FakeClient(delete_objects=[{"Errors": [{"Key": "a", "Code": "SlowDown"}]}] * 5)
    with pytest.raises(UserError, match="a: SlowDown"):
        s3.delete_keys(fake, "bucket", ["a"], lambda seconds: None)


def test_what_may_not_be_seen_counts_as_missing():
    assert s3.head(FakeClient(head_object=[refused("403", 403)]), "bucket", "key") is None
    assert s3.head(FakeClient(head_object=[refused("404", 404)]), "bucket", "key") is None
    assert s3.head(FakeClient(head_object=[{"ContentLength": 7}]), "bucket", "key") == 7


def test_objects_above_five_gibibytes_are_copied_in_parts():
    page = {"Contents": [{"Key": "a/small", "Size": 5 * 1024**3}, {"Key": "a/large", "Size": 5 * 1024**3 + 1}]}
    fake = FakeClient(list_objects_v2=[page], copy_object=[{}], copy=[None])
    assert s3.copy_prefix(fake, "bucket", "a/", "b/", threads=1) == 2
    assert [(operation, request["Key"]) for operation, request in fake.asked[1:]] == [("copy_object", "b/small"), ("copy", "b/large")]
