"""Creates training jobs: code first, at the API's pace, and what a failure means. Used by the back-end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from backends.events import Scope
from backends.failures import Cause, Outcome
from backends.sagemaker.aws.call_queue import Call
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind
from backends.sagemaker.jobs.checkpoints import S3Checkpoints
from backends.sagemaker.jobs.job import CloudJob, Phase
from backends.sagemaker.jobs.job_table import Fleet
from backends.sagemaker.jobs.staging import Staging
from backends.sagemaker.jobs.termination import Ender
from backends.sagemaker.pools.capacity import Ceilings
from definitions.errors import UserError

_CAPACITY_WAIT_S = 30.0


class Creator:
    """Brings jobs into being.

    Args:
        fleet: the jobs.
        ender: stops those that were to be stopped meanwhile.
        staging: uploads and requests.
        checkpoints: of all trials.
    """

    def __init__(self, fleet: Fleet, ender: Ender, staging: Staging, checkpoints: S3Checkpoints) -> None:
        self._fleet, self._ender, self._staging, self._checkpoints = fleet, ender, staging, checkpoints
        self._ceilings = Ceilings()
        self._unstaged: list[CloudJob] | None = None

    def submit(self, cloud: CloudJob, room: int) -> None:
        """Create a job, or reject it at once where the service would: `room` is how many the quota allows."""
        fleet, name = self._fleet, cloud.instance_type
        if room == 0:
            fleet.reject(cloud, Cause.BAD_REQUEST, f"the quota for {cloud.spec.instance_type} allows no job", Scope.INSTANCE_TYPE)
            return
        closed = self._ceilings.closed_until(name, fleet.in_flight(name), fleet.now())
        if closed is not None:
            fleet.reject(cloud, Cause.QUOTA, closed[1], Scope.INSTANCE_TYPE, closed[0])
            return
        self._ceilings.trying(name, fleet.in_flight(name), fleet.now())
        fleet.jobs[cloud.spec.name] = cloud
        self.create(cloud)

    def create(self, cloud: CloudJob) -> None:
        """Create a job as soon as the code is uploaded and the API's pace allows."""
        calls = self._fleet.calls
        if self._fleet.options.has_script and self._staging.code_uri is None:
            if self._unstaged is None:
                self._unstaged = []
                calls.put(Call("stage", self._staging.stage, lambda _: self._staged(), _cannot_upload))
            self._unstaged.append(cloud)
            return
        try:
            make = self._staging.creation(cloud.spec, cloud.instance_type, self._checkpoints)
        except UserError as error:
            self._fleet.reject(cloud, Cause.BAD_REQUEST, str(error))
            return
        cloud.create = Call(
            "CreateTrainingJob",
            make,
            lambda _: self.created(cloud),
            lambda failure: self._refused(cloud, failure),
            lambda: cloud.phase is Phase.NEW,
        )
        calls.put(cloud.create)

    def created(self, cloud: CloudJob) -> None:
        """Take in that a job exists."""
        if cloud.phase is not Phase.NEW:
            return
        cloud.phase, cloud.live_at = Phase.LIVE, self._fleet.now()
        self._fleet.accept(cloud)
        self._ceilings.accepted(cloud.instance_type, self._fleet.in_flight(cloud.instance_type))
        if cloud.stop_reason is not None:
            self._ender.stop(cloud)

    def _staged(self) -> None:
        waiting, self._unstaged = self._unstaged or [], None
        for cloud in waiting:
            if cloud.phase is Phase.NEW:
                self.create(cloud)

    def _refused(self, cloud: CloudJob, failure: CallFailure) -> None:
        fleet, name = self._fleet, cloud.instance_type
        if cloud.phase is not Phase.NEW:
            return
        if failure.kind is FailureKind.EXISTS:
            # Its name is this experiment's own: an earlier call that was not answered did create it.
            self.created(cloud)
        elif cloud.create is not None and cloud.create.doubtful:
            # The failure is the last try's alone: an earlier one may have created the job, and even be what fills the quota.
            cloud.create.doubtful, cloud.sought = False, True

            def known(found: Mapping[str, Any]) -> None:
                cloud.sought = False
                self.created(cloud)

            def unknown() -> None:
                cloud.sought = False
                self._refused(cloud, failure)

            fleet.describe(cloud.spec.name, known, unknown)
        elif cloud.stop_reason is not None:
            fleet.close_as(cloud, Outcome.STOPPED, cloud.stop_reason, "stopped before it was created")
        elif failure.kind is FailureKind.QUOTA and failure.quota_limit == 0 and name != cloud.spec.instance_type:
            self._ender.capacity.exclude(name)
            fleet.reject(cloud, Cause.CAPACITY, failure.line, Scope.JOB, fleet.now() + _CAPACITY_WAIT_S)
        elif failure.kind is FailureKind.QUOTA and failure.quota_limit != 0:
            until = self._ceilings.refused(name, fleet.in_flight(name) - 1, fleet.now(), failure.line)
            fleet.reject(cloud, Cause.QUOTA, failure.line, Scope.INSTANCE_TYPE, until)
        elif failure.kind is FailureKind.CAPACITY:
            self._ender.capacity.lacked(name, fleet.now())
            fleet.reject(cloud, Cause.CAPACITY, failure.line, Scope.JOB, fleet.now() + _CAPACITY_WAIT_S)
        else:
            fleet.reject(cloud, Cause.QUOTA if failure.kind is FailureKind.QUOTA else Cause.BAD_REQUEST, failure.line)


def _cannot_upload(failure: CallFailure) -> NoReturn:
    raise CloudError("the code cannot be uploaded", failure)
