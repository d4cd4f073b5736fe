"""Checkpoints in S3: whose they are, what is copied, what is repeated, and that they wait for credentials and for nothing else."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from backends.sagemaker.aws import s3
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CloudError, FailureKind
from backends.sagemaker.jobs.checkpoints import S3Checkpoints, WaitingCheckpoints
from tests.backends.tag_bench import hasten

pytestmark = pytest.mark.slow


@pytest.fixture
def store(client, request):
    return S3Checkpoints(lambda: client, "bucket", "outrider", f"tag/{request.node.name[:40]}")


def put(client, store, key, *names):
    for name in names:
        client.put_object(Bucket="bucket", Key=store.folder(key) + name, Body=name.encode())


def names(client, store, key):
    return sorted(found.removeprefix(store.folder(key)) for found, _ in s3.objects(client, "bucket", store.folder(key)))


def test_a_copy_takes_the_targets_place(client, store):
    put(client, store, "t1", "state", "deep/part", ".outrider-incarnation")
    put(client, store, "t2", "old")
    store.copy("t1", "t2")
    assert names(client, store, "t2") == ["deep/part", "state"]
    store.copy("t1", "t1")
    assert names(client, store, "t1") == [".outrider-incarnation", "deep/part", "state"]
    store.copy("none", "t2")
    assert names(client, store, "t2") == []


def test_a_checkpoint_of_the_reporters_own_objects_is_empty(client, store):
    assert not store.exists("t1")
    put(client, store, "t1", ".outrider-incarnation")
    assert not store.exists("t1")
    put(client, store, "t1", "state")
    assert store.exists("t1")


def test_a_key_is_not_its_neighbours_beginning(client, store):
    put(client, store, "t1", "state")
    put(client, store, "t10", "state")
    store.delete(["t1", "never"])
    assert (store.exists("t1"), store.exists("t10")) == (False, True)


@pytest.mark.parametrize("key", ["", "..", "a/../b", "/a", "a//b"])
def test_a_key_stays_within_the_experiment(store, key):
    with pytest.raises(ValueError, match="no plain name"):
        store.delete([key])


def test_many_checkpoints_are_deleted_in_batches(client, store):
    for trial in range(30):
        put(client, store, f"t{trial}", "state", "deep/part")
    client.calls.clear()
    store.delete([f"t{trial}" for trial in range(20)])
    assert client.calls == ["ListObjectsV2", "DeleteObjects"]
    assert [store.exists(f"t{trial}") for trial in range(30)] == [False] * 20 + [True] * 10


def test_a_busy_service_is_asked_again_later_and_later(emulator, client, store, monkeypatch, request):
    put(client, store, "t1", *[f"part{number}" for number in range(12)])
    emulator.add_faults([{"kind": "s3_error", "code": "SlowDown", "status": 503, "operation": "CopyObject", "times": 3}])
    waits = hasten(monkeypatch)
    clients = Clients("us-east-1", emulator.environment)
    S3Checkpoints(lambda: clients.get("s3"), "bucket", "outrider", f"tag/{request.node.name[:40]}").copy("t1", "t2")
    assert len(names(client, store, "t2")) == 12
    assert (len(waits), clients.counts["CopyObject"]) == (3, 12 + 3)


def test_a_service_that_stays_busy_is_told_after_eight_tries(emulator, monkeypatch):
    emulator.add_faults([{"kind": "s3_error", "code": "SlowDown", "status": 503, "operation": "ListObjectsV2"}])
    waits = hasten(monkeypatch)
    clients = Clients("us-east-1", emulator.environment)
    with pytest.raises(CloudError, match="SlowDown") as caught:
        S3Checkpoints(lambda: clients.get("s3"), "bucket", "outrider", "tag/x").exists("t1")
    assert caught.value.failure.kind is FailureKind.THROTTLED
    assert clients.counts["ListObjectsV2"] == 8
    assert all(wait <= bound for wait, bound in zip(waits, (1, 2, 4, 8, 16, 20, 20), strict=True))


def test_a_few_checkpoints_are_found_by_one_listing_where_one_answer_holds_all(client, store):
    for trial in range(6):
        put(client, store, f"t{trial}", "state")
    client.calls.clear()
    store.delete(["t0", "t1", "t2"])
    assert client.calls == ["ListObjectsV2", "DeleteObjects"]
    assert [store.exists(f"t{trial}") for trial in range(6)] == [False] * 3 + [True] * 3


class Crowded:
    """Answers listings of the experiment with a page of many, and those of a checkpoint with its one object."""

    def __init__(self):
        self.listed, self.deleted = [], []

    def list_objects_v2(self, **request):
        self.listed.append(request["Prefix"].rpartition("tag/x/")[2])
        is_whole = request["Prefix"].endswith("tag/x/")
        return {"Contents": [{"Key": request["Prefix"] + "state", "Size": 1}], "IsTruncated": is_whole, "NextContinuationToken": "more"}

    def delete_objects(self, **request):
        self.deleted += [one["Key"] for one in request["Delete"]["Objects"]]
        return {}


def test_of_an_experiment_with_thousands_of_objects_a_few_checkpoints_are_listed_each_by_itself():
    client = Crowded()
    S3Checkpoints(lambda: client, "bucket", "outrider", "tag/x").delete(["t1", "t2"])
    assert client.listed == ["", "t1/", "t2/"]
    assert [key.rpartition("tag/x/")[2] for key in client.deleted] == ["t1/state", "t2/state"]


def test_without_a_bucket_there_are_no_checkpoints(client):
    lost = S3Checkpoints(lambda: client, "no-such-bucket", "outrider", "tag/x")
    assert not lost.exists("t1")
    lost.delete(["t1"])
    assert client.calls == ["ListObjectsV2"] * 2


def test_expired_credentials_can_be_told_apart(emulator, client, store):
    emulator.add_faults([{"kind": "s3_error", "code": "ExpiredToken", "status": 400, "operation": "ListObjectsV2", "times": 1}])
    with pytest.raises(CloudError) as caught:
        store.exists("t1")
    assert caught.value.failure.kind is FailureKind.CREDENTIALS


class Store:
    """Answers listings: first with these error codes, then with one object."""

    def __init__(self, *codes):
        self.codes = list(codes)

    def list_objects_v2(self, **request):
        if self.codes:
            raise ClientError({"Error": {"Code": self.codes.pop(0), "Message": "no"}}, "ListObjectsV2")
        return {"Contents": [{"Key": request["Prefix"] + "state", "Size": 1}]}


def made(client, slept, renewed):
    return WaitingCheckpoints(lambda: client, "bucket", "prefix", "tag/x", renew=lambda: renewed.append(True), sleep=slept.append)


def test_expired_credentials_are_waited_for_and_looked_up_anew(caplog):
    slept, renewed = [], []
    assert made(Store("ExpiredToken", "ExpiredToken"), slept, renewed).exists("trial-0")
    assert (slept, len(renewed)) == ([15.0, 15.0], 2)
    assert "the run goes on by itself" in caplog.text


def test_a_permission_that_is_missing_is_not_waited_for():
    with pytest.raises(CloudError, match="AccessDenied"):
        made(Store("AccessDenied"), [], []).exists("trial-0")
