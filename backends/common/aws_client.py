"""The one place where clients of AWS are made; what is not given is left to boto3's own search."""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import urlsplit

from definitions.errors import UserError
from definitions.program import install_extra

ATTEMPTS = 8
"""Times that a throttled, failed or unanswered call is made at most: waits of 0.5, 1, 2, 4, 8, 10 and 10 s on average."""


def make_client(
    service: str,
    *,
    region: str | None = None,
    endpoint_url: str | None = None,
    access_key: str | None = None,
    secret_key: str | None = None,
    session_token: str | None = None,
    attempts: int = ATTEMPTS,
    connections: int = 16,
    session: Any = None,
) -> Any:
    """Return a client of boto3's, which repeats calls by botocore's standard mode: exponential back-off with full jitter.

    Args:
        service: e.g. `sagemaker`, `logs`, `s3`.
        region: None for boto3's own search.
        endpoint_url: of a server other than AWS; None for boto3's own search.
        access_key: None for boto3's own search.
        secret_key: that goes with it.
        session_token: likewise, of temporary ones.
        attempts: times that a call is made at most; 1 for callers that repeat calls themselves.
        connections: that are kept open at most.
        session: of boto3's, to share what it has looked up; None for a new one.

    Raises:
        UserError: boto3 is not installed.
    """
    try:
        from botocore.config import Config
    except ImportError as error:
        raise boto3_missing() from error
    options: dict[str, Any] = {
        "retries": {"mode": "standard", "total_max_attempts": attempts},
        "max_pool_connections": connections,
        "connect_timeout": 10,
        "read_timeout": 60,
    }
    if is_loopback(endpoint_url):
        options["proxies"] = {}  # a proxy of the user's cannot reach this machine's loopback
    if endpoint_url and service == "s3":
        # Servers other than AWS want the bucket in the path and know few checksums.
        options |= {"s3": {"addressing_style": "path"}, "request_checksum_calculation": "when_required"}
    return (session or make_session()).client(
        service,
        region_name=region,
        endpoint_url=endpoint_url,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        aws_session_token=session_token,
        config=Config(**options),
    )


def make_session() -> Any:
    """Return a session of boto3's, in which credentials and configuration are looked up once; raises `UserError` as `make_client`.

    All sessions have the descriptions of services in common: they are megabytes of JSON, and a command makes several sessions.
    """
    try:
        import boto3
        import botocore.session
    except ImportError as error:
        raise boto3_missing() from error
    session = botocore.session.get_session()
    session.register_component("data_loader", _loader(session.get_config_variable("data_path")))
    return boto3.session.Session(botocore_session=session)


@functools.cache
def _loader(data_path: str | None) -> Any:
    from botocore.loaders import create_loader

    return create_loader(data_path)


def is_loopback(url: str | None) -> bool:
    """Return whether a URL is of this machine."""
    return urlsplit(url or "").hostname in ("127.0.0.1", "localhost", "::1")


def boto3_missing(asked: str = "AWS, or a server like it, is to be asked") -> UserError:
    """Return the error for what cannot be done without boto3."""
    return UserError(asked, "the package boto3 is not installed", install_extra("sagemaker"))
