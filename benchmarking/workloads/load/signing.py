"""Signatures of requests to the service, by botocore's credentials, which it renews; nothing of botocore where nothing is signed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol


class Signer(Protocol):
    """Makes headers that show who asks."""

    def headers(self, url: str, headers: Mapping[str, str], body_sha256: str) -> Mapping[str, str]:
        """Return the headers to send in place of these."""
        ...


class KeySigner:
    """Shows a key where there is one; for endpoints of this machine."""

    def __init__(self, key: str) -> None:
        self._key = key

    def headers(self, url: str, headers: Mapping[str, str], body_sha256: str) -> Mapping[str, str]:
        """Return the headers, with the key."""
        return {**headers, "X-Outrider-Key": self._key} if self._key else headers


class SigV4Signer:
    """Signs for the service `sagemaker`, version 4.

    Args:
        region: of the endpoint.
        credentials: botocore's; None to find them as botocore does.

    Raises:
        SystemExit: botocore is not installed, or it finds no credentials.
    """

    def __init__(self, region: str, credentials: Any = None) -> None:
        try:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest
            from botocore.session import Session
        except ImportError as error:
            raise SystemExit(f"requests to an endpoint in {region} are signed by botocore, which is not installed ({error})") from error
        found = credentials if credentials is not None else Session().get_credentials()
        if found is None:
            raise SystemExit(f"requests to an endpoint in {region} are signed, and botocore finds no credentials")
        self._auth = SigV4Auth(found, "sagemaker", region)
        self._request = AWSRequest

    def headers(self, url: str, headers: Mapping[str, str], body_sha256: str) -> Mapping[str, str]:
        """Return the headers with signature, date and token; the body's hash is given, so that it is not made anew each time."""
        # Hop-by-hop headers and lengths are not signed: proxies may change them.
        request = self._request("POST", url, headers={**headers, "X-Amz-Content-SHA256": body_sha256})
        self._auth.add_auth(request)
        return dict(request.headers.items())


def sha256_of(body: bytes) -> str:
    """Return the hash of a body as signatures need it."""
    return hashlib.sha256(body).hexdigest()


def signer_for(region: str, key: str) -> Signer:
    """Return what makes the headers: a signature where a region is named, else the key."""
    return SigV4Signer(region) if region else KeySigner(key)
