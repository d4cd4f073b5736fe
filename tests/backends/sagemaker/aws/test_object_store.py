"""Objects in S3: the contract on the emulator, and what only a fault shows."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from botocore.exceptions import ConnectionClosedError, IncompleteReadError
from botocore.httpsession import URLLib3Session

from backends.object_store import ReadObject
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CloudError
from backends.sagemaker.aws.object_store import S3ObjectStore
from definitions.errors import UserError
from tests.backends.object_store_contract import ObjectStoreContract
from tests.backends.sagemaker.aws.fake_s3 import FakeClient, refused

numbers = itertools.count()


@pytest.mark.slow
class TestS3Store(ObjectStoreContract):
    @pytest.fixture
    def make(self, emulator):
        uri = f"s3://bucket/runs/{next(numbers)}/"
        return lambda: S3ObjectStore(uri, Clients(None, emulator.environment))


class Deaf(Clients):
    """Clients that do not hear the first answer to each write, which took effect."""

    lost = 0

    def make(self, service, attempts, region):
        client = super().make(service, attempts, region)
        client.meta.events.register("before-send.s3.PutObject", self._lose)
        return client

    def _lose(self, request, **_):
        if self.lost % 2 == 0:
            self.lost += 1
            assert URLLib3Session().send(request).status_code == 200
            raise ConnectionClosedError(endpoint_url=request.url)
        self.lost += 1


@pytest.mark.slow
def test_a_write_whose_answer_is_lost_is_repeated_by_the_client_and_known_as_its_own(emulator):
    clients = Deaf(None, emulator.environment)
    store = S3ObjectStore(f"s3://bucket/runs/{next(numbers)}", clients)
    assert store.create("claim", b"mine")
    etag = store.get("claim").etag
    assert store.replace("claim", b"mine, too", etag) == store.get("claim").etag != etag
    assert clients.lost == 4
    other = S3ObjectStore(store.uri, Clients(None, emulator.environment))
    assert not other.create("claim", b"theirs")
    assert other.replace("claim", b"theirs", etag) is None


class OneClient:
    """Clients of which there is one, whose answers are given."""

    def __init__(self, **answers):
        self.fake, self.renewed = FakeClient(**answers), 0

    def get(self, service):
        assert service == "s3"
        return self.fake

    def renew(self):
        self.renewed += 1

    @property
    def counts(self):
        return Counter(operation for operation, _ in self.fake.asked)


class Body:
    """What is read of an answer."""

    def __init__(self, *parts):
        self.parts = parts

    def read(self):
        return b"".join(self.iter_chunks(1))

    def iter_chunks(self, size):
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            yield part


def store_of(clients):
    slept = []
    store = S3ObjectStore("s3://bucket/runs/t/", clients, slept.append)
    assert store.uri == "s3://bucket/runs/t"
    return store, slept


NOT_SO = refused("PreconditionFailed", 412, "PutObject")
IN_BETWEEN = refused("ConditionalRequestConflict", 409, "PutObject")
BROKEN = IncompleteReadError(actual_bytes=1, expected_bytes=3)


def answer(*parts, etag='"e"'):
    return {"Body": Body(*parts), "ETag": etag}


def test_a_write_that_another_gets_into_the_way_of_is_tried_again():
    clients = OneClient(put_object=[IN_BETWEEN, IN_BETWEEN, {"ETag": '"e"'}])
    store, slept = store_of(clients)
    assert store.create("k", b"mark")
    assert slept == [0.1, 0.2]
    assert [request["IfNoneMatch"] for _, request in clients.fake.asked] == ["*"] * 3
    assert {request["Key"] for _, request in clients.fake.asked} == {"runs/t/k"}


def test_what_stays_in_the_way_may_be_our_own_and_else_is_anothers():
    for body, won in ((b"mark", True), (b"theirs", False)):
        store, slept = store_of(OneClient(put_object=[IN_BETWEEN] * 6, get_object=[answer(body)]))
        assert store.create("k", b"mark") is won
        assert len(slept) == 5


def test_an_unanswered_write_that_the_client_repeated_is_recognised():
    store, _ = store_of(OneClient(put_object=[NOT_SO, NOT_SO], get_object=[answer(b"new", etag='"n"'), answer(b"theirs")]))
    assert store.replace("k", b"new", '"o"') == '"n"'
    assert store.replace("k", b"new", '"o"') is None


def test_what_is_gone_meanwhile_is_not_replaced():
    store, _ = store_of(OneClient(put_object=[refused("NoSuchKey", 404, "PutObject")]))
    assert store.replace("k", b"new", '"o"') is None


def test_credentials_that_have_expired_are_looked_up_again_once():
    expired = refused("ExpiredToken", 400, "PutObject")
    clients = OneClient(put_object=[expired, {"ETag": '"e"'}, expired, expired])
    store, _ = store_of(clients)
    assert store.put("k", b"x") == '"e"'
    assert clients.renewed == 1
    with pytest.raises(CloudError, match="renew them"):
        store.put("k", b"x")


def test_a_body_that_breaks_off_is_read_again(tmp_path):
    clients = OneClient(get_object=[answer(b"a", BROKEN), answer(b"abc"), answer(b"a", BROKEN), answer(b"a", b"bc")])
    store, _ = store_of(clients)
    assert store.get("k") == ReadObject(b"abc", '"e"')
    store.download("k", tmp_path / "k")
    assert (tmp_path / "k").read_bytes() == b"abc"


def test_refusals_name_the_object():
    store, _ = store_of(OneClient(list_objects_v2=[refused("AccessDenied", 403, "ListObjectsV2")]))
    with pytest.raises(CloudError, match=r"s3://bucket/runs/t/x: it cannot be listed"):
        store.list("x")
    store, _ = store_of(OneClient(put_object=[refused("NoSuchBucket", 404, "PutObject")]))
    with pytest.raises(UserError, match="NoSuchBucket"):
        store.create("x", b"")
    with pytest.raises(UserError, match="s3://bucket/key"):
        S3ObjectStore("bucket/key", OneClient())
