"""Objects in S3: written, looked up, listed, copied and deleted by a boto3 client, which repeats what is throttled or fails.

What it does not get done in the end becomes an error that says what to do.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from backends.sagemaker.aws.errors import TRANSIENT, CallFailure, FailureKind, as_cloud_errors, failure_of, kind_of, masked
from definitions.errors import OutriderError, UserError

BATCH = 1000
"""Keys in one DeleteObjects or one page of a listing, at most."""
_SINGLE_COPY_BYTES = 5 * 1024**3
_TRIES = 5


class NoBucketError(UserError):
    """There is no such bucket."""


def split_uri(uri: str) -> tuple[str, str]:
    """Return bucket and key of `s3://bucket/key`; raises `UserError` for another form."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not uri.startswith("s3://") or not bucket:
        raise UserError(f"{uri!r} is no place in S3", "the form is s3://bucket/key")
    return bucket, key


def joined(*parts: str) -> str:
    """Return key parts as one prefix, with a slash at its end; empty parts are left out."""
    return "".join(f"{part.strip('/')}/" for part in parts if part.strip("/"))


def put(client: Any, bucket: str, key: str, body: Any) -> None:
    """Write an object; `body` is bytes or a file that can be rewound."""
    if hasattr(body, "seek"):
        body.seek(0)
    with s3_errors(f"s3://{bucket}/{key}: it cannot be written", bucket):
        client.put_object(Bucket=bucket, Key=key, Body=body)


def head(client: Any, bucket: str, key: str) -> int | None:
    """Return an object's size in bytes; None where there is none, or where it is not allowed to see that there is none."""
    with s3_errors(f"s3://{bucket}/{key}: it cannot be looked up", bucket):
        try:
            return int(client.head_object(Bucket=bucket, Key=key)["ContentLength"])
        except Exception as error:
            failure = failure_of(error)
            # Without permission to list the bucket S3 answers 403 for what does not exist.
            if failure is not None and failure.kind in (FailureKind.MISSING, FailureKind.DENIED):
                return None
            raise


def few_objects(client: Any, bucket: str, prefix: str) -> list[str] | None:
    """Return the keys of all objects below a prefix by one call; None where there are more than a thousand."""
    with s3_errors(f"s3://{bucket}/{prefix}: it cannot be listed", bucket):
        page = client.list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=BATCH)
    return None if page.get("IsTruncated") else [str(one["Key"]) for one in page.get("Contents", [])]


def objects(client: Any, bucket: str, prefix: str) -> Iterator[tuple[str, int]]:
    """Yield key and size in bytes of all objects below a prefix, a thousand in a call."""
    request: dict[str, Any] = {"Bucket": bucket, "Prefix": prefix, "MaxKeys": BATCH}
    while True:
        with s3_errors(f"s3://{bucket}/{prefix}: it cannot be listed", bucket):
            page = client.list_objects_v2(**request)
        for one in page.get("Contents", []):
            yield str(one["Key"]), int(one["Size"])
        if not page.get("IsTruncated"):
            return
        request["ContinuationToken"] = page["NextContinuationToken"]


def copy_prefix(
    client: Any,
    bucket: str,
    source: str,
    target: str,
    *,
    threads: int = 8,
    wanted: Callable[[str], bool] = lambda name: True,
) -> int:
    """Copy all objects below a prefix to another within the bucket and return how many there were.

    Args:
        client: a boto3 S3 client.
        bucket: its name.
        source: prefix, with a slash at its end.
        target: the same.
        threads: copies at once.
        wanted: whether an object is copied, by its key relative to the source.

    Raises:
        UserError, CloudError: S3 refuses; some objects may have been copied.
    """

    def copy(item: tuple[str, int]) -> None:
        key, size_bytes = item
        place = {"Bucket": bucket, "Key": key}
        # One call copies up to 5 GiB; above that boto3 copies in parts.
        call = client.copy_object if size_bytes <= _SINGLE_COPY_BYTES else client.copy
        with s3_errors(f"s3://{bucket}/{key}: it cannot be copied to {target}", bucket):
            call(CopySource=place, Bucket=bucket, Key=target + key.removeprefix(source))

    found = [item for item in objects(client, bucket, source) if wanted(item[0].removeprefix(source))]
    if found:
        with ThreadPoolExecutor(min(threads, len(found))) as pool:
            list(pool.map(copy, found))
    return len(found)


def delete_keys(client: Any, bucket: str, keys: Sequence[str], sleep: Callable[[float], None] = time.sleep) -> None:
    """Delete objects, a thousand in a call; `sleep` waits so many seconds before keys that were busy are tried again.

    Raises:
        UserError, CloudError: S3 refuses; where it refuses single keys, after all others are deleted.
    """
    refused: list[Any] = []
    for start in range(0, len(keys), BATCH):
        batch = list(keys[start : start + BATCH])
        for number in range(_TRIES):
            body = {"Objects": [{"Key": key} for key in batch], "Quiet": True}
            with s3_errors(f"s3://{bucket}: {len(batch)} objects cannot be deleted", bucket):
                errors = client.delete_objects(Bucket=bucket, Delete=body).get("Errors", [])
            # Each key has its own answer, of which the client, that sees a call that went well, knows nothing.
            busy = [one for one in errors if kind_of(str(one.get("Code"))) in TRANSIENT] if number + 1 < _TRIES else []
            refused += [one for one in errors if one not in busy and one.get("Code") != "NoSuchKey"]
            batch = [str(one["Key"]) for one in busy]
            if not batch:
                break
            sleep(0.5 * 2.0**number)
    if refused:
        first = refused[0]
        raise UserError(
            f"s3://{bucket}: {len(refused)} of {len(keys)} objects could not be deleted",
            masked(f"{first.get('Key')}: {first.get('Code')}: {first.get('Message', '')}"),
            "s3:DeleteObject is needed, and no lock or retention on them",
        )


def delete_prefix(client: Any, bucket: str, prefix: str) -> int:
    """Delete all objects below a prefix and return how many there were; raises as `delete_keys`, and `ValueError` for no prefix."""
    if not prefix:
        raise ValueError("delete_prefix: an empty prefix would be the whole bucket")
    keys = [key for key, _ in objects(client, bucket, prefix)]
    delete_keys(client, bucket, keys)
    return len(keys)


@contextlib.contextmanager
def s3_errors(asked: str, bucket: str) -> Iterator[None]:
    """Inside the block a missing bucket is a `UserError` and any other failure a `CloudError`."""
    with as_cloud_errors(asked):
        try:
            yield
        except OutriderError:
            raise
        except Exception as error:
            failure = failure_of(error)
            if failure is not None and failure.code == "NoSuchBucket":
                raise NoBucketError(masked(asked), str(failure), masked(_advice(failure, bucket))) from error
            if failure is not None and failure.code in ("InvalidBucketName", "PermanentRedirect", "InvalidArgument"):
                raise UserError(masked(asked), str(failure), masked(_advice(failure, bucket))) from error
            raise


def _advice(failure: CallFailure, bucket: str) -> str:
    if failure.code == "PermanentRedirect":
        return f"bucket {bucket} is in another region; give --set region=... of it, or another --set bucket=..."
    return f"check the name of bucket {bucket}, or give another by --set bucket=..."
