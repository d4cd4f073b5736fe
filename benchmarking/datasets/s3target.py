"""Where data sets lie in S3, what is there, and what is said where the service refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from backends.common.aws_client import boto3_missing, make_client
from definitions.errors import UserError

_ADVICE = {
    "NoSuchBucket 404": "create the bucket, or name one that exists",
    "AccessDenied AllAccessDisabled 403": "allow these credentials s3:ListBucket, s3:GetObject and s3:PutObject there",
    "PermanentRedirect AuthorizationHeaderMalformed IllegalLocationConstraintException 301": "give the region that the bucket is in",
    "NoCredentialsError PartialCredentialsError": "give credentials: aws configure, aws sso login, or AWS_* variables",
    "ExpiredToken InvalidAccessKeyId SignatureDoesNotMatch InvalidToken TokenRetrievalError 400": "renew the credentials",
    "EndpointConnectionError ConnectTimeoutError ReadTimeoutError ConnectionClosedError ProxyConnectionError SSLError":
        "check the network, the proxy (HTTPS_PROXY, NO_PROXY), and the endpoint's address",
    "SlowDown 503 InternalError 500": "try again a little later",
}  # fmt: skip
"""Codes of answers, and classes of errors where none came, with what to do. Answers to HEAD have no body, thus a status for a code."""

_OTHER_ADVICE = "check the bucket's name, its region, and the credentials"


@dataclass(frozen=True)
class S3Target:
    """Where data sets are uploaded to.

    Args:
        bucket: an existing bucket; `prefix`: key prefix below which each data set gets a folder of its own.
        endpoint_url: of a server other than AWS; None for AWS.
        access_key, secret_key: None for boto3's own search.
        region: None for boto3's own search.
    """

    bucket: str
    prefix: str = "datasets"
    endpoint_url: str | None = None
    access_key: str | None = None
    secret_key: str | None = None
    region: str | None = None

    def client(self) -> Any:
        """Return a boto3 S3 client for the target; raises `UserError` where boto3 is not installed."""
        return make_client("s3", region=self.region, endpoint_url=self.endpoint_url, access_key=self.access_key, secret_key=self.secret_key)


def objects_under(uri: str, target: S3Target | None) -> Iterator[tuple[str, int]]:
    """Yield (name relative to the URI, bytes) of the objects under an `s3://` URI, without folders' own objects, a page at a time.

    Args:
        uri: `s3://bucket/prefix`.
        target: whose endpoint and credentials are used; None for AWS and boto3's own search.

    Raises:
        UserError: the bucket cannot be reached or read.
    """
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    pages: Iterator[list[dict[str, Any]]] | None = None
    while True:
        page: list[dict[str, Any]] | None = None

        def ask() -> None:
            nonlocal page, pages
            pages = pages or pages_under((target or S3Target(bucket)).client(), bucket, prefix)
            page = next(pages, None)

        asking(f"data set {uri}", ask)
        if page is None:
            return
        for entry in page:
            if not entry["Key"].endswith("/"):
                yield entry["Key"][len(prefix) :].lstrip("/"), int(entry["Size"])


def pages_under(s3: Any, bucket: str, prefix: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the entries of each page of objects below a prefix; raises what boto3 raises."""
    token: dict[str, str] = {}
    while True:
        answer = s3.list_objects_v2(Bucket=bucket, Prefix=prefix, **token)
        yield answer.get("Contents", [])
        if not answer.get("IsTruncated"):
            return
        token = {"ContinuationToken": answer["NextContinuationToken"]}


def list_objects(uri: str, target: S3Target | None) -> list[tuple[str, int]]:
    """Return (name relative to the URI, bytes) of all objects under an `s3://` URI that ends with `/`; raises as `objects_under`."""
    return list(objects_under(uri, target))


def put_object(key: str, body: bytes, target: S3Target) -> str:
    """Write one object below the target's prefix and return its URI; raises `UserError` where the bucket cannot be written."""
    whole = "/".join(part for part in (target.prefix.strip("/"), key) if part)
    uri = f"s3://{target.bucket}/{whole}"
    asking(f"upload of {uri}", lambda: target.client().put_object(Bucket=target.bucket, Key=whole, Body=body))
    return uri


def asking(what: str, action: Callable[[], object]) -> None:
    """Do what asks S3; raises `UserError`, with what was asked, where service or network refuse."""
    try:
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise boto3_missing(what) from error
    try:
        action()
    except (Boto3Error, BotoCoreError, ClientError) as error:
        answer = error.response.get("Error", {}) if isinstance(error, ClientError) else {}
        code = str(answer.get("Code") or type(error).__name__)
        raise UserError(what, *failure_text(code, str(answer.get("Message") or error))) from error


def failure_text(code: str, message: str) -> tuple[str, str]:
    """Return what is true of a failed call of S3, and what to do about it, without account numbers.

    Args:
        code: of the service's answer; the class of the error where there was no answer.
        message: what the service or the library says.
    """
    advice = next((advice for codes, advice in _ADVICE.items() if code in codes.split()), _OTHER_ADVICE)
    return f"{code}: {re.sub(r'[0-9]{12}', '<account>', message)}".removesuffix(": "), advice
