"""Follows training jobs while they run: their stages from listings, their reports from logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from backends.events import Noted, Progressed, Reported, Restarted
from backends.reports import Report
from backends.sagemaker.jobs import outcome
from backends.sagemaker.jobs.job import WAITING_STAGES, CloudJob, JobPhase, seconds
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.lifecycle.submission import JobSubmitter
from backends.sagemaker.lifecycle.termination import JobTerminator
from backends.sagemaker.pools.keeper import PoolKeeper
from backends.sagemaker.pools.pools import MatchKey


class StatusTracker:
    """Takes in what listings and logs say.

    Args:
        table: the jobs.
        submitter: told of jobs that a listing knows before their creation was answered.
        terminator: told of jobs that are over.
        keeper: of warm pools.
    """

    def __init__(self, table: JobTable, submitter: JobSubmitter, terminator: JobTerminator, keeper: PoolKeeper) -> None:
        self._table, self._submitter, self._terminator, self._keeper = table, submitter, terminator, keeper

    def summary_seen(self, summary: Mapping[str, Any]) -> None:
        """Take in what a listing says of a job."""
        name = str(summary["TrainingJobName"])
        self._keeper.status_seen(name, summary.get("WarmPoolStatus") or {})
        if name in self._table.rejected_names and summary.get("TrainingJobStatus") == "InProgress":
            self._table.rejected_names.discard(name)
            self._terminator.stop_stray(name)
        cloud = self._table.jobs.get(name)
        if cloud is None or cloud.phase in (JobPhase.OVER, JobPhase.CLOSED):
            return
        create = cloud.create
        if create is not None and create.sent_at:
            # The service may know of it before its answer came.
            self._submitter.created(cloud)
            created_at = seconds(summary.get("CreationTime"))
            if created_at is not None and create.answered_at and not create.was_unanswered:
                self._table.skew.learn(created_at, create.sent_at, create.answered_at)
        self.stage_seen(cloud, str(summary.get("SecondaryStatus", "")), str(summary.get("TrainingJobStatus", "")))

    def stage_seen(self, cloud: CloudJob, stage: str, status: str) -> None:
        """Take in a job's stage and status."""
        if stage and stage != cloud.stage:
            before, cloud.stage = cloud.stage, stage
            if stage not in outcome.FINAL:
                self._table.events.append(Noted(cloud.spec.name, self._table.now(), stage))
            if before in WAITING_STAGES and stage not in WAITING_STAGES and status not in outcome.FINAL:
                self._keeper.job_began(cloud.spec.name, MatchKey(cloud.instance_type, cloud.spec.instance_count))
                self._table.has_started_after(self._table.now() - cloud.exists_since)
            if cloud.runs_script:
                self._table.start(cloud)
        if status in outcome.FINAL and cloud.phase is JobPhase.LIVE:
            self._terminator.ended(cloud)

    def log_event_seen(self, job: str, event: Mapping[str, Any]) -> None:
        """Take in one event of a job's log."""
        cloud = self._table.jobs.get(job)
        if cloud is None:
            return
        self._report(cloud, cloud.log.feed(event, self._table.now()))

    def logs_seen(self, looked_at: float) -> None:
        """Take in that all new lines of the logs were seen that there were at a time."""
        for cloud in self._table.live():
            self._report(cloud, cloud.log.due(looked_at))

    def _report(self, cloud: CloudJob, reports: Iterable[Report]) -> None:
        for report in reports:
            self._table.start(cloud)
            now, job = self._table.now(), cloud.spec.name
            if report.incarnation > cloud.incarnation and not cloud.ended:
                cloud.incarnation = report.incarnation
                self._table.events.append(Restarted(job, now, report.incarnation))
            self._table.events.append(Reported(job, now, report.sequence, report.metrics, report.elapsed_s or 0.0, report.incarnation))
        for progress in cloud.log.take_progress():
            self._table.start(cloud)
            self._table.events.append(Progressed.of(cloud.spec.name, self._table.now(), progress))
