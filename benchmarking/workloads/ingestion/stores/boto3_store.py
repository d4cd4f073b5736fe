"""Objects in S3 through boto3."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any


@dataclass
class Boto3:
    """Objects through boto3, as most scripts do it."""

    uri: str
    _client: Any = None
    _pid: int = 0

    def names(self) -> list[str]:
        """Return the URIs of all objects under the channel's URI."""
        bucket, _, prefix = self.uri.removeprefix("s3://").partition("/")
        pages = self._connected().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [f"s3://{bucket}/{entry['Key']}" for page in pages for entry in page.get("Contents", [])]

    def open(self, name: str) -> Any:
        """Request an object and return its body as a stream; raises botocore's `ClientError` where it is missing."""
        bucket, _, key = name.removeprefix("s3://").partition("/")
        return self._connected().get_object(Bucket=bucket, Key=key)["Body"]

    def _connected(self) -> Any:
        if self._client is None or self._pid != os.getpid():
            import boto3

            # connections must not be shared with the process that this one was forked from
            self._client, self._pid = boto3.session.Session().client("s3"), os.getpid()
        return self._client
