"""Who is let in: signed by botocore with this run's credentials, now, for here; all others get the service's own refusal."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from unittest import mock

import pytest

from backends.emulator.core.credentials import Credentials, Keyring
from backends.emulator.http.authentication import Authenticator
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request
from tests.backends.emulator.asking import signed

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
OWN = Credentials.drawn()
CODES = {
    "json": {
        "missing": "MissingAuthenticationTokenException",
        "unknown": "UnrecognizedClientException",
        "wrong": "InvalidSignatureException",
        "late": "InvalidSignatureException",
        "region": "InvalidSignatureException",
    },
    "query": {
        "missing": "MissingAuthenticationToken",
        "unknown": "InvalidClientTokenId",
        "wrong": "SignatureDoesNotMatch",
        "late": "SignatureDoesNotMatch",
        "region": "SignatureDoesNotMatch",
    },
    "s3": {
        "missing": "AccessDenied",
        "unknown": "InvalidAccessKeyId",
        "wrong": "SignatureDoesNotMatch",
        "late": "RequestTimeTooSkewed",
        "region": "AuthorizationHeaderMalformed",
    },
}
SERVICES = {"json": "sagemaker", "query": "sts", "s3": "s3"}
URL = "http://127.0.0.1:1/"


def request(protocol, credentials=OWN, body=b"{}", headers=None, at_s=0.0, **changes):
    given = {"service": SERVICES[protocol], **changes}
    at = datetime.fromtimestamp(NOW.timestamp() + at_s, UTC).replace(tzinfo=None)
    with mock.patch("botocore.auth.get_current_datetime", return_value=at):
        found = signed(credentials, URL, "POST", body, headers, **given)
    return asked({"host": "127.0.0.1:1", **found}, body)


def asked(headers, body=b"{}", path="/"):
    left = [body]
    fields = {name.lower(): value for name, value in headers.items()}
    return Request("POST", path, fields, lambda most: left.pop() if left else b"", len(body))


def check(made, protocol, keyring=None, service="", region="us-east-1", after_s=0.0):
    Authenticator(keyring or Keyring(OWN), region, lambda: NOW.timestamp() + after_s).check(made, protocol, service)


def refused(made, protocol, **rest):
    with pytest.raises(ServiceError) as caught:
        check(made, protocol, **rest)
    return caught.value.code, caught.value.status


@pytest.mark.parametrize("protocol", CODES)
def test_what_is_signed_by_this_run_s_credentials_passes(protocol):
    check(request(protocol), protocol)


@pytest.mark.parametrize("protocol", CODES)
def test_what_is_not_gets_the_service_s_own_403(protocol):
    codes = CODES[protocol]
    assert refused(asked({"host": "127.0.0.1:1"}), protocol) == (codes["missing"], 403)
    assert refused(request(protocol, Credentials.drawn()), protocol) == (codes["unknown"], 403)
    assert refused(request(protocol, Credentials(OWN.access_key, "guessed")), protocol) == (codes["wrong"], 403)
    changed = request(protocol)
    changed.headers = {**changed.headers, "x-amz-target": "SageMaker.CreateTrainingJob"}
    assert refused(changed, protocol)[1] == 403


@pytest.mark.parametrize("protocol", CODES)
def test_only_s3_takes_a_body_that_is_not_signed(protocol):
    made = request(protocol, headers={"x-amz-content-sha256": "UNSIGNED-PAYLOAD"})
    if protocol == "s3":
        check(made, protocol)
    else:
        assert refused(made, protocol) == (CODES[protocol]["wrong"], 403)


@pytest.mark.parametrize("protocol", CODES)
def test_a_request_of_an_earlier_run_is_none_of_this_one(protocol):
    made = request(protocol)
    check(made, protocol)
    assert refused(request(protocol), protocol, keyring=Keyring(Credentials.drawn())) == (CODES[protocol]["unknown"], 403)


@pytest.mark.parametrize(
    ("protocol", "off_s", "passes"),
    [(name, off_s, abs(off_s) < 300) for name in ("json", "query") for off_s in (-600, -290, 290, 600)]
    + [("s3", off_s, abs(off_s) < 900) for off_s in (-960, -600, 600, 960)],
)
def test_a_clock_may_be_off_by_five_minutes_and_s3_s_by_fifteen(protocol, off_s, passes):
    made = request(protocol, at_s=off_s)
    if passes:
        check(made, protocol)
    else:
        assert refused(made, protocol) == (CODES[protocol]["late"], 403)


def test_a_clock_that_is_off_is_told_the_times():
    for off_s, words in (
        (-600, "Signature expired: 20260504T115000Z is now earlier"),
        (600, "Signature not yet current: 20260504T121000Z"),
    ):
        with pytest.raises(ServiceError, match=words):
            check(request("json", at_s=off_s), "json")


@pytest.mark.parametrize("protocol", CODES)
def test_another_region_is_refused(protocol):
    status = 400 if protocol == "s3" else 403  # as S3's own
    assert refused(request(protocol, region="eu-west-1"), protocol) == (CODES[protocol]["region"], status)
    check(request(protocol, region="eu-west-1"), protocol, region="eu-west-1")


def test_services_without_a_region_are_asked_in_us_east_1():
    check(request("query", service="iam"), "query", region="eu-west-1")
    assert refused(request("json"), "json", region="eu-west-1") == ("InvalidSignatureException", 403)


def test_a_signature_for_another_service_is_refused():
    assert refused(request("json", service="logs"), "json", service="sagemaker") == ("InvalidSignatureException", 403)
    check(request("json", service="logs"), "json", service="logs")


@pytest.mark.parametrize("protocol", ["json", "query"])
def test_a_body_that_was_not_signed_is_refused(protocol):
    made = request(protocol)
    assert refused(asked(made.headers, b'{"a": 1}'), protocol) == (CODES[protocol]["wrong"], 403)


def test_a_body_of_s3_is_refused_when_it_has_been_read():
    made = request("s3")
    other = asked(made.headers, b'{"a": 1}')
    check(other, "s3")
    with pytest.raises(ServiceError, match="XAmzContentSHA256Mismatch"):
        other.body()


def test_temporary_credentials_pass_with_their_token_until_they_expire():
    now_s = [NOW.timestamp()]
    keyring = Keyring(OWN, lambda: now_s[0])
    issued = keyring.issue(900)
    assert (issued.access_key[:4], issued.token != "") == ("ASIA", True)
    check(request("json", issued), "json", keyring)
    assert refused(request("json", Credentials(issued.access_key, issued.secret_key)), "json", keyring=keyring) == (
        "UnrecognizedClientException",
        403,
    )
    now_s[0] += 901
    assert refused(request("json", issued), "json", keyring=keyring) == ("ExpiredTokenException", 403)
    assert refused(request("s3", Credentials(OWN.access_key, OWN.secret_key, "of another account")), "s3") == ("InvalidToken", 400)


def address(**changes):
    from botocore.auth import S3SigV4QueryAuth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials as BotoCredentials

    made = AWSRequest("POST", f"{URL}b/k")
    with mock.patch("botocore.auth.get_current_datetime", return_value=NOW.replace(tzinfo=None)):
        S3SigV4QueryAuth(BotoCredentials(OWN.access_key, OWN.secret_key), "s3", "us-east-1", expires=600).add_auth(made)
    return asked({"host": "127.0.0.1:1"}, path=made.url.removeprefix(URL[:-1]))


def test_a_signed_address_is_valid_for_as_long_as_it_says():
    check(address(), "s3", after_s=590)
    assert refused(address(), "s3", after_s=610) == ("AccessDenied", 403)
    assert refused(address(), "s3", after_s=-1000) == ("AccessDenied", 403)
    longer = address()
    longer.path = longer.path.replace("Expires=600", "Expires=6000")
    assert refused(longer, "s3", after_s=610) == ("SignatureDoesNotMatch", 403)


def test_checking_takes_less_than_a_tenth_of_a_millisecond_of_a_processor():
    made = request("s3")
    authenticator = Authenticator(Keyring(OWN), "us-east-1", NOW.timestamp)
    took_s = []
    for _ in range(5):
        began = time.process_time()
        for _ in range(200):
            authenticator.check(Request("POST", "/", made.headers, made.read, 2), "s3")
        took_s.append((time.process_time() - began) / 200)
    assert min(took_s) < 1e-4
