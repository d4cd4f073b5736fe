"""Which operation a request asks for: every one of botocore's model is served as itself or refused, and none is taken for another."""

from __future__ import annotations

import botocore.session
import pytest

from backends.emulator.http.errors import ServiceError
from backends.emulator.s3.api import S3Api
from backends.emulator.s3.operations import PARAMETERS, operation_of

MODEL = botocore.session.get_session().get_service_model("s3")


def asked(name: str) -> tuple[str, str, str, dict[str, str], list[str]]:
    """Return method, bucket, key, query and headers of the shortest request for an operation, by the model."""
    operation = MODEL.operation_model(name)
    path, _, fixed = operation.http["requestUri"].partition("?")
    query = dict((part.partition("=")[0], part.partition("=")[2]) for part in fixed.split("&") if part)
    headers = []
    shape = operation.input_shape
    for member in shape.required_members if shape else ():
        place = shape.members[member].serialization
        if place.get("location") == "querystring":
            query[place["name"]] = "1"
        elif place.get("location") == "header":
            headers.append(place["name"].lower())
    has_bucket = "Bucket" in (shape.required_members if shape else ())
    return operation.http["method"], "bucket" if has_bucket else "", "key" if "Key" in path else "", query, headers


@pytest.mark.parametrize("name", MODEL.operation_names)
def test_every_operation_of_the_model_is_served_or_refused(name):
    method, bucket, key, query, headers = asked(name)
    served = {"ListDirectoryBuckets": "ListBuckets"}.get(name, name)  # the same request to another host
    if served in PARAMETERS:
        assert operation_of(method, bucket, key, query, headers) == served
        return
    with pytest.raises(ServiceError) as caught:
        operation_of(method, bucket, key, query, headers)
    assert (caught.value.code, caught.value.status) == ("NotImplemented", 501)


def test_what_is_said_to_be_served_is():
    assert [name for name in PARAMETERS if not hasattr(S3Api, f"_{name}")] == []


@pytest.mark.parametrize(
    "word", ["legal-hold", "retention", "policy", "lifecycle", "attributes", "versions", "restore", "torrent", "nonsense"]
)
@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE", "HEAD"])
@pytest.mark.parametrize("key", ["", "key"])
def test_a_word_that_no_operation_knows_is_refused_whatever_the_method(method, key, word):
    with pytest.raises(ServiceError, match="NotImplemented"):
        operation_of(method, "bucket", key, {word: ""})


def test_how_a_request_is_signed_and_named_makes_no_other_of_it():
    signs = {"X-Amz-Signature": "0", "X-Amz-Date": "0", "x-id": "GetObject", "response-content-type": "text/plain"}
    assert operation_of("GET", "bucket", "key", signs) == "GetObject"
    assert operation_of("GET", "bucket", "key", {"AWSAccessKeyId": "a", "Signature": "b", "Expires": "1"}) == "GetObject"


def test_nothing_is_asked_of_a_key_without_a_bucket():
    with pytest.raises(ServiceError, match="NotImplemented"):
        operation_of("GET", "", "key", {})


@pytest.mark.parametrize(
    "header",
    [
        "x-amz-server-side-encryption-customer-algorithm",
        "x-amz-copy-source-server-side-encryption-customer-key",
        "x-amz-object-lock-legal-hold",
        "x-amz-tagging",
        "x-amz-write-offset-bytes",
    ],
)
def test_a_header_that_asks_for_what_would_not_be_done_is_refused(header):
    with pytest.raises(ServiceError, match=header):
        operation_of("PUT", "bucket", "key", {}, {header: "1", "x-amz-copy-source": "bucket/other"})


def test_how_an_object_is_kept_makes_no_difference():
    kept = {"x-amz-acl": "private", "x-amz-storage-class": "STANDARD", "x-amz-server-side-encryption": "aws:kms"}
    assert operation_of("PUT", "bucket", "key", {}, kept) == "PutObject"
