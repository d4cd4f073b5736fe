"""Uploads what travels to jobs: the package once for all of them, and arguments that do not fit into a request."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from backends.sagemaker.aws import s3
from backends.sagemaker.code.packing import ARCHIVE, MODULES, START, Package, modules
from definitions import strict_json

ARGUMENTS = "arguments.json"

_MARKER = "complete.json"
_MAX_ITEMS, _MAX_ITEM_LENGTH = 100, 256  # of ContainerArguments


def upload_code(package: Package, client: Any, bucket: str, prefix: str) -> str:
    """Upload a package unless it is there, and return the `s3://` URI of its folder, with a slash at its end.

    Args:
        package: from `pack`.
        client: a boto3 S3 client.
        bucket: an existing bucket.
        prefix: of all of Outrider's keys.

    Raises:
        UserError, CloudError: S3 refuses.
    """
    folder = s3.joined(prefix, "code", package.hash)
    if s3.head(client, bucket, folder + _MARKER) is None:
        s3.put(client, bucket, folder + START.name, START.read_bytes())
        s3.put(client, bucket, folder + MODULES, modules())
        with tempfile.TemporaryFile() as archive:
            package.write(archive)
            size_bytes = archive.tell()
            s3.put(client, bucket, folder + ARCHIVE, archive)
        # Last, so that an upload that was cut short does not count.
        s3.put(client, bucket, folder + _MARKER, strict_json.dumps({"archive_bytes": size_bytes}).encode())
    return f"s3://{bucket}/{folder}"


def fits(script: str, arguments: Sequence[str]) -> bool:
    """Return whether a script's name and arguments may be ContainerArguments; else they travel as a file."""
    items = [script, *arguments]
    return len(items) <= _MAX_ITEMS and all(len(item) <= _MAX_ITEM_LENGTH and "\n" not in item and "\r" not in item for item in items)


def upload_arguments(start: Mapping[str, Any], client: Any, bucket: str, prefix: str, experiment: str, job: str) -> str:
    """Upload what a job starts as `arguments.json` and return the `s3://` URI of its folder, with a slash at its end.

    Args:
        start: as `outrider_start.py` reads it.
        client: a boto3 S3 client.
        bucket: an existing bucket.
        prefix: of all of Outrider's keys.
        experiment: `<tag>/<job prefix>`.
        job: its name.

    Raises:
        UserError, CloudError: S3 refuses.
    """
    folder = s3.joined(prefix, "jobs", experiment, job)
    s3.put(client, bucket, folder + ARGUMENTS, strict_json.dumps(dict(start)).encode())
    return f"s3://{bucket}/{folder}"
