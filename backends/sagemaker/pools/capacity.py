"""How many jobs of an instance type there is room for: by the account's quotas, and by what the service refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from backends.sagemaker.aws.lookups import Quota

_FIRST_WAIT_S = 30.0
_LONGEST_WAIT_S = 600.0
_CAPACITY_REST_S = 1800.0


@dataclass(frozen=True)
class _Limit:
    """What a failure taught: jobs in flight at that time, until when that is believed, how often in a row, and when it was tried."""

    jobs: int
    until: float
    strikes: int
    message: str
    tried_at: float = -math.inf


class ConcurrencyLimits:
    """Concurrency by instance type, lowered by quota errors; times are seconds of the back-end's clock."""

    def __init__(self) -> None:
        self._limits: dict[str, _Limit] = {}

    def record_refusal(self, instance_type: str, in_flight: int, now: float, message: str) -> float:
        """Take in a quota error with so many other jobs of the type in flight; return when to try again."""
        earlier = self._limits.get(instance_type)
        # Several jobs that were asked for together are refused together; only a try after the wait is a further sign.
        strikes = 1 if earlier is None else earlier.strikes + (now >= earlier.until)
        until = now + min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(strikes - 1, 10))
        self._limits[instance_type] = _Limit(in_flight, until, strikes, message)
        return until

    def record_acceptance(self, instance_type: str, in_flight: int) -> None:
        """Take in that a job was accepted, so many being in flight now."""
        limit = self._limits.get(instance_type)
        if limit is not None and in_flight > limit.jobs:
            del self._limits[instance_type]

    def record_attempt(self, instance_type: str, in_flight: int, now: float) -> None:
        """Take in that a further job is asked for: where it would pass the limit it goes alone, to see whether there is room again."""
        limit = self._limits.get(instance_type)
        if limit is not None and in_flight >= limit.jobs and now >= limit.until:
            self._limits[instance_type] = replace(limit, tried_at=now)

    def blocked_until(self, instance_type: str, in_flight: int, now: float) -> tuple[float, str] | None:
        """Return until when a further job need not be tried, and why; None where it may be."""
        limit = self._limits.get(instance_type)
        if limit is None or in_flight < limit.jobs:
            return None
        until = max(limit.until, limit.tried_at + _FIRST_WAIT_S)
        return (until, limit.message) if now < until else None


class CapacityHistory:
    """Which instance types lacked capacity lately, and what takes their place."""

    def __init__(self, fallbacks: Collection[str]) -> None:
        self._fallbacks = tuple(fallbacks)
        self._short_since: dict[str, float] = {}

    def record_shortage(self, instance_type: str, now: float) -> None:
        """Take note that there was none."""
        self._short_since[instance_type] = now

    def exclude(self, instance_type: str) -> None:
        """Fall back to this type no more, as the account may have none of it."""
        self._fallbacks = tuple(name for name in self._fallbacks if name != instance_type)

    def choose(self, wanted: str, now: float, usable: Callable[[str], bool] = lambda name: True) -> str:
        """Return the first type, beginning with the one wanted, that did not lack capacity lately; else the one that did longest ago.

        Args:
            wanted: what the job asks for.
            now: by the back-end's clock.
            usable: says whether the account has quota for a type to fall back to; asked only where one is to be fallen back to.
        """
        if now - self._short_since.get(wanted, -_CAPACITY_REST_S) >= _CAPACITY_REST_S:
            return wanted
        candidates = [wanted, *(name for name in self._fallbacks if name != wanted and usable(name))]
        for name in candidates:
            if now - self._short_since.get(name, -_CAPACITY_REST_S) >= _CAPACITY_REST_S:
                return name
        return min(candidates, key=lambda name: self._short_since[name])


def jobs_within_quota(quota: Quota | None, count: int, unknown: int) -> int:
    """Return how many jobs of `count` instances a quota allows; `unknown` where it is not known."""
    return unknown if quota is None else quota.limit // max(1, count)
