"""What CloudWatch shows of endpoints, summed up by the second until whoever shows it takes it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

ENDPOINT_NAMESPACE = "AWS/SageMaker"
_MOST = 100_000


@dataclass(frozen=True)
class MetricSum:
    """Values of one metric of one endpoint within a second.

    Args:
        unit: `Microseconds` or `None`, as CloudWatch calls them.
        at: the second, since the epoch.
    """

    endpoint: str
    variant: str
    name: str
    unit: str
    at: int
    count: int
    total: float
    least: float
    most: float


class EndpointMetrics:
    """Sums that nobody has taken yet; safe to use from several threads."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, str, str, int], list[float]] = {}
        self._lock = threading.Lock()

    def add(self, endpoint: str, variant: str, at: float, values: dict[str, tuple[float, str]]) -> None:
        """Take in one invocation: values with their units, by the name of the metric."""
        with self._lock:
            for name, (value, unit) in values.items():
                key = (endpoint, variant, name, unit, int(at))
                known = self._sums.get(key)
                if known is None:
                    if len(self._sums) >= _MOST:
                        del self._sums[next(iter(self._sums))]
                    self._sums[key] = [1, value, value, value]
                else:
                    known[0] += 1
                    known[1] += value
                    known[2], known[3] = min(known[2], value), max(known[3], value)

    def take(self) -> list[MetricSum]:
        """Return the sums since the last call."""
        with self._lock:
            found, self._sums = self._sums, {}
        return [MetricSum(*key, int(count), total, least, most) for key, (count, total, least, most) in found.items()]
