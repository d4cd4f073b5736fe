"""Creates training jobs: code first, at the API's pace, and what a failure means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from backends.events import Scope
from backends.failures import Cause, Outcome
from backends.sagemaker.aws.call_queue import Call
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind
from backends.sagemaker.experiments.job_config import JobConfigs
from backends.sagemaker.jobs.checkpoints import S3Checkpoints
from backends.sagemaker.jobs.job import CloudJob, JobPhase
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.lifecycle.staging import Staging
from backends.sagemaker.lifecycle.termination import JobTerminator
from backends.sagemaker.pools.capacity import ConcurrencyLimits
from definitions.errors import UserError

_CAPACITY_WAIT_S = 30.0


class JobSubmitter:
    """Brings jobs into being.

    Args:
        table: the jobs.
        terminator: stops those that were to be stopped meanwhile.
        staging: uploads and requests.
        checkpoints: of all trials.
        configs: say where jobs belong in SageMaker Experiments; None where they say nothing.
    """

    def __init__(
        self,
        table: JobTable,
        terminator: JobTerminator,
        staging: Staging,
        checkpoints: S3Checkpoints,
        configs: JobConfigs | None = None,
    ) -> None:
        self._table, self._terminator, self._staging, self._checkpoints = table, terminator, staging, checkpoints
        self._configs = configs
        self._limits = ConcurrencyLimits()
        self._unstaged: list[CloudJob] | None = None

    def submit(self, cloud: CloudJob, capacity: int) -> None:
        """Create a job, or reject it at once where the service would: `capacity` is how many the quota allows."""
        table, name = self._table, cloud.instance_type
        if capacity == 0:
            table.reject(cloud, Cause.BAD_REQUEST, f"the quota for {cloud.spec.instance_type} allows no job", Scope.INSTANCE_TYPE)
            return
        closed = self._limits.blocked_until(name, table.in_flight(name), table.now())
        if closed is not None:
            table.reject(cloud, Cause.QUOTA, closed[1], Scope.INSTANCE_TYPE, closed[0])
            return
        self._limits.record_attempt(name, table.in_flight(name), table.now())
        table.jobs[cloud.spec.name] = cloud
        self.create(cloud)

    def create(self, cloud: CloudJob) -> None:
        """Create a job as soon as the code is uploaded and the API's pace allows."""
        calls = self._table.calls
        if self._configs is not None:
            self._configs.ask(cloud.spec)
        if self._table.options.has_script and self._staging.code_uri is None:
            if self._unstaged is None:
                self._unstaged = []
                calls.put(Call("stage", self._staging.stage, lambda _: self._staged(), _cannot_upload))
            self._unstaged.append(cloud)
            return
        if self._configs is not None and self._configs.waits(cloud.spec, lambda: self._create_if_new(cloud)):
            return
        try:
            make = self._staging.creation(cloud.spec, cloud.instance_type, self._checkpoints, self._configs)
        except UserError as error:
            self._table.reject(cloud, Cause.BAD_REQUEST, str(error))
            return
        cloud.create = Call(
            "CreateTrainingJob",
            make,
            lambda _: self.created(cloud),
            lambda failure: self._refused(cloud, failure),
            lambda: cloud.phase is JobPhase.NEW,
        )
        calls.put(cloud.create)

    def created(self, cloud: CloudJob) -> None:
        """Take in that a job exists."""
        if cloud.phase is not JobPhase.NEW:
            return
        cloud.phase, cloud.exists_since = JobPhase.LIVE, self._table.now()
        self._table.accept(cloud)
        self._limits.record_acceptance(cloud.instance_type, self._table.in_flight(cloud.instance_type))
        if cloud.stop_reason is not None:
            self._terminator.stop(cloud)

    def _staged(self) -> None:
        waiting, self._unstaged = self._unstaged or [], None
        for cloud in waiting:
            self._create_if_new(cloud)

    def _create_if_new(self, cloud: CloudJob) -> None:
        if cloud.phase is JobPhase.NEW:
            self.create(cloud)

    def _refused(self, cloud: CloudJob, failure: CallFailure) -> None:
        table, name = self._table, cloud.instance_type
        if cloud.phase is not JobPhase.NEW:
            return
        if failure.kind is FailureKind.EXISTS:
            # Its name is this experiment's own: an earlier call that was not answered did create it.
            self.created(cloud)
        elif cloud.create is not None and cloud.create.was_unanswered:
            # The failure is the last try's alone: an earlier one may have created the job, and even be what fills the quota.
            cloud.create.was_unanswered, cloud.is_looked_up = False, True

            def known(found: Mapping[str, Any]) -> None:
                cloud.is_looked_up = False
                self.created(cloud)

            def unknown() -> None:
                cloud.is_looked_up = False
                self._refused(cloud, failure)

            table.describe(cloud.spec.name, known, unknown)
        elif cloud.stop_reason is not None:
            table.close_as(cloud, Outcome.STOPPED, cloud.stop_reason, cloud.stop_message or "stopped before it was created")
        elif failure.kind is FailureKind.MARKED:
            self._terminator.marked.refused(cloud)
        elif failure.kind is FailureKind.QUOTA and failure.quota_limit == 0 and name != cloud.spec.instance_type:
            self._terminator.capacity.exclude(name)
            table.reject(cloud, Cause.CAPACITY, failure.line, Scope.JOB, table.now() + _CAPACITY_WAIT_S)
        elif failure.kind is FailureKind.QUOTA and failure.quota_limit != 0:
            until = self._limits.record_refusal(name, table.in_flight(name) - 1, table.now(), failure.line)
            table.reject(cloud, Cause.QUOTA, failure.line, Scope.INSTANCE_TYPE, until)
        elif failure.kind is FailureKind.CAPACITY:
            self._terminator.capacity.record_shortage(name, table.now())
            table.reject(cloud, Cause.CAPACITY, failure.line, Scope.JOB, table.now() + _CAPACITY_WAIT_S)
        elif failure.kind is FailureKind.DENIED:
            # No trial's own fault, and the next one's creation would be denied as well.
            table.reject(cloud, Cause.BAD_REQUEST, failure.line)
            raise CloudError(f"training job {cloud.spec.name} cannot be created", failure)
        else:
            table.reject(cloud, Cause.QUOTA if failure.kind is FailureKind.QUOTA else Cause.BAD_REQUEST, failure.line)


def _cannot_upload(failure: CallFailure) -> NoReturn:
    raise CloudError("the code cannot be uploaded", failure)
