"""Requests to an emulator as they are made without boto3: signed ones of one's own form, control calls, whatever else."""

from __future__ import annotations

import http.client
import json
import shlex
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials

from backends.emulator.admin import authorization
from backends.emulator.core.credentials import Credentials


def credentials_in(environment):
    """Return the credentials that an emulator's environment names."""
    return Credentials(environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"])


def exported(stream):
    """Return what a program of the emulator says to export, as it says it in its first lines."""
    found = {}
    while "AWS_EC2_METADATA_DISABLED" not in found:
        name, _, value = stream.readline().removeprefix("export ").strip().partition("=")
        assert name, found
        (found[name],) = shlex.split(value) or [""]
    return found


def ask(url, method="GET", body=b"", headers=None):
    """Send a request as it is and return (status, body, headers in lower case)."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=90)
    try:
        connection.request(method, place.path + (f"?{place.query}" if place.query else "") or "/", body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


def signed(credentials, url, method="GET", body=b"", headers=None, service="s3", region="us-east-1"):
    """Return the headers of a request with a signature as botocore makes it."""
    request = AWSRequest(method, url, headers=dict(headers or {}), data=body)
    kind = S3SigV4Auth if service == "s3" else SigV4Auth
    kind(BotoCredentials(credentials.access_key, credentials.secret_key, credentials.token or None), service, region).add_auth(request)
    return dict(request.headers.items())


def ask_signed(credentials, url, method="GET", body=b"", headers=None, service="s3", region="us-east-1"):
    """Send a signed request and return (status, body, headers)."""
    return ask(url, method, body, signed(credentials, url, method, body, headers, service, region))


def sagemaker(emulator, operation, request, credentials=None, **changes):
    """Call an operation of SageMaker with a body that boto3 might refuse; return (status, answer)."""
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    headers = {"X-Amz-Target": f"SageMaker.{operation}", "Content-Type": "application/x-amz-json-1.1"}
    given = {"service": "sagemaker", **changes}
    status, answer, _ = ask_signed(credentials or emulator.credentials, f"{emulator.endpoint_url}/", "POST", body, headers, **given)
    return status, json.loads(answer)


def control(environment, method, path, data=None, kind="application/json"):
    """Call what can be told to a running emulator, and return (status, answer)."""
    body = b"" if data is None else json.dumps(data).encode()
    headers = {"Authorization": authorization(credentials_in(environment)), "Content-Type": kind}
    status, answer, _ = ask(f"{environment['AWS_ENDPOINT_URL']}/_emulator/{path}", method, body, headers)
    return status, json.loads(answer)
