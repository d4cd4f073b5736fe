"""Trials as SageMaker training jobs: one thread decides, others make the calls, one listing per poll shows all."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from backends.adopted import AdoptedJob, AdoptedPool
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.capabilities import Capabilities
from backends.checks import Check, CheckRequest, PermissionDocument
from backends.common.clock import SteadyClock
from backends.common.leases_folder import leases_folder
from backends.events import Event
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.sagemaker.aws.call_queue import CallQueue
from backends.sagemaker.aws.clients import Clients, is_emulated
from backends.sagemaker.aws.errors import as_cloud_errors
from backends.sagemaker.aws.known_quotas import quotas_of
from backends.sagemaker.aws.rate_limiter import RateLimiter, machine_pace
from backends.sagemaker.aws.shared_pace import SharedPace
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.experiments.job_config import job_configs
from backends.sagemaker.jobs.checkpoints import S3Checkpoints, WaitingCheckpoints
from backends.sagemaker.jobs.job import CloudJob, JobPhase
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.resolve_options import options_of
from backends.sagemaker.jobs.static_checks import check_static
from backends.sagemaker.jobs.status_poller import LISTING, StatusPoller
from backends.sagemaker.lifecycle.adoption import JobAdopter
from backends.sagemaker.lifecycle.marked_end import MarkedEnd
from backends.sagemaker.lifecycle.poll_intervals import AWS_INTERVALS, EMULATED_INTERVALS, PollIntervals
from backends.sagemaker.lifecycle.poll_plan import PollPlan
from backends.sagemaker.lifecycle.staging import Staging
from backends.sagemaker.lifecycle.status_tracker import StatusTracker
from backends.sagemaker.lifecycle.stop_watch import StopWatch, lifted, watch_of
from backends.sagemaker.lifecycle.submission import JobSubmitter
from backends.sagemaker.lifecycle.termination import JobTerminator
from backends.sagemaker.logs.parser import JobLog
from backends.sagemaker.logs.poller import SWEEP, LogPoller
from backends.sagemaker.pools.capacity import CapacityHistory
from backends.sagemaker.pools.keeper import PoolKeeper
from backends.sagemaker.pools.pools import MatchKey
from backends.storage import Storage
from definitions.schema import BenchmarkDefinition

logger = logging.getLogger(__name__)

_UNKNOWN_QUOTA = 1_000_000
_CLOSE_WAIT_S = 180.0
_HURRY_S = 10.0
_TRACKER = "sagemaker"
"""The name by which SageMaker Experiments is asked for as a tracker."""


class SageMakerBackend(Backend):
    """Jobs as SageMaker training jobs.

    Args:
        definition: resolved for this back-end.
        options: of all its jobs.
        clients: of AWS.
        prefix: with which the names of all jobs of this experiment begin.
        clock: UTC seconds since the epoch, never going back.
        rng: of the jitter.
        intervals: at which the service is asked.
        real_s: real seconds per second of the clock.
        logs_folder: where logs are kept; None to leave them to the service.
        paces: of the operations that all processes on this machine make in turns, by name; none where this is the only one.
        stop_watch: knows whether somebody asked from elsewhere that the experiment ends; None where nobody can.
        shared: folder in which processes of this user on this machine agree on more; None where this is the only one.
        is_tracked: whether SageMaker Experiments is told of the experiment, so that jobs say where they belong in it.
    """

    capabilities = Capabilities(checkpoints=True, survives_controller=True, real_money=True, endpoints=True)
    block = "sagemaker"
    """Name of the definition's block that holds the options."""

    def __init__(
        self,
        definition: BenchmarkDefinition,
        options: Options,
        clients: Clients,
        prefix: str,
        *,
        clock: Callable[[], float] | None = None,
        rng: random.Random | None = None,
        intervals: PollIntervals = AWS_INTERVALS,
        real_s: float = 1.0,
        logs_folder: Path | None = None,
        paces: Mapping[str, SharedPace] | None = None,
        stop_watch: StopWatch | None = None,
        shared: Path | None = None,
        is_tracked: bool = False,
    ) -> None:
        self.capabilities = capabilities_of(clients.emulated)
        self.options, self.region = options, options.region
        self._definition, self._clients = definition, clients
        self._clock, self._ahead_s = clock or SteadyClock(), 0.0
        self._quotas_of = quotas_of(clients, shared)
        intervals = intervals if options.log_settle_s is None else replace(intervals, settle_s=options.log_settle_s)
        rng, paces = rng or random.Random(), paces or {}
        limiter = RateLimiter(rng, shared=paces.get)
        self._calls = CallQueue(self.now, limiter, rng, lambda text: self._table.notify(text), clients.renew, real_s=real_s)
        self._table = JobTable(options, clients, self._calls, self.now)
        places = (lambda: clients.get("s3"), options.bucket, options.prefix, options.experiment)
        self.checkpoints: S3Checkpoints = WaitingCheckpoints(
            *places, renew=clients.renew, sleep=lambda pause_s: time.sleep(pause_s * real_s)
        )
        own_bucket = definition.block(self.block, SageMakerBlock).bucket is None
        source = Path(definition.source_dir)
        self._staging = Staging(options, clients, source, definition.include, own_bucket=own_bucket, watch=stop_watch, shared=shared)
        logs = LogPoller(
            prefix,
            clients,
            self._calls,
            lambda job, event: self._tracker.log_event_seen(job, event),
            self._logs_seen,
            pattern=not definition.metric_sources,
            keeps=logs_folder is not None,
        )
        self._keeper = PoolKeeper(self._table)
        marked = MarkedEnd(self._table, stop_watch, self.stop, intervals.mark_s)
        history = CapacityHistory(options.fallback_instance_types)
        unseen_s = 2.0 * intervals.shortest_s
        self._terminator = JobTerminator(self._table, logs, self._keeper, history, marked, intervals.settle_s, unseen_s, logs_folder)
        configs = job_configs(clients, options, rng, self._calls, self._table.notify) if is_tracked else None
        self._submitter = JobSubmitter(self._table, self._terminator, self._staging, S3Checkpoints(*places), configs)
        self._tracker = StatusTracker(self._table, self._submitter, self._terminator, self._keeper)
        self._adopter = JobAdopter(self._table, self._submitter, self._terminator, self._tracker)
        self._status_poller = StatusPoller(
            prefix, clients, self._calls, self._tracker.summary_seen, self._terminator.absent, intervals.full_s, self.now()
        )
        pollers = (self._status_poller, logs, marked, self._terminator, self._keeper)
        self._plan = PollPlan(self._table, *pollers, intervals, lambda: paces[LISTING].sharers if LISTING in paces else 1)
        self._names: set[str] = set()
        self._jobs_by_quota: dict[str, int] = {}
        self._is_closed = False

    @classmethod
    def create(cls, context: BackendContext) -> SageMakerBackend:
        """Make one for an experiment; asks AWS for no more than the account's number."""
        clients = Clients(context.definition.block(cls.block, SageMakerBlock).region, context.environ)
        experiment = f"{context.tag}/{context.prefix}"
        with as_cloud_errors(f"back-end {cls.block}: AWS is asked whose account this is"):
            options = options_of(context.definition, cls.block, experiment, clients, context.environ, create_bucket=False)
        check_static(context.definition, options)
        intervals = EMULATED_INTERVALS if clients.emulated else AWS_INTERVALS

        def pace(operation: str, interval_s: float | None = None) -> SharedPace:
            return machine_pace(operation, clients.region, context.environ, interval_s)

        shared = leases_folder(context.environ)
        return cls(
            context.definition,
            options,
            clients,
            context.prefix,
            intervals=intervals,
            logs_folder=context.folder / "logs" if clients.emulated else None,
            shared=shared,
            paces={LISTING: pace(LISTING), SWEEP: pace(SWEEP, intervals.shortest_s)},
            stop_watch=watch_of(context.run_uri or options.run_uri, "/".join(context.folder.parts[-2:]), clients, shared),
            is_tracked=_TRACKER in context.trackers,
        )

    @classmethod
    def lift_stop(cls, definition: BenchmarkDefinition, tag: str, environ: Mapping[str, str]) -> str:
        """Take the mark of a run away, and return what it said; what is wrong with the definition or AWS is said when it is needed."""
        clients = Clients(definition.block(cls.block, SageMakerBlock).region, environ)
        return lifted(lambda: options_of(definition, cls.block, tag, clients, environ, create_bucket=False).run_uri, clients)

    @classmethod
    def expected_capabilities(cls, environ: Mapping[str, str]) -> Capabilities:
        """Return the capabilities; on the emulator nothing real is spent."""
        return capabilities_of(is_emulated(environ))

    @classmethod
    def problems(cls, definition: BenchmarkDefinition, instance_types: Sequence[str], environ: Mapping[str, str]) -> list[Check]:
        """Return what `outrider doctor` finds missing for a start on this back-end."""
        from backends.sagemaker.admin.doctor import first_start_problems

        clients = Clients(definition.block(cls.block, SageMakerBlock).region, environ)
        return first_start_problems(definition, cls.block, instance_types, clients, environ)

    @classmethod
    def checks(cls, request: CheckRequest) -> list[Check]:
        """Return all checks of the account and, where there is one, of the definition."""
        from backends.sagemaker.admin.doctor import run_checks

        definition = request.definition
        region = request.region or (None if definition is None else definition.block(cls.block, SageMakerBlock).region)
        clients = Clients(region, request.environ)
        return run_checks(definition, cls.block, request.instance_types, clients, request.environ, role=request.role or "")

    @classmethod
    def permission_document(cls, kind: str, request: CheckRequest) -> PermissionDocument:
        """Return a policy for IAM, or a CloudFormation template."""
        from backends.sagemaker.admin.permissions import permission_document

        return permission_document(kind, request, cls.block)

    @property
    def calls_made(self) -> Mapping[str, int]:
        """How often each operation was called so far."""
        return dict(self._clients.counts)

    @property
    def polls(self) -> int:
        """How often all jobs were looked at so far."""
        return self._status_poller.polls

    def now(self) -> float:
        """Return UTC seconds since the epoch by this machine; the service's stamps are brought to it."""
        return self._clock() + self._ahead_s

    def capacity(self, instance_type: str) -> int:
        """Return how many jobs of this type the account's quota allows; plenty where the quota cannot be looked up."""
        if not instance_type.startswith("ml."):
            return 0
        if instance_type not in self._jobs_by_quota:
            self._jobs_by_quota |= self._staging.jobs_within_quotas(self._definition, instance_type, self._quotas_of, _UNKNOWN_QUOTA)
        return self._jobs_by_quota[instance_type]

    def storage(self) -> Storage:
        """Return the bucket; the account's default one is made where it is missing."""
        self._staging.ensure_bucket()
        return Storage(self.options.bucket, self.options.prefix, self.options.region)

    def idle(self, instance_type: str, instance_count: int, key: str = "") -> int:
        """Return how many warm pools wait for such a job, beyond those that submitted jobs will get."""
        return self._keeper.idle(MatchKey(instance_type, instance_count))

    def submit(self, job: JobSpec) -> None:
        """Create the training job, as soon as the code is uploaded and the API's pace allows.

        Raises:
            ValueError: a job of this name was submitted before.
        """
        if self._terminator.closing:
            raise RuntimeError(f"{job.name} was submitted to a back-end that is closed")
        if job.name in self._names:
            raise ValueError(f"a job of the name {job.name!r} was submitted before")
        self._names.add(job.name)
        now = self.now()
        instance_type = self._terminator.capacity.choose(job.instance_type, now, lambda name: self.capacity(name) > 0)
        cloud = CloudJob(job, JobLog(sources=job.metrics), instance_type, submitted_at=now)
        self._submitter.submit(cloud, self.capacity(job.instance_type))
        if job.name in self._table.jobs:
            self._keeper.submitted(job.name, MatchKey(instance_type, job.instance_count))

    def stop(self, job: str, reason: Cause) -> None:
        """Have the service stop a job; one that was never asked for is simply not created."""
        cloud = self._table.jobs.get(job)
        if cloud is None or cloud.stop_reason is not None or cloud.phase in (JobPhase.OVER, JobPhase.CLOSED):
            return
        cloud.stop_reason = reason
        if cloud.phase is JobPhase.LIVE:
            self._terminator.stop(cloud)
        elif not cloud.is_looked_up and (cloud.create is None or not cloud.create.may_have_taken_effect):
            self._table.close_as(cloud, Outcome.STOPPED, reason, cloud.stop_message or "stopped before it was created")

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return what happens next; see `Backend.wait`.

        Raises:
            CloudError: the service refuses what nothing goes without, e.g. to list jobs.
        """
        table = self._table
        deadline = math.inf if timeout_s is None else self.now() + timeout_s
        while not self._is_closed:
            self._plan.begin_due(self.now())
            if timeout_s is None and not (table.events or table.jobs or self._keeper.releasing):
                break
            woken = self._calls.step(-math.inf if table.events else min(deadline, self._plan.next_at()))
            if table.events or woken or self.now() >= deadline:
                break
        events, table.events = table.events, []
        return events

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Look each job up by its name: those that exist go on, those that never came to be are created now."""
        # A clock that was set back meanwhile is carried on from where the journal ends.
        self._ahead_s = max(0.0, last_seen_at - self._clock())
        for adopted in jobs:
            self._names.add(adopted.spec.name)
            self._adopter.adopt(adopted)

    def adopt_pools(self, pools: Sequence[AdoptedPool]) -> None:
        """Look each pool up by its job; what has become of it is an event once."""
        for pool in pools:
            self._keeper.adopt(pool)

    def release(self) -> None:
        """Give up all warm pools, as no further job will come."""
        self._keeper.release()

    def wake(self) -> None:
        """Make the current or the next `wait` return early."""
        self._calls.wake()

    def close(self, grace_s: float | None = None) -> list[str]:
        """Stop all jobs, release all pools, and return the names of jobs whose order to stop the service did not take.

        Args:
            grace_s: given, only the order is waited for; else the end of the jobs too, for three minutes at most.
        """
        if self._is_closed:
            return []
        self._terminator.closing = True
        for name in [*self._table.jobs]:
            self.stop(name, Cause.INTERRUPTED)
        self.release()
        end = self.now() + (_CLOSE_WAIT_S if grace_s is None else max(grace_s, _HURRY_S))
        blind = grace_s is not None
        while self.now() < end and (self._awaited(ends=not blind) or (not blind and self._keeper.releasing)):
            try:
                if not blind:
                    self._plan.begin_due(self.now())
                self._calls.step(end if blind else min(end, self._plan.next_at()))
            except Exception as error:  # noqa: BLE001 (whatever it is, what may still run has to be named)
                # What ended the experiment may be that it cannot look; orders to stop are given all the same.
                logger.error("%s", error)
                blind = True
        survivors = [cloud.spec.name for cloud in self._unanswered()]
        self._calls.close()
        self._table.events.clear()
        self._table.jobs.clear()
        self._is_closed = True
        return survivors

    def detach(self) -> list[str]:
        """Make no further call: jobs and pools stay as they are, and what was not created yet is so by whoever adopts it."""
        self._terminator.closing = self._is_closed = True
        self._calls.close()
        self._table.events.clear()
        self._table.jobs.clear()
        return []

    def _logs_seen(self, looked_at: float) -> None:
        self._tracker.logs_seen(looked_at)
        self._terminator.swept(looked_at)

    def _unanswered(self) -> list[CloudJob]:
        """Return the jobs that may run on, as no order to stop them was taken."""
        return [
            cloud
            for cloud in self._table.jobs.values()
            if (cloud.phase is JobPhase.LIVE and not cloud.stop_accepted)
            or (cloud.phase is JobPhase.NEW and (cloud.create is not None or cloud.is_looked_up))
        ]

    def _awaited(self, *, ends: bool) -> bool:
        """Return whether an order to stop may still be taken, or where `ends` counts a job may still be seen to end."""
        return any(not cloud.unstoppable for cloud in [*self._unanswered(), *(self._table.live() if ends else ())])


def capabilities_of(emulated: bool) -> Capabilities:
    """Return what the back-end can do, on AWS or on the emulator."""
    label = "emulated" if emulated else ""
    return Capabilities(checkpoints=True, survives_controller=True, real_money=not emulated, price_label=label, endpoints=True)
