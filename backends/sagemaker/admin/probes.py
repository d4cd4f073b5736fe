"""Asks AWS what has to be known before a first start; what is refused is an answer too. Used by `first_start`."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

from backends.sagemaker.admin.checks import Quota, ecr_image
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import Kind, Refusal, refusal_of
from backends.sagemaker.aws.retry import Patience
from backends.sagemaker.aws.s3 import joined, split_uri


class Probes:
    """Calls that only look, except for one object that is written and deleted. What AWS refuses is an answer too.

    Args:
        clients: of the region of the jobs.
        patience: makes the calls.
    """

    def __init__(self, clients: Clients, patience: Patience) -> None:
        self._clients, self._patience = clients, patience

    def call(self, service: str, operation: str, **arguments: Any) -> Any:
        """Return the answer of a call, or a `Refusal`; raises `UserError` where not even a client can be made."""

        def once(**arguments: Any) -> Any:
            try:
                return getattr(self._clients.get(service), operation)(**arguments)
            except Exception as error:
                refusal = refusal_of(error)
                # Who cannot be reached now is not waited for: the person at the terminal is to mend it.
                if refusal is not None and refusal.kind is Kind.UNREACHABLE:
                    return refusal
                raise

        try:
            return self._patience(once, **arguments)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            return refusal

    def bucket_region(self, bucket: str, region: str) -> str | Refusal:
        """Return where a bucket is; one that does not say is taken to be in `region`."""
        try:
            answer = self._patience(self._clients.get("s3").head_bucket, Bucket=bucket)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            elsewhere = _headers(getattr(error, "response", {})).get("x-amz-bucket-region")
            return elsewhere if elsewhere and elsewhere != region and refusal.kind is not Kind.MISSING else refusal
        return str(answer.get("BucketRegion") or _headers(answer).get("x-amz-bucket-region") or region)

    def writing_problem(self, bucket: str, prefix: str) -> Refusal | None:
        """Return why an object could not be written and deleted below the prefix; None where it could."""
        place = {"Bucket": bucket, "Key": f"{joined(prefix, 'doctor')}{secrets.token_hex(8)}"}
        for operation, arguments in (("put_object", {**place, "Body": b"outrider doctor"}), ("delete_object", place)):
            answer = self.call("s3", operation, **arguments)
            if isinstance(answer, Refusal):
                return answer
        return None

    def has_objects(self, uri: str) -> bool | Refusal:
        """Return whether there is an object below an `s3://` URI."""
        bucket, key = split_uri(uri)
        answer = self.call("s3", "list_objects_v2", Bucket=bucket, Prefix=key, MaxKeys=1)
        return answer if isinstance(answer, Refusal) else bool(answer.get("Contents"))

    def quotas(self, names: Iterable[str]) -> dict[str, Quota] | Refusal:
        """Return the account's quotas of these names; those that the account never had changed have their default."""
        wanted, found = set(names), dict[str, Quota]()
        for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
            request: dict[str, Any] = {"ServiceCode": "sagemaker", "MaxResults": 100}
            while wanted - set(found):
                page = self.call("service-quotas", operation, **request)
                if isinstance(page, Refusal):
                    return page
                for one in page["Quotas"]:
                    if one["QuotaName"] in wanted:
                        found.setdefault(one["QuotaName"], Quota(str(one["QuotaCode"]), int(one["Value"])))
                if not page.get("NextToken"):
                    break
                request["NextToken"] = page["NextToken"]
        return found

    def image_exists(self, uri: str) -> bool | Refusal | None:
        """Return whether ECR has an image; None where it is no image in ECR, or calls go to the emulator, which has no images."""
        place = ecr_image(uri)
        if place is None or self._clients.emulated:
            return None
        image = {"imageDigest": place.digest} if place.digest else {"imageTag": place.tag or "latest"}
        answer = self.call("ecr", "describe_images", registryId=place.account, repositoryName=place.repository, imageIds=[image])
        return answer if isinstance(answer, Refusal) else bool(answer.get("imageDetails"))


def _headers(answer: Any) -> dict[str, str]:
    return dict(answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}))
