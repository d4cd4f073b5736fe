"""Service Quotas for SageMaker's training jobs and endpoints: limits by instance type."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backends.emulator.core.settings import ENDPOINT_QUOTA, SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA, Settings
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.paging import decode_token, encode_token

_SERVICE = "sagemaker"


class QuotasService:
    """ListServiceQuotas, GetServiceQuota and the defaults; quota codes are made up, but stable.

    Args:
        limit: returns the value of a quota by its name, in instances.
        instance_types: all that training jobs may have; `hosting_types`: all that endpoints may.
    """

    def __init__(
        self, limit: Callable[[str], int], settings: Settings, instance_types: Sequence[str], hosting_types: Sequence[str] = ()
    ) -> None:
        self._limit, self._settings = limit, settings
        names = [form.format(kind) for kind in instance_types for form in (TRAINING_QUOTA, SPOT_QUOTA, WARM_POOL_QUOTA)]
        names += [ENDPOINT_QUOTA.format(kind) for kind in hosting_types]
        self._names = {code_of(name): name for name in names}
        self._operations = {
            "ListServiceQuotas": self._list,
            "ListAWSDefaultServiceQuotas": self._list,
            "GetServiceQuota": self._get,
            "GetAWSDefaultServiceQuota": self._get,
            "ListServices": self._services,
        }

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether an operation is imitated."""
        return operation in self._operations and request.get("ServiceCode", _SERVICE) == _SERVICE

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request; raises `ServiceError`."""
        return self._operations[operation](request)

    def _list(self, request: dict[str, Any]) -> dict[str, Any]:
        codes = sorted(self._names, key=self._names.__getitem__)
        wanted = request.get("QuotaCode")
        if wanted:
            codes = [code for code in codes if code == wanted]
        start = decode_token(request["NextToken"]) if request.get("NextToken") else 0
        end = start + request.get("MaxResults", 100)
        answer: dict[str, Any] = {"Quotas": [self._quota(code) for code in codes[start:end]]}
        if end < len(codes):
            answer["NextToken"] = encode_token(end)
        return answer

    def _get(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("QuotaCode") not in self._names:
            raise ServiceError("NoSuchResourceException", "The request failed because the specified service quota does not exist.")
        return {"Quota": self._quota(request["QuotaCode"])}

    def _services(self, request: dict[str, Any]) -> dict[str, Any]:
        del request
        return {"Services": [{"ServiceCode": _SERVICE, "ServiceName": "Amazon SageMaker"}]}

    def _quota(self, code: str) -> dict[str, Any]:
        name = self._names[code]
        return {
            "ServiceCode": _SERVICE,
            "ServiceName": "Amazon SageMaker",
            "QuotaArn": f"arn:aws:servicequotas:{self._settings.region}:{self._settings.account}:{_SERVICE}/{code}",
            "QuotaCode": code,
            "QuotaName": name,
            "Value": float(self._limit(name)),
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
        }


def code_of(name: str) -> str:
    """Return a quota's code."""
    return f"L-{zlib.crc32(name.encode()):08X}"
