"""Endpoints that are kept for the next trial of the same deployment: how long, for whom, and what they are billed for while they wait."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from backends.deployment import Deployment
from backends.endpoint.deployed_job import DeployedJob
from backends.events import Event, Retained


@dataclass(frozen=True)
class KeptEndpoint:
    """An endpoint that waits.

    Args:
        endpoint: its name; `job`: the job that it served last.
        deployment: what it serves.
        since, until: from when to when it is kept, in seconds of the back-end's clock.
    """

    endpoint: str
    job: str
    deployment: Deployment
    since: float
    until: float


class EndpointKeeper:
    """The endpoints that are kept.

    Args:
        keep_s: how long each is at most.
        drop: has an endpoint deleted, by its name, and tells when it is gone: until then it is paid for.
        emit: takes events.
        now: seconds of the back-end's clock.
    """

    def __init__(
        self, keep_s: float, drop: Callable[[str, Callable[[], None]], None], emit: Callable[[Event], None], now: Callable[[], float]
    ) -> None:
        self._keep_s, self._drop, self._emit, self._now = keep_s, drop, emit, now
        self._kept: list[KeptEndpoint] = []
        self.is_over = False
        """Whether nothing is kept any more, as no further job will come."""

    def next_at(self) -> float:
        """Return when the first of them is given up; infinity where none waits."""
        return min((one.until for one in self._kept), default=math.inf)

    def keep(self, job: DeployedJob) -> None:
        """Keep a job's endpoint for whoever asks for the same."""
        now = self._now()
        self._kept.append(KeptEndpoint(job.endpoint, job.name, job.deployment, now, now + self._keep_s))
        self._emit(_retained(self._kept[-1], now, worst_s=self._keep_s))

    def take(self, job: DeployedJob) -> bool:
        """Give a job the endpoint of its deployment that has waited longest; return whether there was one."""
        found = next((one for one in self._kept if one.deployment.key == job.deployment.key), None)
        if found is None:
            return False
        self._kept.remove(found)
        self._emit(_retained(found, self._now(), reused_by=job.name))
        job.use(found.endpoint, self._now())
        return True

    def idle(self, instance_type: str, instance_count: int, key: str) -> int:
        """Return how many wait for a job on such instances, of a deployment where its key is given."""
        return sum(
            (one.deployment.instance_type, one.deployment.instance_count) == (instance_type, instance_count)
            and key in ("", one.deployment.key)
            for one in self._kept
        )

    def plan(self, now: float) -> None:
        """Give up those whose time is over."""
        for one in [one for one in self._kept if one.until <= now]:
            self._give_up(one)

    def free_one(self) -> bool:
        """Give up the one that has waited longest, as it takes what a job was refused for; return whether there was one."""
        if not self._kept:
            return False
        self._give_up(self._kept[0])
        return True

    def release(self) -> None:
        """Give up all, and keep none from now on."""
        self.is_over = True
        for one in [*self._kept]:
            self._give_up(one)

    def _give_up(self, one: KeptEndpoint) -> None:
        self._kept.remove(one)
        self._drop(one.endpoint, lambda: self._emit(_retained(one, self._now())))


def _retained(one: KeptEndpoint, now: float, worst_s: float | None = None, reused_by: str = "") -> Retained:
    billable_s = now - one.since if worst_s is None else None
    served = one.deployment
    kept = one.endpoint if one.endpoint != one.job else ""
    return Retained(one.job, now, served.instance_type, served.instance_count, worst_s or 0.0, billable_s, reused_by, kept)
