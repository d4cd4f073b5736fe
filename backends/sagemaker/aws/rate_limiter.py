"""When the next call of an operation may be made: token buckets whose rates fall when throttled."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from backends.common.leases_folder import leases_folder
from backends.sagemaker.aws.clients import endpoint_of
from backends.sagemaker.aws.shared_pace import SharedPace, key_of


@dataclass(frozen=True)
class Rate:
    """How often an operation may be called.

    Args:
        per_s: calls a second to begin with; `most_per_s`: to which it may rise while nothing is throttled.
        burst: calls that may be made at once after a pause.
    """

    per_s: float
    burst: int
    most_per_s: float


RATES: Mapping[str, Rate] = {
    "CreateTrainingJob": Rate(5.0, 5, 25.0),
    "StopTrainingJob": Rate(5.0, 10, 25.0),
    "UpdateTrainingJob": Rate(5.0, 5, 10.0),
    "DescribeTrainingJob": Rate(10.0, 10, 50.0),
    "ListTrainingJobs": Rate(1.0, 1, 1.0),
    "FilterLogEvents": Rate(5.0, 5, 25.0),
    "GetLogEvents": Rate(5.0, 5, 10.0),
    "DescribeLogStreams": Rate(5.0, 5, 10.0),
}
"""Of ListTrainingJobs users report a quota of two a second for the whole account that cannot be raised; the others' were not found."""

_USUAL = Rate(5.0, 5, 25.0)
_LEAST_PER_S = 0.1
_FIRST_BACKOFF_S = 0.5
_LONGEST_BACKOFF_S = 30.0


def machine_pace(operation: str, region: str, environ: Mapping[str, str], interval_s: float | None = None) -> SharedPace:
    """Return the pace of an operation that all processes of this user on this machine keep together: the most that one alone may reach.

    Args:
        operation: its name.
        region: that is asked.
        environ: of the controller.
        interval_s: seconds from one call to the next; None for those of the most that `RATES` allows.
    """
    key = key_of(operation, region, endpoint_of("sagemaker", environ))
    return SharedPace(leases_folder(environ), key, interval_s or 1.0 / RATES.get(operation, _USUAL).most_per_s, random.Random())


class RateLimiter:
    """Paces calls; all times are seconds of one clock.

    Args:
        rng: of the jitter.
        rates: by operation.
        shared: returns the pace of an operation that other processes keep too, whose seconds are real ones; None where it has none.
    """

    def __init__(
        self, rng: random.Random, rates: Mapping[str, Rate] = RATES, shared: Callable[[str], SharedPace | None] = lambda _: None
    ) -> None:
        self._rng = rng
        self._rates = rates
        self._pace_of = cache(shared)
        self._buckets: dict[str, _Bucket] = {}

    def ready_at(self, operation: str, now: float) -> float:
        """Return the earliest time for the next call, `now` if that is at once."""
        ready_at = self._bucket(operation, now).ready_at(now)
        shared = self._pace_of(operation)
        return ready_at if shared is None else max(ready_at, now + shared.wait_s())

    def take(self, operation: str, now: float) -> bool:
        """Count a call that is made now, and return whether it may be: another process may have been first."""
        shared = self._pace_of(operation)
        if shared is not None and not shared.take():
            return False
        self._bucket(operation, now).take(now)
        return True

    def succeeded(self, operation: str, now: float) -> None:
        """Let the rate rise, by one call a second for each second's worth of calls that passed."""
        bucket = self._bucket(operation, now)
        bucket.strikes = 0
        bucket.per_s = min(bucket.rate.most_per_s, bucket.per_s + 1.0 / max(1.0, bucket.per_s))

    def throttled(self, operation: str, now: float) -> None:
        """Halve the rate, and make no call of this operation for a while: exponentially longer, with full jitter."""
        bucket = self._bucket(operation, now)
        # Several calls that were on their way together are one sign, not several.
        if now >= bucket.blocked_until:
            bucket.per_s = max(_LEAST_PER_S, bucket.per_s / 2)
            bucket.strikes += 1
            longest_s = min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2.0**bucket.strikes)
            bucket.blocked_until = now + longest_s * (0.5 + 0.5 * self._rng.random())
            bucket.tokens = min(bucket.tokens, 1.0)

    def _bucket(self, operation: str, now: float) -> _Bucket:
        if operation not in self._buckets:
            self._buckets[operation] = _Bucket(self._rates.get(operation, _USUAL), now)
        return self._buckets[operation]


class _Bucket:
    """One operation's tokens."""

    def __init__(self, rate: Rate, now: float) -> None:
        self.rate = rate
        self.per_s = rate.per_s
        self.tokens = float(rate.burst)
        self.filled_at = now
        self.blocked_until = now
        self.strikes = 0

    def ready_at(self, now: float) -> float:
        self._fill(now)
        wait_s = 0.0 if self.tokens >= 1.0 else (1.0 - self.tokens) / self.per_s
        return max(now + wait_s, self.blocked_until)

    def take(self, now: float) -> None:
        self._fill(now)
        self.tokens -= 1.0

    def _fill(self, now: float) -> None:
        # A hair more than whole, or a wait that ends exactly when it should would find no token.
        self.tokens = min(float(self.rate.burst), self.tokens + (now - self.filled_at) * self.per_s + 1e-9)
        self.filled_at = max(self.filled_at, now)
