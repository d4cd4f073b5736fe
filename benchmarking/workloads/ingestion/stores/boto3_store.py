"""Objects in S3 through boto3."""

from __future__ import annotations

import os
from typing import Any

from .base import StoredName

_CONNECTIONS = 64
_ADDRESS_VALID_S = 3600


class Boto3:
    """Objects through boto3, as most scripts do it.

    Args:
        uri: `s3://bucket/prefix`.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._client: Any = None
        self._pid = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_client": None}

    def entries(self) -> list[StoredName]:
        """Return the URIs of all objects under the channel's URI."""
        bucket, _, prefix = self._uri.removeprefix("s3://").partition("/")
        pages = self._connected().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [StoredName(f"s3://{bucket}/{one['Key']}", one["Size"]) for page in pages for one in page.get("Contents", [])]

    def open(self, name: str) -> Any:
        """Request an object and return its body as a stream; raises botocore's `ClientError` where it is missing."""
        bucket, _, key = name.removeprefix("s3://").partition("/")
        return self._connected().get_object(Bucket=bucket, Key=key)["Body"]

    def address(self, name: str) -> str:
        """Return an address from which anybody can get an object for an hour."""
        bucket, _, key = name.removeprefix("s3://").partition("/")
        params = {"Bucket": bucket, "Key": key}
        return str(self._connected().generate_presigned_url("get_object", Params=params, ExpiresIn=_ADDRESS_VALID_S))

    def _connected(self) -> Any:
        if self._client is None or self._pid != os.getpid():
            import boto3
            from botocore.config import Config

            # connections must not be shared with the process that this one was forked from
            config = Config(max_pool_connections=_CONNECTIONS, signature_version="s3v4")
            self._client, self._pid = boto3.session.Session().client("s3", config=config), os.getpid()
        return self._client
