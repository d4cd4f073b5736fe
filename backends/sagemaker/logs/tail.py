"""One job's log as it grows, read from CloudWatch from any machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import FailureKind, failure_of
from backends.sagemaker.logs.parser import GROUP

_LATE_MS = 60_000
"""Milliseconds before the newest line in which lines that come late are looked for."""


class JobLogTail:
    """The lines of one job's log, each once.

    Args:
        clients: of AWS.
        job: its name.
    """

    def __init__(self, clients: Clients, job: str) -> None:
        self._clients, self._job = clients, job
        self._newest_ms = 0
        self._seen: dict[str, int] = {}

    def new_lines(self) -> Iterator[str]:
        """Yield the lines that came since it was asked before; none where there is no log yet."""
        since_ms = max(0, self._newest_ms - _LATE_MS)
        self._seen = {name: at for name, at in self._seen.items() if at >= since_ms}
        request: dict[str, Any] = {"logGroupName": GROUP, "logStreamNamePrefix": f"{self._job}/", "startTime": since_ms}
        while True:
            try:
                page = self._clients.get("logs").filter_log_events(**request)
            except Exception as error:
                failure = failure_of(error)
                if failure is None or failure.kind is not FailureKind.MISSING:
                    raise
                return
            for event in page.get("events", []):
                at = int(event["timestamp"])
                if event["eventId"] not in self._seen:
                    self._seen[event["eventId"]] = at
                    self._newest_ms = max(self._newest_ms, at)
                    yield str(event["message"])
            if not page.get("nextToken"):
                return
            request["nextToken"] = page["nextToken"]
