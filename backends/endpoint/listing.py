"""One sweep of ListEndpoints shows all endpoints of an experiment."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backends.sagemaker.aws.call_queue import Call, CallQueue
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, CloudError

SWEEP_ENDPOINTS = "ListEndpoints"
_PAGE = 100


@dataclass(frozen=True)
class SeenEndpoint:
    """An endpoint as a listing shows it; `created_at` in seconds since the epoch by the service's clock."""

    status: str
    created_at: float


class EndpointPoller:
    """Lists the endpoints whose names begin with a prefix, all of them each time: an experiment has few.

    Args:
        prefix: of their names.
        clients: of AWS.
        calls: makes the calls.
        take: takes what was listed by name, and when the listing was begun.
    """

    def __init__(self, prefix: str, clients: Clients, calls: CallQueue, take: Callable[[Mapping[str, SeenEndpoint], float], None]) -> None:
        self._prefix, self._clients, self._calls, self._take = prefix, clients, calls, take
        self._begun_at = -math.inf
        self._is_busy = False
        self.polls = 0

    def next_at(self, every_s: float) -> float:
        """Return when the next listing is due; infinity while one is on its way."""
        return math.inf if self._is_busy else self._begun_at + every_s

    def plan(self, now: float, every_s: float) -> None:
        """Begin to list where that is due."""
        if now < self.next_at(every_s):
            return
        self._begun_at, self._is_busy = now, True
        self.polls += 1
        self._ask({"MaxResults": _PAGE, **({"NameContains": self._prefix} if self._prefix else {})}, {})

    def once(self, take: Callable[[Mapping[str, SeenEndpoint], float], None]) -> None:
        """List now, for one who takes it in place of the usual one."""
        usual = self._take

        def taken(found: Mapping[str, SeenEndpoint], begun_at: float) -> None:
            self._take = usual
            take(found, begun_at)

        self._take = taken
        self._begun_at = -math.inf
        self.plan(0.0, 0.0)

    def _ask(self, request: dict[str, Any], found: dict[str, SeenEndpoint]) -> None:
        def done(page: Mapping[str, Any]) -> None:
            for one in page["Endpoints"]:
                if str(one["EndpointName"]).startswith(self._prefix):
                    found[str(one["EndpointName"])] = SeenEndpoint(str(one["EndpointStatus"]), one["CreationTime"].timestamp())
            if page.get("NextToken"):
                self._ask({**request, "NextToken": page["NextToken"]}, found)
                return
            self._is_busy = False
            self._take(found, self._begun_at)

        def failed(failure: CallFailure) -> None:
            self._is_busy = False
            raise CloudError("the endpoints cannot be listed", failure)

        self._calls.put(Call(SWEEP_ENDPOINTS, lambda: self._clients.get("sagemaker", attempts=1).list_endpoints(**request), done, failed))
