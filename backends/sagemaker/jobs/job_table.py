"""What the parts of the back-end share: the jobs, the events that are due, the way to AWS. Jobs change and events arise here alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.events import Accepted, Closed, Ended, Event, Noted, Rejected, Scope, Started
from backends.failures import Cause, Outcome
from backends.sagemaker.aws.call_queue import Call, CallQueue
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind
from backends.sagemaker.jobs.job import ClockSkew, CloudJob, JobPhase
from backends.sagemaker.jobs.options import Options


@dataclass
class JobTable:
    """The jobs of one experiment.

    Args:
        options: of all jobs.
        clients: of AWS; `calls`: makes the calls.
        now: by this machine's clock; `skew`: between it and the service's.
        jobs: those that are not closed, by name.
        events: what the next `wait` returns.
        rejected_names: names of jobs that are believed never to have been created.
        shortest_start_s: from a job's creation to its instances, as seen so far; 0 where none was seen.
        shortest_end_s: from the last line of a script to the end of its job, likewise.
    """

    options: Options
    clients: Clients
    calls: CallQueue
    now: Callable[[], float]
    skew: ClockSkew = field(default_factory=ClockSkew)
    jobs: dict[str, CloudJob] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    rejected_names: set[str] = field(default_factory=set)
    shortest_start_s: float = 0.0
    shortest_end_s: float = 0.0

    def in_flight(self, instance_type: str) -> int:
        """Return how many jobs of a type hold instances, or are about to."""
        return sum(cloud.instance_type == instance_type and not cloud.ended for cloud in self.jobs.values())

    def live(self) -> list[CloudJob]:
        """Return the jobs that exist and are not over."""
        return [cloud for cloud in self.jobs.values() if cloud.phase is JobPhase.LIVE]

    def notify(self, text: str) -> None:
        """Say something that concerns no single job."""
        if text:
            self.events.append(Noted("", self.now(), text=text))

    def accept(self, cloud: CloudJob) -> None:
        """The service took the job; said once."""
        if not cloud.accepted:
            cloud.accepted = True
            self.events.append(Accepted(cloud.spec.name, self.now()))

    def start(self, cloud: CloudJob) -> None:
        """The script runs; said once."""
        self.accept(cloud)
        if not cloud.started:
            cloud.started = True
            self.events.append(Started(cloud.spec.name, self.now()))

    def has_started_after(self, start_s: float) -> None:
        """Take note of how long it took from a job's creation to its instances."""
        self.shortest_start_s = min(self.shortest_start_s or start_s, start_s)

    def has_ended_after(self, end_s: float) -> None:
        """Take note of how long it took from a script's end to that of its job."""
        self.shortest_end_s = min(self.shortest_end_s or end_s, end_s)

    def end(self, cloud: CloudJob) -> None:
        """The job's instances are free; said once."""
        if not cloud.ended:
            cloud.ended = True
            if cloud.accepted:
                self.events.append(Ended(cloud.spec.name, self.now()))

    def close(self, cloud: CloudJob, event: Closed) -> None:
        """Nothing more will come of the job."""
        if cloud.phase is JobPhase.CLOSED:
            return
        cloud.phase = JobPhase.CLOSED
        self.jobs.pop(cloud.spec.name, None)
        self.end(cloud)
        self.events.append(event)

    def close_as(self, cloud: CloudJob, result: Outcome, cause: Cause, message: str) -> None:
        """Close a job that never ran, or that nothing is known of."""
        self.close(cloud, Closed(cloud.spec.name, self.now(), result, cause, message))

    def reject(self, cloud: CloudJob, cause: Cause, message: str, scope: Scope = Scope.JOB, retry_at: float | None = None) -> None:
        """The job is not taken, now or for ever."""
        if cloud.accepted:
            self.close_as(cloud, Outcome.FAILED, cause, message)
            return
        cloud.phase = JobPhase.CLOSED
        self.jobs.pop(cloud.spec.name, None)
        self.rejected_names.add(cloud.spec.name)
        self.events.append(Rejected(cloud.spec.name, self.now(), cause, message, scope, retry_at))

    def describe(self, name: str, done: Callable[[Mapping[str, Any]], None], missing: Callable[[], None]) -> None:
        """Ask for the description of a job."""

        def failed(failure: CallFailure) -> None:
            if failure.kind is not FailureKind.MISSING:
                raise CloudError(f"training job {name} cannot be described", failure)
            missing()

        def make() -> Any:
            return self.clients.get("sagemaker", attempts=1).describe_training_job(TrainingJobName=name)

        self.calls.put(Call("DescribeTrainingJob", make, done, failed))
