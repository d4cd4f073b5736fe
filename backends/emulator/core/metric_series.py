"""Values of jobs' metrics as they came, until whoever shows them takes them."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

NAMESPACE = "/aws/sagemaker/TrainingJobs"
DIMENSION = "TrainingJobName"
_MOST = 200_000


@dataclass(frozen=True)
class MetricPoint:
    """One value of a job's metric; `at` is in seconds since the epoch."""

    job: str
    name: str
    value: float
    at: float


class MetricSeries:
    """Values that nobody has taken yet, the latest 200,000 of them; safe to use from several threads."""

    def __init__(self) -> None:
        self._points: deque[MetricPoint] = deque(maxlen=_MOST)
        self._lock = threading.Lock()

    def add(self, point: MetricPoint) -> None:
        """Take in a value."""
        with self._lock:
            self._points.append(point)

    def take(self) -> list[MetricPoint]:
        """Return the values since the last call, in the order in which they came."""
        with self._lock:
            found = list(self._points)
            self._points.clear()
        return found
