"""What the SageMaker back-end does with S3: small helpers around a boto3 client, and checkpoints by key.

Throttled and failed calls are repeated with back-off; other refusals become errors that say what to do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

from backends.base import CheckpointStore
from backends.sagemaker.aws.errors import Kind, Refusal, as_cloud_errors, masked, refusal_of
from backends.sagemaker.aws.retry import Patience
from definitions.errors import OutriderError, UserError

BATCH = 1000
"""Keys in one DeleteObjects or one page of a listing, at most."""
_SINGLE_COPY_BYTES = 5 * 1024**3
_BUSY = ("SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout")
_TRIES = 5
_SWEEP_FROM = 8
_OWN = ".outrider-"
_HOME = "us-east-1"


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


def put(client: Any, bucket: str, key: str, body: Any, patience: Patience | None = None) -> None:
    """Write an object; `body` is bytes or a file that can be rewound."""

    def write() -> None:
        if hasattr(body, "seek"):
            body.seek(0)
        client.put_object(Bucket=bucket, Key=key, Body=body)

    with _saying(f"s3://{bucket}/{key}: it cannot be written", bucket):
        (patience or Patience())(write)


def head(client: Any, bucket: str, key: str, patience: Patience | None = None) -> int | None:
    """Return an object's size in bytes; None where there is none, or where it is not allowed to see that there is none."""
    with _saying(f"s3://{bucket}/{key}: it cannot be looked up", bucket):
        try:
            return int((patience or Patience())(client.head_object, Bucket=bucket, Key=key)["ContentLength"])
        except Exception as error:
            refusal = refusal_of(error)
            # Without permission to list the bucket S3 answers 403 for what does not exist.
            if refusal is not None and refusal.kind in (Kind.MISSING, Kind.DENIED):
                return None
            raise


def objects(client: Any, bucket: str, prefix: str, patience: Patience | None = None) -> Iterator[tuple[str, int]]:
    """Yield key and size in bytes of all objects below a prefix, a thousand in a call."""
    request: dict[str, Any] = {"Bucket": bucket, "Prefix": prefix, "MaxKeys": BATCH}
    calling = patience or Patience()
    while True:
        with _saying(f"s3://{bucket}/{prefix}: it cannot be listed", bucket):
            page = calling(client.list_objects_v2, **request)
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
    patience: Patience | None = None,
) -> int:
    """Copy all objects below a prefix to another within the bucket and return how many there were.

    Args:
        client: a boto3 S3 client.
        bucket: its name.
        source: prefix, with a slash at its end.
        target: the same.
        threads: copies at once.
        wanted: whether an object is copied, by its key relative to the source.
        patience: makes the calls.

    Raises:
        UserError, CloudError: S3 refuses; some objects may have been copied.
    """
    calling = patience or Patience()

    def copy(item: tuple[str, int]) -> None:
        key, size_bytes = item
        place = {"Bucket": bucket, "Key": key}
        # One call copies up to 5 GiB; above that boto3 copies in parts.
        call = client.copy_object if size_bytes <= _SINGLE_COPY_BYTES else client.copy
        with _saying(f"s3://{bucket}/{key}: it cannot be copied to {target}", bucket):
            calling(call, CopySource=place, Bucket=bucket, Key=target + key.removeprefix(source))

    found = [item for item in objects(client, bucket, source, calling) if wanted(item[0].removeprefix(source))]
    if found:
        with ThreadPoolExecutor(min(threads, len(found))) as pool:
            list(pool.map(copy, found))
    return len(found)


def delete_keys(client: Any, bucket: str, keys: Sequence[str], patience: Patience | None = None) -> None:
    """Delete objects, a thousand in a call.

    Raises:
        UserError, CloudError: S3 refuses; where it refuses single keys, after all others are deleted.
    """
    calling = patience or Patience()
    refused: list[Any] = []
    for start in range(0, len(keys), BATCH):
        batch = list(keys[start : start + BATCH])
        for number in range(_TRIES):
            body = {"Objects": [{"Key": key} for key in batch], "Quiet": True}
            with _saying(f"s3://{bucket}: {len(batch)} objects cannot be deleted", bucket):
                errors = calling(client.delete_objects, Bucket=bucket, Delete=body).get("Errors", [])
            # Each key has its own answer.
            busy = [one for one in errors if one.get("Code") in _BUSY] if number + 1 < _TRIES else []
            refused += [one for one in errors if one not in busy and one.get("Code") != "NoSuchKey"]
            batch = [str(one["Key"]) for one in busy]
            if not batch:
                break
            calling.sleep(0.5 * 2.0**number)
    if refused:
        first = refused[0]
        raise UserError(
            f"s3://{bucket}: {len(refused)} of {len(keys)} objects could not be deleted",
            masked(f"{first.get('Key')}: {first.get('Code')}: {first.get('Message', '')}"),
            "s3:DeleteObject is needed, and no lock or retention on them",
        )


def delete_prefix(client: Any, bucket: str, prefix: str, patience: Patience | None = None) -> int:
    """Delete all objects below a prefix and return how many there were; raises as `delete_keys`, and `ValueError` for no prefix."""
    if not prefix:
        raise ValueError("delete_prefix: an empty prefix would be the whole bucket")
    keys = [key for key, _ in objects(client, bucket, prefix, patience)]
    delete_keys(client, bucket, keys, patience)
    return len(keys)


def ensure_bucket(client: Any, bucket: str, region: str, owner: str | None = None, patience: Patience | None = None) -> bool:
    """Create a bucket where there is none, and return whether it was created.

    Args:
        client: a boto3 S3 client.
        bucket: its name.
        region: where it has to be.
        owner: id of the account that it has to belong to; None for whoever lets it be used.
        patience: makes the calls.

    Raises:
        UserError: it is in another region, or somebody else's.
        CloudError: S3 refuses otherwise.
    """
    calling = patience or Patience()
    expected = {"ExpectedBucketOwner": owner} if owner else {}
    with _saying(f"bucket {bucket}: it cannot be used", bucket):
        try:
            answer = calling(client.head_bucket, Bucket=bucket, **expected)
        except Exception as error:
            refusal, elsewhere = refusal_of(error), _region_in(error)
            if elsewhere and elsewhere != region:
                _elsewhere(bucket, elsewhere, region)
            if refusal is None or refusal.kind not in (Kind.MISSING, Kind.DENIED):
                raise
            if refusal.kind is Kind.DENIED:
                _not_ours(bucket)
        else:
            found = str(answer.get("BucketRegion") or _headers(answer).get("x-amz-bucket-region") or region)
            if found != region:
                _elsewhere(bucket, found, region)
            return False
        # us-east-1 is the one region that must not be named.
        where = {} if region == _HOME else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        try:
            calling(client.create_bucket, Bucket=bucket, **where)
        except Exception as error:
            code = getattr(error, "response", {}).get("Error", {}).get("Code")
            if code == "BucketAlreadyExists":
                _not_ours(bucket)
            if code != "BucketAlreadyOwnedByYou":  # made by another controller meanwhile
                raise
            return False
        return True


class S3Checkpoints(CheckpointStore):
    """Checkpoints below `s3://<bucket>/<prefix>/checkpoints/<experiment>/<key>/`.

    Args:
        client: returns a boto3 S3 client, a new one where credentials were renewed.
        bucket, prefix: where Outrider keeps everything.
        experiment: `<tag>/<job prefix>`.
        patience: makes the calls.
        threads: copies at once.
    """

    def __init__(
        self, client: Callable[[], Any], bucket: str, prefix: str, experiment: str, patience: Patience | None = None, threads: int = 8
    ) -> None:
        self._client, self._bucket = client, bucket
        self._root = joined(prefix, "checkpoints", experiment)
        self._patience = patience or Patience()
        self._threads = threads

    def uri(self, key: str) -> str:
        """Return the `s3://` URI of a key's folder, with a slash at its end; raises `ValueError` as `folder`."""
        return f"s3://{self._bucket}/{self.folder(key)}"

    def folder(self, key: str) -> str:
        """Return the prefix of a key's objects.

        Raises:
            ValueError: the key is no plain name or relative path.
        """
        if any(part in ("", ".", "..") for part in key.split("/")):
            raise ValueError(f"checkpoint key {key!r} is no plain name")
        return f"{self._root}{key}/"

    def copy(self, source: str, target: str) -> None:
        """Copy a checkpoint in place of the target's; one that does not exist copies to nothing.

        What the reporter counts the lives of a job by stays behind.
        """
        if source == target:
            return
        self.delete([target])
        copy_prefix(
            self._client(),
            self._bucket,
            self.folder(source),
            self.folder(target),
            threads=self._threads,
            wanted=_is_content,
            patience=self._patience,
        )

    def delete(self, keys: Sequence[str]) -> None:
        """Delete checkpoints, a thousand objects in a call; unknown keys are ignored."""
        folders = list(dict.fromkeys(self.folder(key) for key in keys))
        # Each key is a listing of its own; for many of them one listing of the whole experiment is cheaper.
        places = folders if len(folders) < _SWEEP_FROM else [self._root]
        doomed = set(folders)
        try:
            found = [key for place in places for key, _ in objects(self._client(), self._bucket, place, self._patience)]
        except NoBucketError:
            return  # nothing was ever kept, or it is gone with its bucket
        if places is not folders:
            found = [key for key in found if any(folder in doomed for folder in _folders_of(key, self._root))]
        delete_keys(self._client(), self._bucket, found, self._patience)

    def exists(self, key: str) -> bool:
        """Return whether the key has a checkpoint that is not empty."""
        folder = self.folder(key)
        try:
            return any(_is_content(name.removeprefix(folder)) for name, _ in objects(self._client(), self._bucket, folder, self._patience))
        except NoBucketError:
            return False


def _is_content(name: str) -> bool:
    """Return whether an object, by its key within a checkpoint, is the script's own; a folder's mark is none."""
    return bool(name) and not name.startswith(_OWN)


def _folders_of(key: str, root: str) -> Iterator[str]:
    parts = key.removeprefix(root).split("/")[:-1]
    for count in range(1, len(parts) + 1):
        yield root + "/".join(parts[:count]) + "/"


@contextlib.contextmanager
def _saying(asked: str, bucket: str) -> Iterator[None]:
    """Inside the block a missing bucket is a `UserError` and any other refusal a `CloudError`."""
    with as_cloud_errors(asked):
        try:
            yield
        except OutriderError:
            raise
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is not None and refusal.code == "NoSuchBucket":
                raise NoBucketError(masked(asked), str(refusal), masked(_advice(refusal, bucket))) from error
            if refusal is not None and refusal.code in ("InvalidBucketName", "PermanentRedirect", "InvalidArgument"):
                raise UserError(masked(asked), str(refusal), masked(_advice(refusal, bucket))) from error
            raise


def _advice(refusal: Refusal, bucket: str) -> str:
    if refusal.code == "PermanentRedirect":
        return f"bucket {bucket} is in another region; give --set region=... of it, or another --set bucket=..."
    return f"check the name of bucket {bucket}, or give another by --set bucket=..."


def _headers(answer: Any) -> dict[str, str]:
    return dict(answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}))


def _region_in(error: Exception) -> str:
    return _headers(getattr(error, "response", {})).get("x-amz-bucket-region", "")


def _elsewhere(bucket: str, found: str, region: str) -> NoReturn:
    raise UserError(
        masked(f"bucket {bucket}: it is in region {found}"),
        f"the jobs run in {region}, and their data, code and checkpoints have to be there too",
        f"give --set region={found}, or another --set bucket=...",
    )


def _not_ours(bucket: str) -> NoReturn:
    raise UserError(
        masked(f"bucket {bucket}") + ": it belongs to somebody else, or these credentials may not use it",
        "names of buckets are unique in all of AWS",
        "give another --set bucket=..., or let its owner allow s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject",
    )
