"""For how many endpoints an account's quota has instances, and what is said of one that has none."""

from __future__ import annotations

from backends.sagemaker.aws.errors import CallFailure
from backends.sagemaker.aws.known_quotas import QuotasOf
from backends.sagemaker.aws.lookups import ENDPOINT, Quota, increase_command

_UNKNOWN = 1_000_000


class EndpointQuotas:
    """The quotas of an account, each asked for once.

    Args:
        quotas_of: looks them up.
        each: instances of one endpoint.
        region: whose quotas count.
    """

    def __init__(self, quotas_of: QuotasOf, each: int, region: str) -> None:
        self._quotas_of, self._each, self._region = quotas_of, each, region
        self._known: dict[str, Quota | None] = {}

    def room(self, instance_type: str) -> int:
        """Return how many endpoints may be at once; very many where the quota is not known."""
        if instance_type not in self._known:
            name = ENDPOINT.format(instance_type)
            found = self._quotas_of([name])
            self._known[instance_type] = None if isinstance(found, CallFailure) else found.get(name)
        quota = self._known[instance_type]
        return _UNKNOWN if quota is None else quota.limit // self._each

    def too_small(self) -> str:
        """Return what is said of those quotas, asked for so far, that allow not even one endpoint; empty where there is none."""
        return "; ".join(self._said(name, quota) for name, quota in self._known.items() if quota is not None and quota.limit < self._each)

    def _said(self, instance_type: str, quota: Quota) -> str:
        takes = "" if self._each == 1 else f", and one endpoint takes {self._each}"
        more = increase_command(quota.code, self._each, self._region)
        return f"the quota '{ENDPOINT.format(instance_type)}' is {quota.limit} in {self._region}{takes}; `{more}` asks for more"
