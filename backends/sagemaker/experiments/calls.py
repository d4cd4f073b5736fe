"""Calls of SageMaker Experiments one after the other, paced by the limiter that all calls of AWS have."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import TRANSIENT, CallFailure, FailureKind, failure_of
from backends.sagemaker.aws.rate_limiter import RateLimiter
from backends.tracked import TrackerError


class RefusedCallError(TrackerError):
    """A call that did not do what it was asked, with what it means."""

    def __init__(self, failure: CallFailure) -> None:
        super().__init__(failure.line, will_pass=failure.kind in TRANSIENT or failure.kind is FailureKind.CREDENTIALS)
        self.failure = failure

    @property
    def is_taken(self) -> bool:
        """Whether the name exists."""
        return "already exists" in self.failure.message

    @property
    def is_missing(self) -> bool:
        """Whether what was named does not exist."""
        return self.failure.kind is FailureKind.MISSING

    @property
    def is_full(self) -> bool:
        """Whether a limit is reached."""
        return self.failure.kind is FailureKind.QUOTA


class PacedCalls:
    """Makes calls; one that fails is not repeated here, as whoever tells a tracker has a limit of its own.

    Args:
        clients: of AWS.
        limiter: paces calls by operation.
        now: monotonic seconds; `sleep`: waits for seconds.
    """

    def __init__(
        self,
        clients: Clients,
        limiter: RateLimiter,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clients, self._limiter, self._now, self._sleep = clients, limiter, now, sleep

    def sagemaker(self, operation: str, **request: Any) -> Mapping[str, Any]:
        """Make a call, e.g. `CreateTrial`; raises `RefusedCallError`."""
        return self._made("sagemaker", operation, request)

    def metrics(self, operation: str, **request: Any) -> Mapping[str, Any]:
        """Make a call of the metrics service; raises `RefusedCallError`."""
        return self._made("sagemaker-metrics", operation, request)

    def search(self, resource: str, filters: list[dict[str, str]], key: str) -> Iterator[Mapping[str, Any]]:
        """Yield all that Search finds of a resource, each as the member `key` of a result; raises `RefusedCallError`."""
        token: dict[str, str] = {}
        while True:
            page = self.sagemaker(
                "Search",
                Resource=resource,
                SearchExpression={"Filters": filters},
                SortBy="CreationTime",
                SortOrder="Ascending",
                MaxResults=100,
                **token,
            )
            for one in page["Results"]:
                yield one[key]
            if not page.get("NextToken"):
                return
            token = {"NextToken": page["NextToken"]}

    def _made(self, service: str, operation: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        while True:
            wait_s = self._limiter.ready_at(operation, self._now()) - self._now()
            if wait_s > 0:
                self._sleep(wait_s)
            if self._limiter.take(operation, self._now()):
                break  # else another process was first
        try:
            answer: Mapping[str, Any] = getattr(self._clients.get(service, attempts=1), _method(operation))(**request)
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            if failure.kind is FailureKind.THROTTLED:
                self._limiter.throttled(operation, self._now())
            elif failure.kind is FailureKind.CREDENTIALS:
                self._clients.renew()
            raise RefusedCallError(failure) from error
        self._limiter.succeeded(operation, self._now())
        return answer


def _method(operation: str) -> str:
    """Return boto3's name of an operation."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
