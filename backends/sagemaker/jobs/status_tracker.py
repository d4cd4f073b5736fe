"""Follows training jobs while they run: their stages from listings, their reports from logs. Used by the back-end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backends.events import Noted, Reported, Restarted
from backends.sagemaker.jobs import outcome
from backends.sagemaker.jobs.job import CloudJob, Phase, seconds
from backends.sagemaker.jobs.job_table import Fleet
from backends.sagemaker.jobs.submission import Creator
from backends.sagemaker.jobs.termination import Ender
from backends.sagemaker.pools.keeper import PoolKeeper
from backends.sagemaker.pools.pools import MatchKey

_WAITING = ("", "Starting", "Pending")


@dataclass(frozen=True)
class Pace:
    """How often the service is asked, in seconds.

    Args:
        least_s, most_s: between two sweeps; in between, a twentieth of the age of the youngest job.
        settle_s: how long the last lines of a log are awaited whose end is not marked.
        full_s: between two listings of all jobs, changed or not.
    """

    least_s: float = 3.0
    most_s: float = 15.0
    settle_s: float = 60.0
    full_s: float = 300.0

    def every_s(self, youngest_s: float) -> float:
        """Return the seconds between two sweeps while the youngest job is so old."""
        return min(self.most_s, max(self.least_s, 0.05 * youngest_s))


class Follower:
    """Takes in what listings and logs say.

    Args:
        fleet: the jobs.
        creator: told of jobs that a listing knows before their creation was answered.
        ender: told of jobs that are over.
        keeper: of warm pools.
    """

    def __init__(self, fleet: Fleet, creator: Creator, ender: Ender, keeper: PoolKeeper) -> None:
        self._fleet, self._creator, self._ender, self._keeper = fleet, creator, ender, keeper

    def summary(self, summary: Mapping[str, Any]) -> None:
        """Take in what a listing says of a job."""
        name = str(summary["TrainingJobName"])
        self._keeper.seen(name, summary.get("WarmPoolStatus") or {})
        if name in self._fleet.given_up and summary.get("TrainingJobStatus") == "InProgress":
            self._fleet.given_up.discard(name)
            self._ender.stop_stray(name)
        cloud = self._fleet.jobs.get(name)
        if cloud is None or cloud.phase in (Phase.OVER, Phase.CLOSED):
            return
        create = cloud.create
        if create is not None and create.sent_at:
            # The service may know of it before its answer came.
            self._creator.created(cloud)
            created_at = seconds(summary.get("CreationTime"))
            if created_at is not None and create.answered_at and not create.doubtful:
                self._fleet.skew.learn(created_at, create.sent_at, create.answered_at)
        self.moved(cloud, str(summary.get("SecondaryStatus", "")), str(summary.get("TrainingJobStatus", "")))

    def moved(self, cloud: CloudJob, stage: str, status: str) -> None:
        """Take in a job's stage and status."""
        if stage and stage != cloud.stage:
            before, cloud.stage = cloud.stage, stage
            if stage not in outcome.FINAL:
                self._fleet.events.append(Noted(cloud.spec.name, self._fleet.now(), stage))
            if before in _WAITING and stage not in _WAITING and status not in outcome.FINAL:
                self._keeper.job_began(cloud.spec.name, MatchKey(cloud.instance_type, cloud.spec.instance_count))
            if cloud.runs_script:
                self._fleet.start(cloud)
        if status in outcome.FINAL and cloud.phase is Phase.LIVE:
            self._ender.over(cloud)

    def line(self, job: str, event: Mapping[str, Any]) -> None:
        """Take in one event of a job's log."""
        cloud = self._fleet.jobs.get(job)
        if cloud is None:
            return
        for report in cloud.log.feed(event):
            self._fleet.start(cloud)
            now = self._fleet.now()
            if report.incarnation > cloud.incarnation and not cloud.ended:
                cloud.incarnation = report.incarnation
                self._fleet.events.append(Restarted(job, now, report.incarnation))
            since_first_s = (int(event.get("timestamp", 0)) - (cloud.log.first_ms or 0)) / 1000
            elapsed_s = report.elapsed_s if report.elapsed_s is not None else max(0.0, since_first_s)
            self._fleet.events.append(Reported(job, now, report.sequence, report.metrics, elapsed_s, report.incarnation))
