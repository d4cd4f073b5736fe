"""Buckets in S3: where one is, and one's own made where it is missing."""

from __future__ import annotations

from typing import Any, NoReturn

from backends.sagemaker.aws.errors import FailureKind, failure_of, masked
from backends.sagemaker.aws.s3 import s3_errors
from definitions.errors import UserError

_HOME = "us-east-1"


def ensure_bucket(client: Any, bucket: str, region: str, owner: str | None = None) -> bool:
    """Create a bucket where there is none, and return whether it was created.

    Args:
        client: a boto3 S3 client.
        bucket: its name.
        region: where it has to be.
        owner: id of the account that it has to belong to; None for whoever lets it be used.

    Raises:
        UserError: it is in another region, or somebody else's.
        CloudError: S3 refuses otherwise.
    """
    expected = {"ExpectedBucketOwner": owner} if owner else {}
    with s3_errors(f"bucket {bucket}: it cannot be used", bucket):
        try:
            answer = client.head_bucket(Bucket=bucket, **expected)
        except Exception as error:
            failure, elsewhere = failure_of(error), region_in(error)
            if elsewhere and elsewhere != region:
                _elsewhere(bucket, elsewhere, region)
            if failure is None or failure.kind not in (FailureKind.MISSING, FailureKind.DENIED):
                raise
            if failure.kind is FailureKind.DENIED:
                _not_ours(bucket)
        else:
            found = region_of(answer, region)
            if found != region:
                _elsewhere(bucket, found, region)
            return False
        # us-east-1 is the one region that must not be named.
        where = {} if region == _HOME else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        try:
            client.create_bucket(Bucket=bucket, **where)
        except Exception as error:
            code = getattr(error, "response", {}).get("Error", {}).get("Code")
            if code == "BucketAlreadyExists":
                _not_ours(bucket)
            if code != "BucketAlreadyOwnedByYou":  # made by another controller meanwhile
                raise
            return False
        return True


def region_of(answer: Any, default: str) -> str:
    """Return the region that HeadBucket's answer names, `default` where it names none."""
    return str(answer.get("BucketRegion") or _headers(answer).get("x-amz-bucket-region") or default)


def region_in(error: BaseException) -> str:
    """Return the region that S3 says a bucket is in when it refuses a call elsewhere; empty where it does not say."""
    return _headers(getattr(error, "response", {})).get("x-amz-bucket-region", "")


def _headers(answer: Any) -> dict[str, str]:
    return dict(answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}))


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
