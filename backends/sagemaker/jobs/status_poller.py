"""One listing per poll tells the status of all jobs: what is asked for, page by page."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from backends.sagemaker.aws.call_queue import Call, CallQueue
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind

LISTING = "ListTrainingJobs"
"""The operation."""
_PAGE = 100
_OVERLAP_S = 30.0


class StatusPoller:
    """Lists the jobs of one experiment that changed since the last time; now and then all of them, should a change have been missed.

    Args:
        prefix: that their names begin with.
        clients: of AWS.
        calls: makes the calls.
        take: takes each summary.
        absent: takes the names in a listing of all jobs, and when it was begun: what is not among them is no more.
        full_every_s: seconds between two listings of all jobs.
        now: from when on the time to the first listing is counted: of what was created just now nothing is to be told yet.
    """

    def __init__(
        self,
        prefix: str,
        clients: Clients,
        calls: CallQueue,
        take: Callable[[Mapping[str, Any]], None],
        absent: Callable[[Collection[str], float], None] = lambda names, before: None,
        full_every_s: float = 300.0,
        now: float = -math.inf,
    ) -> None:
        self._prefix, self._clients, self._calls, self._take = prefix, clients, calls, take
        self._absent, self._full_every_s = absent, full_every_s
        self._newest: datetime.datetime | None = None
        self._full_at = -math.inf
        self.begun_at = now
        """When the last listing was begun."""
        self.next_at = -math.inf
        self.polls = 0

    def plan(self, now: float, every_s: float) -> None:
        """Begin to list if the last one began `every_s` seconds ago or more, and is over."""
        if math.isinf(self.next_at) and self.next_at > 0:
            return
        self.next_at = self.begun_at + every_s
        if now < self.next_at:
            return
        self.begun_at, self.next_at = now, math.inf
        self.polls += 1
        request: dict[str, Any] = {"MaxResults": _PAGE, "SortBy": "CreationTime", "SortOrder": "Descending"}
        if self._prefix:
            request["NameContains"] = self._prefix
        if now < self._full_at + self._full_every_s and self._newest is not None:
            request["LastModifiedTimeAfter"] = self._newest - datetime.timedelta(seconds=_OVERLAP_S)
            self._ask(request, None)
        else:
            self._full_at = now
            self._ask(request, set())

    def _ask(self, request: dict[str, Any], names: set[str] | None) -> None:
        """Ask for one page; `names` are those in a listing of all jobs so far."""

        def done(page: Mapping[str, Any]) -> None:
            for summary in page["TrainingJobSummaries"]:
                if not str(summary["TrainingJobName"]).startswith(self._prefix):
                    continue
                changed = summary.get("LastModifiedTime") or summary.get("CreationTime")
                # Of the first page alone: what changes while the others are fetched would be passed over.
                if "NextToken" not in request and changed is not None and (self._newest is None or changed > self._newest):
                    self._newest = changed
                if names is not None:
                    names.add(str(summary["TrainingJobName"]))
                self._take(summary)
            if page.get("NextToken"):
                self._ask({**request, "NextToken": page["NextToken"]}, names)
                return
            self.next_at = self.begun_at
            if names is not None:
                self._absent(names, self.begun_at)

        def failed(failure: CallFailure) -> None:
            if "NextToken" in request and failure.kind is FailureKind.OTHER:
                # A token is good for a while only, which a long pause may have outlasted.
                self._full_at, self.next_at = -math.inf, self.begun_at
                return
            self.next_at = self.begun_at
            raise CloudError("the training jobs cannot be listed", failure)

        self._calls.put(Call(LISTING, lambda: self._clients.get("sagemaker", attempts=1).list_training_jobs(**request), done, failed))
