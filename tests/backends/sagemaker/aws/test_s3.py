import random

import pytest
from botocore.exceptions import ClientError

from backends.emulator import Emulator
from backends.sagemaker.aws import s3
from backends.sagemaker.aws.errors import CloudError, Kind
from backends.sagemaker.aws.retry import Patience
from definitions.errors import UserError


class Waits(Patience):
    """Patience that does not really wait."""

    def __init__(self):
        self.slept = []
        super().__init__(monotonic=lambda: sum(self.slept), sleep=self.slept.append, rng=random.Random(1))


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as running:
        running.create_bucket("bucket")
        yield running


@pytest.fixture
def client(emulator):
    emulator.clear_faults()
    client = emulator.client("s3")
    client.calls = []
    client.meta.events.register("before-call", lambda model, **_: client.calls.append(model.name))
    return client


@pytest.fixture
def store(client, request):
    return s3.S3Checkpoints(lambda: client, "bucket", "outrider", f"tag/{request.node.name[:40]}", Waits())


def put(client, store, key, *names):
    for name in names:
        client.put_object(Bucket="bucket", Key=store.folder(key) + name, Body=name.encode())


def names(client, store, key):
    return sorted(found.removeprefix(store.folder(key)) for found, _ in s3.objects(client, "bucket", store.folder(key)))


def test_uris_and_prefixes():
    assert s3.split_uri("s3://b/x/y") == ("b", "x/y")
    assert s3.split_uri("s3://b") == ("b", "")
    for wrong in ("b/x", "s3://", "https://b/x"):
        with pytest.raises(UserError, match="s3://bucket/key"):
            s3.split_uri(wrong)
    assert s3.joined("", "/a/", "b/c") == "a/b/c/"


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


def test_pages_and_batches_of_a_thousand(emulator, client):
    store = emulator._running.world.s3
    for number in range(1005):
        store.put("bucket", f"many/{number}", [b""], {})
    assert s3.delete_prefix(client, "bucket", "many/") == 1005
    assert client.calls == ["ListObjectsV2", "ListObjectsV2", "DeleteObjects", "DeleteObjects"]
    assert list(s3.objects(client, "bucket", "many/")) == []
    with pytest.raises(ValueError, match="whole bucket"):
        s3.delete_prefix(client, "bucket", "")


def test_a_busy_service_is_asked_again_later_and_later(emulator, client, store):
    put(client, store, "t1", *[f"part{number}" for number in range(12)])
    emulator.add_faults([{"kind": "s3_error", "code": "SlowDown", "status": 503, "operation": "CopyObject", "times": 3}])
    waits = store._patience
    store.copy("t1", "t2")
    assert len(names(client, store, "t2")) == 12
    assert waits.repeated == 3
    assert all(wait > 0 for wait in waits.slept)


def test_patience_ends(emulator, client, store):
    emulator.add_faults([{"kind": "s3_error", "code": "SlowDown", "status": 503, "operation": "ListObjectsV2"}])
    with pytest.raises(CloudError, match="SlowDown") as caught:
        store.exists("t1")
    assert caught.value.refusal.kind is Kind.THROTTLED
    assert sum(store._patience.slept) <= 120
    emulator.clear_faults()


def test_without_a_bucket_there_are_no_checkpoints(client):
    lost = s3.S3Checkpoints(lambda: client, "no-such-bucket", "outrider", "tag/x", Waits())
    assert not lost.exists("t1")
    lost.delete(["t1"])
    assert client.calls == ["ListObjectsV2"] * 2


def test_a_missing_bucket_is_the_users_to_mend(client):
    with pytest.raises(UserError, match="NoSuchBucket") as caught:
        s3.put(client, "no-such-bucket", "key", b"content", Waits())
    assert "--set bucket=" in str(caught.value)


def test_expired_credentials_can_be_told_apart(emulator, client, store):
    emulator.add_faults([{"kind": "s3_error", "code": "ExpiredToken", "status": 400, "operation": "ListObjectsV2", "times": 1}])
    with pytest.raises(CloudError) as caught:
        store.exists("t1")
    assert caught.value.refusal.kind is Kind.CREDENTIALS


class FakeClient:
    """Answers as S3 can and the emulator does not."""

    def __init__(self, **answers):
        self.answers, self.asked = answers, []

    def __getattr__(self, operation):
        def call(**request):
            self.asked.append((operation, request))
            answer = self.answers[operation].pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


def refused(code, status=400, operation="HeadBucket", **headers):
    answer = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": headers}}
    return ClientError(answer, operation)


def test_each_keys_own_answer_is_read():
    busy = [{"Key": "b", "Code": "InternalError"}, {"Key": "c", "Code": "SlowDown"}]
    denied = {"Key": "d", "Code": "AccessDenied", "Message": "by lock"}
    fake = FakeClient(delete_objects=[{"Errors": [*busy, denied]}, {"Errors": busy[:1]}, {}])
    waits = Waits()
    with pytest.raises(UserError, match="1 of 4 objects could not be deleted") as caught:
        s3.delete_keys(fake, "bucket", list("abcd"), waits)
    assert "d: AccessDenied: by lock" in str(caught.value)
    assert [[one["Key"] for one in request["Delete"]["Objects"]] for _, request in fake.asked] == [list("abcd"), ["b", "c"], ["b"]]
    assert waits.slept == [0.5, 1.0]


def test_a_key_that_stays_busy_is_told():
    fake = FakeClient(delete_objects=[{"Errors": [{"Key": "a", "Code": "SlowDown"}]}] * 5)
    with pytest.raises(UserError, match="a: SlowDown"):
        s3.delete_keys(fake, "bucket", ["a"], Waits())


def test_what_may_not_be_seen_counts_as_missing():
    assert s3.head(FakeClient(head_object=[refused("403", 403)]), "bucket", "key", Waits()) is None
    assert s3.head(FakeClient(head_object=[refused("404", 404)]), "bucket", "key", Waits()) is None
    assert s3.head(FakeClient(head_object=[{"ContentLength": 7}]), "bucket", "key", Waits()) == 7


def test_objects_above_five_gibibytes_are_copied_in_parts():
    page = {"Contents": [{"Key": "a/small", "Size": 5 * 1024**3}, {"Key": "a/large", "Size": 5 * 1024**3 + 1}]}
    fake = FakeClient(list_objects_v2=[page], copy_object=[{}], copy=[None])
    assert s3.copy_prefix(fake, "bucket", "a/", "b/", threads=1, patience=Waits()) == 2
    assert [(operation, request["Key"]) for operation, request in fake.asked[1:]] == [("copy_object", "b/small"), ("copy", "b/large")]


@pytest.mark.parametrize(
    ("region", "asked"),
    [("us-east-1", {}), ("eu-west-1", {"CreateBucketConfiguration": {"LocationConstraint": "eu-west-1"}})],
)
def test_a_missing_bucket_is_created_in_its_region(region, asked):
    fake = FakeClient(head_bucket=[refused("404", 404)], create_bucket=[{}])
    assert s3.ensure_bucket(fake, "new-bucket", region, patience=Waits())
    assert fake.asked[1] == ("create_bucket", {"Bucket": "new-bucket", **asked})


@pytest.mark.parametrize(
    "answer", [refused("301", 301, **{"x-amz-bucket-region": "ap-south-1"}), {"BucketRegion": "ap-south-1"}], ids=["refused", "redirected"]
)
def test_a_bucket_in_another_region_says_which(answer):
    with pytest.raises(UserError, match="it is in region ap-south-1") as caught:
        s3.ensure_bucket(FakeClient(head_bucket=[answer]), "far", "eu-west-1", patience=Waits())
    assert "--set region=ap-south-1" in str(caught.value)


def test_a_bucket_of_somebody_else_is_refused():
    with pytest.raises(UserError, match="somebody else"):
        s3.ensure_bucket(FakeClient(head_bucket=[refused("403", 403)]), "theirs", "us-east-1", owner="123456789012", patience=Waits())
    taken = FakeClient(head_bucket=[refused("404", 404)], create_bucket=[refused("BucketAlreadyExists", 409, "CreateBucket")])
    with pytest.raises(UserError, match="somebody else"):
        s3.ensure_bucket(taken, "theirs", "us-east-1", patience=Waits())
    raced = FakeClient(head_bucket=[refused("404", 404)], create_bucket=[refused("BucketAlreadyOwnedByYou", 409, "CreateBucket")])
    assert not s3.ensure_bucket(raced, "ours", "eu-west-1", patience=Waits())


def test_a_bucket_is_made_once(client):
    assert s3.ensure_bucket(client, "fresh-bucket", "us-east-1")
    assert not s3.ensure_bucket(client, "fresh-bucket", "us-east-1")
    assert client.calls == ["HeadBucket", "CreateBucket", "HeadBucket"]
