"""Asks AWS what has to be known before jobs are started: buckets, quotas, images; what is refused is an answer too."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backends.sagemaker.aws.buckets import region_in, region_of
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, FailureKind, failure_of
from backends.sagemaker.aws.s3 import joined, split_uri

TRAINING = "{} for training job usage"
SPOT = "{} for spot training job usage"
WARM_POOL = "{} for training warm pool usage"
ENDPOINT = "{} for endpoint usage"
_ECR = re.compile(r"(\d{12})\.dkr\.ecr(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/([^:@]+)(?::([^:@]+))?(?:@(sha256:[0-9a-f]+))?")
IN_THE_LOOP = 5
"""Attempts for who asks in the loop's own thread, and so may wait for some seconds only."""


@dataclass(frozen=True)
class Quota:
    """One quota of the account: its value in instances, and the code by which more of it is asked for."""

    code: str
    limit: int


def increase_command(code: str, wanted: int, region: str) -> str:
    """Return the command that asks AWS for more of a quota."""
    return (
        f"aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code {code} "
        f"--desired-value {wanted} --region {region}"
    )


@dataclass(frozen=True)
class EcrImage:
    """Parts of an image's URI; `tag` or `digest` may be empty."""

    account: str
    region: str
    repository: str
    tag: str
    digest: str


def ecr_image(uri: str) -> EcrImage | None:
    """Return the parts of the URI of an image in ECR; None for another registry's."""
    match = _ECR.fullmatch(uri)
    return None if match is None else EcrImage(match[1], match[2], match[3], match[4] or "", match[5] or "")


class Lookups:
    """Calls that only look, except for one object that is written and deleted; a failed call is an answer too.

    Args:
        clients: of the region of the jobs.
        attempts: times that a call is made at most where it is throttled or fails; None for as often as the clients' own.
    """

    def __init__(self, clients: Clients, attempts: int | None = None) -> None:
        self._clients, self._attempts = clients, attempts

    def call(self, service: str, operation: str, **arguments: Any) -> Any:
        """Return the answer of a call, or a `CallFailure`; raises `UserError` where not even a client can be made."""
        try:
            return self._answer(service, operation, **arguments)
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            return failure

    def _answer(self, service: str, operation: str, **arguments: Any) -> Any:
        # Once to begin with: who cannot be reached now is not waited for, as the person at the terminal is to mend it.
        try:
            return getattr(self._clients.get(service, attempts=1), operation)(**arguments)
        except Exception as error:
            failure = failure_of(error)
            if failure is None or failure.kind not in (FailureKind.THROTTLED, FailureKind.SERVICE):
                raise
        return getattr(self._clients.get(service, self._attempts), operation)(**arguments)

    def bucket_region(self, bucket: str, region: str) -> str | CallFailure:
        """Return where a bucket is; one that does not say is taken to be in `region`."""
        try:
            answer = self._answer("s3", "head_bucket", Bucket=bucket)
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            elsewhere = region_in(error)
            return elsewhere if elsewhere and elsewhere != region and failure.kind is not FailureKind.MISSING else failure
        return region_of(answer, region)

    def writing_problem(self, bucket: str, prefix: str) -> CallFailure | None:
        """Return why an object could not be written and deleted below the prefix; None where it could."""
        place = self.new_place(bucket, prefix)
        for operation, arguments in (("put_object", {**place, "Body": b"outrider doctor"}), ("delete_object", place)):
            answer = self.call("s3", operation, **arguments)
            if isinstance(answer, CallFailure):
                return answer
        return None

    def new_place(self, bucket: str, prefix: str) -> dict[str, str]:
        """Return bucket and key of an object that is tried and deleted."""
        return {"Bucket": bucket, "Key": f"{joined(prefix, 'doctor')}{secrets.token_hex(8)}"}

    def has_objects(self, uri: str) -> bool | CallFailure:
        """Return whether there is an object below an `s3://` URI."""
        bucket, key = split_uri(uri)
        answer = self.call("s3", "list_objects_v2", Bucket=bucket, Prefix=key, MaxKeys=1)
        return answer if isinstance(answer, CallFailure) else bool(answer.get("Contents"))

    def quotas(self, names: Iterable[str]) -> dict[str, Quota] | CallFailure:
        """Return the account's quotas of these names; those that the account never had changed have their default."""
        wanted, found = set(names), dict[str, Quota]()
        for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
            request: dict[str, Any] = {"ServiceCode": "sagemaker", "MaxResults": 100}
            while wanted - set(found):
                page = self.call("service-quotas", operation, **request)
                if isinstance(page, CallFailure):
                    return page
                for one in page["Quotas"]:
                    if one["QuotaName"] in wanted:
                        found.setdefault(one["QuotaName"], Quota(str(one["QuotaCode"]), int(one["Value"])))
                if not page.get("NextToken"):
                    break
                request["NextToken"] = page["NextToken"]
        return found

    def image_exists(self, uri: str) -> bool | CallFailure | None:
        """Return whether ECR has an image; None where it is no image in ECR, or calls go to the emulator, which has no images."""
        place = ecr_image(uri)
        if place is None or self._clients.emulated:
            return None
        image = {"imageDigest": place.digest} if place.digest else {"imageTag": place.tag or "latest"}
        answer = self.call("ecr", "describe_images", registryId=place.account, repositoryName=place.repository, imageIds=[image])
        return answer if isinstance(answer, CallFailure) else bool(answer.get("imageDetails"))
