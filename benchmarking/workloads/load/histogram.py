"""A histogram of durations with buckets of equal relative width, as HdrHistogram's: those of several processes are merged exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SUB_BITS = 11
"""2,048 buckets for each doubling: a value is told to within 0.1 %."""


class LatencyHistogram:
    """Counts durations in whole microseconds; the smallest, the largest and the sum are exact.

    Merging adds counts, so that the order in which parts come, and how many there are, changes nothing.
    """

    __slots__ = ("counts", "max_us", "min_us", "n", "sum_us")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.n = 0
        self.sum_us = 0
        self.min_us = 0
        self.max_us = 0

    def add(self, seconds: float) -> None:
        """Count one duration; one below 0 counts as 0."""
        value = int(seconds * 1e6 + 0.5) if seconds > 0 else 0
        key = bucket_of(value)
        self.counts[key] = self.counts.get(key, 0) + 1
        if not self.n or value < self.min_us:
            self.min_us = value
        if value > self.max_us:
            self.max_us = value
        self.n += 1
        self.sum_us += value

    def merge(self, other: LatencyHistogram) -> None:
        """Add all that another one counted."""
        for key, count in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + count
        if other.n:
            self.min_us = min(self.min_us, other.min_us) if self.n else other.min_us
        self.max_us = max(self.max_us, other.max_us)
        self.n += other.n
        self.sum_us += other.sum_us

    def quantile_s(self, share: float, failures: int = 0, failure_s: float = 0.0) -> float | None:
        """Return the smallest duration that at least this share of all is no longer than; None where nothing was counted.

        Args:
            share: in [0, 1].
            failures: requests besides, which have no duration of their own; they stand at the upper end.
            failure_s: what each of them counts as, at least.
        """
        total = self.n + failures
        if not total:
            return None
        rank = max(1, -int(-share * total // 1))  # the ceiling
        if rank > self.n:
            return max(failure_s, self.max_us / 1e6)
        if rank == self.n:
            return self.max_us / 1e6
        left = rank
        for key in sorted(self.counts):
            left -= self.counts[key]
            if left <= 0:
                return max(min(upper_end(key), self.max_us), self.min_us) / 1e6
        raise AssertionError("counts do not add up")

    @property
    def mean_s(self) -> float | None:
        """The mean; None where nothing was counted."""
        return self.sum_us / self.n / 1e6 if self.n else None

    def over(self, seconds: float) -> int:
        """Return how many were longer, to within the width of a bucket."""
        limit = bucket_of(int(seconds * 1e6 + 0.5))
        return sum(count for key, count in self.counts.items() if key > limit)

    def as_dict(self) -> dict[str, Any]:
        """Return what it holds as JSON types: `buckets` are pairs of upper end in microseconds and count, in order."""
        buckets = [[upper_end(key), self.counts[key]] for key in sorted(self.counts)]
        return {"n": self.n, "sum_us": self.sum_us, "min_us": self.min_us, "max_us": self.max_us, "buckets": buckets}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> LatencyHistogram:
        """Return the histogram that `as_dict` gave."""
        made = cls()
        made.n, made.sum_us, made.min_us, made.max_us = (int(held[name]) for name in ("n", "sum_us", "min_us", "max_us"))
        made.counts = {bucket_of(int(end)): int(count) for end, count in held["buckets"]}
        return made


def bucket_of(value_us: int) -> int:
    """Return the number of the bucket that holds a value of whole microseconds; greater values are in no lower bucket."""
    shift = max(0, value_us.bit_length() - _SUB_BITS)
    return (shift << _SUB_BITS) + (value_us >> shift)


def upper_end(bucket: int) -> int:
    """Return the largest value, in microseconds, that a bucket holds."""
    shift, kept = bucket >> _SUB_BITS, bucket & ((1 << _SUB_BITS) - 1)
    return ((kept + 1) << shift) - 1
