"""Which lines of CloudWatch Logs are asked for, and which of the answers are new. No I/O.

All jobs of an experiment are asked for with one `FilterLogEvents`, as their stream names begin alike. CloudWatch shows lines late and out
of order, so windows overlap, and events that were seen are known by their ids. The stream of a job that has ended is read once more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from backends.sagemaker.logs.parser import GROUP

_LEAST_OVERLAP_S = 10.0
_MOST_OVERLAP_S = 120.0
_FIRST_OVERLAP_S = 30.0
_FORGET_LAG = 0.9


class LogWindow:
    """From when on the next poll reads: far enough back for lines that CloudWatch shows late, by how late they have been."""

    def __init__(self) -> None:
        self._newest_ms = 0
        self._lag_s = (_FIRST_OVERLAP_S - 5.0) / 2
        self._seen: dict[str, int] = {}

    def start_ms(self) -> int:
        """Return the time from which on events are asked for, in milliseconds of the service's clock; 0 for all."""
        overlap_s = min(_MOST_OVERLAP_S, max(_LEAST_OVERLAP_S, 5.0 + 2.0 * self._lag_s))
        return max(0, self._newest_ms - int(overlap_s * 1000))

    def fresh(self, events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the events of one page that were not seen before, oldest first."""
        found = []
        for event in events:
            identity = str(event.get("eventId", ""))
            if identity and identity in self._seen:
                continue
            at_ms = int(event.get("timestamp", 0))
            if identity:
                self._seen[identity] = at_ms
            self._newest_ms = max(self._newest_ms, at_ms)
            found.append(event)
        found.sort(key=lambda event: int(event.get("timestamp", 0)))
        return found

    def finish_poll(self, lags_s: Collection[float]) -> None:
        """Take note of how late the events of a whole poll were, and forget ids that will not come again."""
        self._lag_s = max([self._lag_s * _FORGET_LAG, *lags_s])
        start_ms = self.start_ms()
        self._seen = {identity: at_ms for identity, at_ms in self._seen.items() if at_ms >= start_ms}


def poll_request(prefix: str, start_ms: int, token: str, pattern: str | None) -> dict[str, Any]:
    """Return the request for the new lines of all jobs whose names begin with a prefix."""
    return _request({"logStreamNamePrefix": prefix} if prefix else {}, start_ms, token, pattern)


def job_request(job: str, token: str, pattern: str | None, *, all_hosts: bool = False) -> dict[str, Any]:
    """Return the request for all lines of one job, of its first host or of all; of no other job, as no name holds a slash."""
    return _request({"logStreamNamePrefix": f"{job}/algo-" if all_hosts else f"{job}/algo-1"}, 0, token, pattern)


def _request(streams: dict[str, Any], start_ms: int, token: str, pattern: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"logGroupName": GROUP, **streams}
    if pattern:
        found["filterPattern"] = pattern
    if start_ms:
        found["startTime"] = start_ms
    if token:
        found["nextToken"] = token
    return found
