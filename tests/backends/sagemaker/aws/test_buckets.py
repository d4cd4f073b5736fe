"""Buckets: made in the right region, and never somebody else's."""

from __future__ import annotations

import pytest

from backends.sagemaker.aws.buckets import ensure_bucket
from definitions.errors import UserError
from tests.backends.sagemaker.aws.fake_s3 import FakeClient, refused


@pytest.mark.parametrize(
    ("region", "asked"),
    [("us-east-1", {}), ("eu-west-1", {"CreateBucketConfiguration": {"LocationConstraint": "eu-west-1"}})],
)
def test_a_missing_bucket_is_created_in_its_region(region, asked):
    fake = FakeClient(head_bucket=[refused("404", 404)], create_bucket=[{}])
    assert ensure_bucket(fake, "new-bucket", region)
    assert fake.asked[1] == ("create_bucket", {"Bucket": "new-bucket", **asked})


@pytest.mark.parametrize(
    "answer", [refused("301", 301, **{"x-amz-bucket-region": "ap-south-1"}), {"BucketRegion": "ap-south-1"}], ids=["refused", "redirected"]
)
def test_a_bucket_in_another_region_says_which(answer):
    with pytest.raises(UserError, match="it is in region ap-south-1") as caught:
        ensure_bucket(FakeClient(head_bucket=[answer]), "far", "eu-west-1")
    assert "--set region=ap-south-1" in str(caught.value)


def test_a_bucket_of_somebody_else_is_refused():
    with pytest.raises(UserError, match="somebody else"):
        ensure_bucket(FakeClient(head_bucket=[refused("403", 403)]), "theirs", "us-east-1", owner="123456789012")
    taken = FakeClient(head_bucket=[refused("404", 404)], create_bucket=[refused("BucketAlreadyExists", 409, "CreateBucket")])
    with pytest.raises(UserError, match="somebody else"):
        ensure_bucket(taken, "theirs", "us-east-1")
    raced = FakeClient(head_bucket=[refused("404", 404)], create_bucket=[refused("BucketAlreadyOwnedByYou", 409, "CreateBucket")])
    assert not ensure_bucket(raced, "ours", "eu-west-1")


@pytest.mark.slow
def test_a_bucket_is_made_once(client):
    assert ensure_bucket(client, "fresh-bucket", "us-east-1")
    assert not ensure_bucket(client, "fresh-bucket", "us-east-1")
    assert client.calls == ["HeadBucket", "CreateBucket", "HeadBucket"]
