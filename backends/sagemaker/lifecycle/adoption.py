"""Takes over the training jobs of an earlier controller: each is looked up by its name."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from backends.adopted import AdoptedJob
from backends.failures import Cause, Outcome
from backends.sagemaker.jobs import outcome
from backends.sagemaker.jobs.job import CloudJob, JobPhase, seconds
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.lifecycle.status_tracker import StatusTracker
from backends.sagemaker.lifecycle.submission import JobSubmitter
from backends.sagemaker.lifecycle.termination import JobTerminator
from backends.sagemaker.logs.parser import JobLog


class JobAdopter:
    """Goes on with jobs that exist, and creates those that never came to be.

    Args:
        table: the jobs.
        submitter: creates jobs.
        terminator: ends them.
        tracker: takes in what they are at.
    """

    def __init__(self, table: JobTable, submitter: JobSubmitter, terminator: JobTerminator, tracker: StatusTracker) -> None:
        self._table, self._submitter, self._terminator, self._tracker = table, submitter, terminator, tracker

    def adopt(self, adopted: AdoptedJob) -> None:
        """Look a job up; what is found arrives as events."""
        spec = adopted.spec
        cloud = CloudJob(spec, JobLog(adopted.received, spec.metrics), spec.instance_type, submitted_at=adopted.submitted_at)
        cloud.accepted_at = adopted.accepted_at
        cloud.accepted, cloud.started, cloud.ended = adopted.accepted_at is not None, adopted.started, adopted.ended
        cloud.incarnation, cloud.is_looked_up = adopted.incarnation, True
        if adopted.stop_requested_at is not None:
            cloud.stop_reason = adopted.stop_reason or Cause.INTERRUPTED
        self._table.jobs[spec.name] = cloud
        self._table.describe(spec.name, functools.partial(self._found, cloud), functools.partial(self._not_found, cloud))

    def _found(self, cloud: CloudJob, answer: Mapping[str, object]) -> None:
        """Go on with an earlier controller's job."""
        cloud.is_looked_up = False
        cloud.phase, cloud.instance_type = JobPhase.LIVE, outcome.instance_type(answer) or cloud.instance_type
        cloud.exists_since = self._table.now()
        created_at = seconds(answer.get("CreationTime"))
        if created_at is not None and cloud.accepted_at is not None:
            self._table.skew.learn(created_at, cloud.submitted_at, cloud.accepted_at)
        self._table.accept(cloud)
        status = str(answer.get("TrainingJobStatus", ""))
        if status in outcome.FINAL:
            cloud.stage = status
            self._terminator.described(cloud, answer)
            return
        if cloud.stop_reason is not None:
            self._terminator.stop(cloud)
        self._tracker.stage_seen(cloud, str(answer.get("SecondaryStatus", "")), status)

    def _not_found(self, cloud: CloudJob) -> None:
        """An earlier controller's job does not exist: it is gone, or its creation never came about."""
        cloud.is_looked_up = False
        if cloud.accepted:
            self._terminator.vanished(cloud)
        elif cloud.stop_reason is not None:
            self._table.close_as(cloud, Outcome.STOPPED, cloud.stop_reason, "stopped before it was created")
        else:
            self._submitter.create(cloud)
