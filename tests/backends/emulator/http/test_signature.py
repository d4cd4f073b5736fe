"""Signatures against the values that AWS's own documentation works out, and against botocore."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import pytest
from botocore.auth import HmacV1QueryAuth, S3SigV4Auth, S3SigV4QueryAuth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from backends.emulator.core.credentials import derive
from backends.emulator.http.signature import EMPTY_SHA256, SignatureFormError, matches, matches_v2, signature_of

# The examples of the S3 API reference, "Signature Calculations for the Authorization Header" and "Authenticating Requests: Using Query
# Parameters".
KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
SCOPE = "20130524/us-east-1/s3/aws4_request"


def authorization(headers, value):
    return f"AWS4-HMAC-SHA256 Credential={KEY}/{SCOPE}, SignedHeaders={headers},Signature={value}"


def test_the_documented_example_of_a_header():
    headers = {
        "host": "examplebucket.s3.amazonaws.com",
        "range": "bytes=0-9",
        "x-amz-content-sha256": EMPTY_SHA256,
        "x-amz-date": "20130524T000000Z",
        "authorization": authorization(
            "host;range;x-amz-content-sha256;x-amz-date", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
    }
    found = signature_of("/test.txt", headers)
    assert (found.access_key, found.region, found.service, found.at_s) == (KEY, "us-east-1", "s3", 1369353600.0)
    key = derive(SECRET, SCOPE)
    assert matches(found, key, "GET", "/test.txt", headers, EMPTY_SHA256)
    assert not matches(found, key, "PUT", "/test.txt", headers, EMPTY_SHA256)
    assert not matches(found, key, "GET", "/test.txu", headers, EMPTY_SHA256)
    assert not matches(found, key, "GET", "/test.txt", {**headers, "range": "bytes=0-8"}, EMPTY_SHA256)
    assert not matches(found, key, "GET", "/test.txt", headers, "UNSIGNED-PAYLOAD")
    assert not matches(found, derive(SECRET, SCOPE.replace("24", "25")), "GET", "/test.txt", headers, EMPTY_SHA256)


def test_the_documented_example_of_an_address():
    path = (
        "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    )
    headers = {"host": "examplebucket.s3.amazonaws.com"}
    found = signature_of(path, headers)
    assert (found.expires_s, found.at_s) == (86400, 1369353600.0)
    assert matches(found, derive(SECRET, SCOPE), "GET", path, headers, "UNSIGNED-PAYLOAD")
    assert not matches(found, derive(SECRET, SCOPE), "GET", path.replace("86400", "86401"), headers, "UNSIGNED-PAYLOAD")


EVERY = "".join(map(chr, range(32, 127)))


@pytest.mark.parametrize(
    "key", ["plain", "a b+c&d=e%2F~", "é", "e\u0301", EVERY.replace("/", ""), "a/../b", "a//b/", "x" * 1024, "\t\x01\x7f"]
)
@pytest.mark.parametrize("signer", [S3SigV4Auth, S3SigV4QueryAuth, HmacV1QueryAuth])
def test_what_botocore_signs_for_s3(key, signer):
    address = f"http://127.0.0.1:1/bucket/{quote(key, safe='/~')}"
    if signer is HmacV1QueryAuth:
        request = AWSRequest("GET", f"{address}?response-content-type=text%2Fplain&partNumber=1")
        signer(Credentials(KEY, SECRET)).add_auth(request)
    else:
        request = AWSRequest("GET", address, params={"a": key, "list": ""} if signer is S3SigV4Auth else {})
        signer(Credentials(KEY, SECRET, "a+token/"), "s3", "us-east-1").add_auth(request)
    place = urlsplit(request.prepare().url)
    path = f"{place.path}?{place.query}" if place.query else place.path
    headers = {"host": "127.0.0.1:1", **{name.lower(): value for name, value in request.headers.items()}}
    found = signature_of(path, headers)
    if found.version == 2:
        assert matches_v2(found, SECRET, "GET", path, headers)
        assert not matches_v2(found, SECRET, "GET", path.replace("text%2F", "mext%2F"), headers)
        assert not matches_v2(found, SECRET[:-1], "GET", path, headers)
        return
    assert found.token == "a+token/"
    payload = headers.get("x-amz-content-sha256", "UNSIGNED-PAYLOAD")
    assert matches(found, derive(SECRET, found.scope), "GET", path, headers, payload)
    assert not matches(found, derive(SECRET, found.scope), "GET", path.replace("/bucket/", "/bucket/0"), headers, payload)


@pytest.mark.parametrize("path", ["/", "", "/BatchPutMetrics", "/functions/arn%3Aaws%3A1/x", "/a/./b/../c/"])
def test_what_botocore_signs_for_other_services(path):
    request = AWSRequest("POST", f"http://127.0.0.1:1{path}", data=b"{}", headers={"X-Amz-Target": "A.B", "X-Odd": " a   b "})
    SigV4Auth(Credentials(KEY, SECRET), "sagemaker", "us-east-1").add_auth(request)
    headers = {"host": "127.0.0.1:1", **{name.lower(): value.strip() for name, value in request.headers.items()}}
    found = signature_of(path or "/", headers)
    digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert matches(found, derive(SECRET, found.scope), "POST", path or "/", headers, digest)
    assert not matches(found, derive(SECRET, found.scope), "POST", path or "/", {**headers, "x-amz-target": "A.C"}, digest)


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {"authorization": "Basic YTpi"}),
        ("/", {"authorization": "AWS AKID:signature"}),
        ("/", {"authorization": "AWS4-HMAC-SHA256 nonsense"}),
        ("/", {"authorization": authorization("x-amz-date", "0"), "x-amz-date": "20130524T000000Z"}),
        ("/", {"authorization": authorization("host", "0")}),
        ("/", {"authorization": authorization("host", "0"), "x-amz-date": "20130525T000000Z"}),
        ("/", {"authorization": authorization("host", "0"), "x-amz-date": "00000524T000000Z"}),
        ("/", {"authorization": authorization("host", "0"), "x-amz-date": "2013-05-24T00:00"}),
        ("/", {"authorization": authorization("host", "0").replace("aws4_request", "aws5"), "x-amz-date": "20130524T000000Z"}),
        ("/?X-Amz-Signature=0", {}),
        ("/?AWSAccessKeyId=a&Signature=b&Expires=never", {}),
    ],
)
def test_what_has_not_the_form_of_a_signature_is_said_so(path, headers):
    with pytest.raises(SignatureFormError):
        signature_of(path, headers)


def test_what_names_no_signature_has_none():
    assert signature_of("/bucket?list-type=2", {"host": "127.0.0.1"}) is None
