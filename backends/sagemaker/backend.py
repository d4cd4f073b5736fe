"""Trials as training jobs: one thread decides, others make the calls, and one sweep per poll looks at all jobs. Used by the tuner."""

from __future__ import annotations

import functools
import logging
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backends.base import (
    Accepted,
    AdoptedJob,
    Backend,
    BackendContext,
    Capabilities,
    Closed,
    Ended,
    Event,
    JobSpec,
    Noted,
    Rejected,
    Reported,
    Restarted,
    Scope,
    Started,
    Storage,
)
from backends.failures import Cause, Outcome
from backends.local.clock import SteadyClock
from backends.sagemaker import outcome
from backends.sagemaker.calls import Call, Calls
from backends.sagemaker.clients import Clients, is_emulated
from backends.sagemaker.errors import Kind, Trouble
from backends.sagemaker.job import CloudJob, Phase, Skew, ever_trained, seconds
from backends.sagemaker.limiter import Limiter
from backends.sagemaker.logs import JobLog
from backends.sagemaker.options import Options, options_of
from backends.sagemaker.pools import MatchKey, Pools
from backends.sagemaker.reading import LogReader
from backends.sagemaker.refusals import CloudError
from backends.sagemaker.room import CapacityBook, Ceilings
from backends.sagemaker.s3 import S3Checkpoints
from backends.sagemaker.staging import Staging
from backends.sagemaker.sweep import Sweeper
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

logger = logging.getLogger(__name__)

_UNKNOWN_ROOM = 1_000_000
_CLOSE_PATIENCE_S = 180.0
_HURRY_S = 10.0
_LOOKS_S = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0)


@dataclass(frozen=True)
class Pace:
    """How often the service is asked, in seconds.

    Args:
        least_s, most_s: between two sweeps; in between, a twentieth of the age of the youngest job.
        settle_s: how long the last lines of a log are awaited whose end is not marked.
    """

    least_s: float = 3.0
    most_s: float = 15.0
    settle_s: float = 60.0


AWS_PACE = Pace()
EMULATED_PACE = Pace(least_s=1.0, most_s=2.0, settle_s=4.0)


class SageMakerBackend(Backend):
    """Jobs as SageMaker training jobs.

    Args:
        definition: resolved for this back-end.
        options: of all its jobs.
        clients: of AWS.
        prefix: with which the names of all jobs of this experiment begin.
        clock: UTC seconds since the epoch, never going back.
        rng: of the jitter.
        pace: how often the service is asked.
        real_s: real seconds per second of the clock.
    """

    capabilities = Capabilities(checkpoints=True, survives_controller=True, real_money=True)

    def __init__(
        self,
        definition: BenchmarkDefinition,
        options: Options,
        clients: Clients,
        prefix: str,
        *,
        clock: Callable[[], float] | None = None,
        rng: random.Random | None = None,
        pace: Pace = AWS_PACE,
        real_s: float = 1.0,
    ) -> None:
        self.capabilities = capabilities_of(clients.emulated)
        self.options = options
        self._definition = definition
        self._clients = clients
        self._clock = clock or SteadyClock()
        self._floor = -math.inf
        self._pace = replace(pace, settle_s=options.log_settle_s) if options.log_settle_s is not None else pace
        rng = rng or random.Random()
        self._calls = Calls(self.now, Limiter(rng), rng, self._tell, clients.renew, real_s=real_s)
        own_bucket = getattr(definition, self.block).bucket is None
        self._staging = Staging(options, clients, Path(definition.source_dir), own_bucket=own_bucket)
        self.checkpoints: S3Checkpoints = S3Checkpoints(lambda: clients.get("s3"), options.bucket, options.prefix, options.experiment)
        self._jobs: dict[str, CloudJob] = {}
        self._names: set[str] = set()
        self._events: list[Event] = []
        self._skew = Skew()
        self._sweeper = Sweeper(prefix, clients, self._calls, self._summary)
        self._reader = LogReader(prefix, clients, self._calls, self._line, pattern=not options.metrics)
        self._ceilings = Ceilings()
        self._capacity = CapacityBook(options.fallback_instance_types)
        self._pools = Pools(options.keep_alive_s)
        self._rooms: dict[str, int] = {}
        self._unstaged: list[CloudJob] | None = None
        self._released = self._closing = self._is_closed = False

    @classmethod
    def create(cls, context: BackendContext) -> Backend:
        """Make one for an experiment; asks AWS for no more than the account's number."""
        backend = cls.block
        clients = Clients(getattr(context.definition, backend).region, context.environ)
        options = options_of(context.definition, backend, f"{context.tag}/{context.prefix}", clients, context.environ, create_bucket=False)
        pace = EMULATED_PACE if clients.emulated else AWS_PACE
        return cls(context.definition, options, clients, context.prefix, pace=pace)

    block = "sagemaker"
    """Name of the definition's block that holds the options."""

    @classmethod
    def foretell(cls, environ: Mapping[str, str]) -> Capabilities:
        """Return the capabilities; on the emulator nothing real is spent."""
        return capabilities_of(is_emulated(environ))

    @property
    def calls_made(self) -> Mapping[str, int]:
        """How often each operation was called so far."""
        return dict(self._clients.counts)

    def now(self) -> float:
        """Return UTC seconds since the epoch by this machine; the service's stamps are brought to it."""
        return max(self._clock(), self._floor)

    def room(self, instance_type: str) -> int:
        """Return how many jobs of this type the account's quota allows; plenty where the quota cannot be looked up."""
        if not instance_type.startswith("ml."):
            return 0
        if instance_type not in self._rooms:
            self._rooms |= self._staging.rooms(self._definition, instance_type, _UNKNOWN_ROOM)
        return self._rooms[instance_type]

    def storage(self) -> Storage:
        """Return the bucket; the account's default one is made where it is missing."""
        self._staging.ensure_bucket()
        return Storage(self.options.bucket, self.options.prefix, self.options.region)

    def idle(self, instance_type: str, instance_count: int) -> int:
        """Return how many warm pools wait for such a job."""
        return self._pools.idle(MatchKey(instance_type, instance_count))

    def submit(self, job: JobSpec) -> None:
        """Create the training job, as soon as the code is uploaded and the API's pace allows.

        Raises:
            ValueError: a job of this name was submitted before.
        """
        if self._closing:
            raise RuntimeError(f"{job.name} was submitted to a back-end that is closed")
        if job.name in self._names:
            raise ValueError(f"a job of the name {job.name!r} was submitted before")
        self._names.add(job.name)
        now = self.now()
        cloud = CloudJob(job, JobLog(metrics=self.options.metrics), self._capacity.choose(job.instance_type, now), born_at=now)
        if self.room(job.instance_type) == 0:
            self._reject(cloud, Cause.BAD_REQUEST, f"the quota for {job.instance_type} allows no job", Scope.INSTANCE_TYPE)
            return
        closed = self._ceilings.closed_until(cloud.instance_type, self._in_flight(cloud.instance_type), now)
        if closed is not None:
            self._reject(cloud, Cause.QUOTA, closed[1], Scope.INSTANCE_TYPE, closed[0])
            return
        self._jobs[job.name] = cloud
        self._create(cloud)

    def stop(self, job: str, reason: Cause) -> None:
        """Have the service stop a job; one that was never asked for is simply not created."""
        cloud = self._jobs.get(job)
        if cloud is None or cloud.stop_reason is not None or cloud.phase in (Phase.OVER, Phase.CLOSED):
            return
        cloud.stop_reason = reason
        if cloud.phase is Phase.LIVE:
            self._stop(cloud)
        elif cloud.create is None or not cloud.create.unsure:
            self._close(cloud, Closed(job, self.now(), Outcome.STOPPED, reason, "stopped before it was created"))

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return what happens next; see `Backend.wait`.

        Raises:
            CloudError: the service refuses what nothing goes without, e.g. to list jobs.
        """
        deadline = math.inf if timeout_s is None else self.now() + timeout_s
        while not self._is_closed:
            self._plan()
            if timeout_s is None and not (self._events or self._jobs or self._releasing):
                break
            woken = self._calls.turn(-math.inf if self._events else min(deadline, self._next_at()))
            if self._events or woken or self.now() >= deadline:
                break
        events, self._events = self._events, []
        return events

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Look each job up by its name: those that exist go on, those that never came to be are created now."""
        self._floor = last_seen_at
        for adopted in jobs:
            spec = adopted.spec
            self._names.add(spec.name)
            cloud = CloudJob(spec, JobLog(adopted.received, self.options.metrics), spec.instance_type, born_at=adopted.submitted_at)
            cloud.accepted, cloud.started, cloud.ended = adopted.accepted_at is not None, adopted.started, adopted.ended
            cloud.incarnation = adopted.incarnation
            if adopted.stop_requested_at is not None:
                cloud.stop_reason = adopted.stop_reason or Cause.INTERRUPTED
            self._jobs[spec.name] = cloud
            self._describe(spec.name, functools.partial(self._found, cloud), functools.partial(self._not_found, cloud))

    def take_pools(self, pools: Mapping[str, tuple[str, int, float]]) -> None:
        """Take over pools whose end an earlier controller did not see: instance type, count and time of the job's end, by job."""
        for job, (instance_type, count, since) in pools.items():
            self._pools.known(job, MatchKey(instance_type, count), since)
            self._look_at_pool(job)

    def release(self) -> None:
        """Give up all warm pools, as no further job will come."""
        self._released = True
        self._plan_pools()

    def wake(self) -> None:
        """Make the current or the next `wait` return early."""
        self._calls.wake()

    def close(self, grace_s: float | None = None) -> list[str]:
        """Stop all jobs, release all pools, and return the names of jobs that the service did not take the order to stop.

        Args:
            grace_s: given, only the order is waited for; else the end of the jobs too, for three minutes at most.
        """
        if self._is_closed:
            return []
        self._closing = True
        for cloud in [*self._jobs.values()]:
            self.stop(cloud.spec.name, Cause.INTERRUPTED)
        self.release()
        end = self.now() + (_CLOSE_PATIENCE_S if grace_s is None else max(grace_s, _HURRY_S))
        try:
            while self.now() < end and (self._unanswered() or (grace_s is None and (self._still_there() or self._releasing))):
                self._plan()
                self._calls.turn(min(end, self._next_at()))
        except (CloudError, UserError) as error:
            logger.error("%s", error)
        survivors = [cloud.spec.name for cloud in self._unanswered()]
        self._calls.close()
        self._events.clear()
        self._jobs.clear()
        self._is_closed = True
        return survivors

    # Creating

    def _create(self, cloud: CloudJob) -> None:
        if self._staging.code_uri is None and self.options.has_script:
            if self._unstaged is None:
                self._unstaged = []
                self._calls.put(Call("stage", self._staging.stage, lambda _: self._is_staged(), self._fatal("the code cannot be uploaded")))
            self._unstaged.append(cloud)
            return
        try:
            make = self._staging.creation(cloud.spec, cloud.instance_type, self.checkpoints)
        except UserError as error:
            self._reject(cloud, Cause.BAD_REQUEST, str(error))
            return
        cloud.create = Call(
            "CreateTrainingJob",
            make,
            lambda _: self._created(cloud),
            lambda trouble: self._not_created(cloud, trouble),
            lambda: cloud.phase is Phase.NEW,
        )
        self._calls.put(cloud.create)

    def _is_staged(self) -> None:
        waiting, self._unstaged = self._unstaged or [], None
        for cloud in waiting:
            if cloud.phase is Phase.NEW:
                self._create(cloud)

    def _created(self, cloud: CloudJob) -> None:
        if cloud.phase is not Phase.NEW:
            return
        cloud.phase = Phase.LIVE
        self._accept(cloud)
        self._ceilings.accepted(cloud.instance_type, self._in_flight(cloud.instance_type))
        if cloud.stop_reason is not None:
            self._stop(cloud)

    def _not_created(self, cloud: CloudJob, trouble: Trouble) -> None:
        now = self.now()
        if trouble.kind is Kind.EXISTS:
            # Its name is this experiment's own: an earlier call that was not answered did create it.
            self._created(cloud)
            return
        if cloud.stop_reason is not None:
            self._close(cloud, Closed(cloud.spec.name, now, Outcome.STOPPED, cloud.stop_reason, "stopped before it was created"))
        elif trouble.kind is Kind.QUOTA and trouble.limit != 0:
            others = self._in_flight(cloud.instance_type) - 1
            until = self._ceilings.refused(cloud.instance_type, others, now, trouble.message)
            self._reject(cloud, Cause.QUOTA, trouble.message, Scope.INSTANCE_TYPE, until)
        elif trouble.kind is Kind.CAPACITY:
            self._capacity.lacked(cloud.instance_type, now)
            self._reject(cloud, Cause.CAPACITY, trouble.message, Scope.JOB, now + 30.0)
        else:
            self._reject(cloud, Cause.QUOTA if trouble.kind is Kind.QUOTA else Cause.BAD_REQUEST, trouble.message)

    def _reject(self, cloud: CloudJob, cause: Cause, message: str, scope: Scope = Scope.JOB, retry_at: float | None = None) -> None:
        cloud.phase = Phase.CLOSED
        self._jobs.pop(cloud.spec.name, None)
        if cloud.accepted:
            self._events.append(Closed(cloud.spec.name, self.now(), Outcome.FAILED, cause, message))
            return
        self._events.append(Rejected(cloud.spec.name, self.now(), cause, message, scope, retry_at))

    def _in_flight(self, instance_type: str) -> int:
        return sum(cloud.instance_type == instance_type and not cloud.ended for cloud in self._jobs.values())

    # Following

    def _plan(self) -> None:
        """Have made what is due: sweeps while something runs, last looks at logs, the end of pools."""
        now = self.now()
        live = [cloud for cloud in self._jobs.values() if cloud.phase is Phase.LIVE]
        if live:
            age_s = now - max(cloud.born_at for cloud in live)
            every_s = min(self._pace.most_s, max(self._pace.least_s, 0.05 * age_s))
            self._sweeper.plan(now, every_s)
            if any(cloud.runs_script or cloud.stage == "Stopping" for cloud in live):
                self._reader.plan(now, every_s)
        for cloud in [*self._jobs.values()]:
            if cloud.look_at <= now:
                self._look(cloud)
        if self._pools.open:
            self._plan_pools()

    def _next_at(self) -> float:
        due = [cloud.look_at for cloud in self._jobs.values()]
        if any(cloud.phase is Phase.LIVE for cloud in self._jobs.values()):
            due.append(min(self._sweeper.next_at, self._reader.next_at))
        due.append(self._pools.next_at())
        if self._pools.open:
            due.append(self.now() + self._pace.least_s)
        return min(due, default=math.inf)

    def _summary(self, summary: Mapping[str, Any]) -> None:
        """Take in what a listing says of a job."""
        now, name = self.now(), str(summary["TrainingJobName"])
        self._events += self._pools.seen(name, summary.get("WarmPoolStatus") or {}, now)
        cloud = self._jobs.get(name)
        if cloud is None or cloud.phase in (Phase.OVER, Phase.CLOSED):
            return
        if cloud.create is not None and not cloud.accepted and cloud.create.sent_at:
            # The service knows of it before its answer came.
            self._created(cloud)
        self._moved(cloud, str(summary.get("SecondaryStatus", "")), str(summary.get("TrainingJobStatus", "")))
        created_at = seconds(summary.get("CreationTime"))
        if created_at is not None and cloud.create is not None and cloud.create.answered_at:
            self._skew.learn(created_at, cloud.create.sent_at, cloud.create.answered_at)

    def _moved(self, cloud: CloudJob, stage: str, status: str) -> None:
        if stage and stage != cloud.stage:
            before, cloud.stage = cloud.stage, stage
            if stage not in outcome.FINAL:
                self._events.append(Noted(cloud.spec.name, self.now(), stage))
            if before in ("", "Starting", "Pending") and stage not in ("Starting", "Pending"):
                for pool in self._pools.to_look_at(self.now(), MatchKey(cloud.instance_type, cloud.spec.instance_count)):
                    self._look_at_pool(pool.job)
            if cloud.runs_script:
                self._start(cloud)
        if status in outcome.FINAL and cloud.phase is Phase.LIVE:
            cloud.phase, cloud.over_at = Phase.OVER, self.now()
            self._describe(cloud.spec.name, lambda answer: self._described(cloud, answer), lambda: self._vanished(cloud))

    def _accept(self, cloud: CloudJob) -> None:
        if not cloud.accepted:
            cloud.accepted = True
            self._events.append(Accepted(cloud.spec.name, self.now()))

    def _start(self, cloud: CloudJob) -> None:
        self._accept(cloud)
        if not cloud.started:
            cloud.started = True
            self._events.append(Started(cloud.spec.name, self.now()))

    def _line(self, job: str, event: Mapping[str, Any]) -> None:
        """Take in one event of a job's log."""
        cloud = self._jobs.get(job)
        if cloud is None:
            return
        for report in cloud.log.feed(event):
            self._start(cloud)
            now = self.now()
            if report.incarnation > cloud.incarnation and not cloud.ended:
                cloud.incarnation = report.incarnation
                self._events.append(Restarted(job, now, report.incarnation))
            stamp_s = int(event.get("timestamp", 0)) / 1000 - self._skew.ahead_s
            elapsed_s = report.elapsed_s if report.elapsed_s is not None else max(0.0, stamp_s - (cloud.log.first_ms or 0) / 1000)
            self._events.append(Reported(job, now, report.sequence, report.metrics, elapsed_s, report.incarnation))

    # Ending

    def _stop(self, cloud: CloudJob) -> None:
        def taken(_: Any) -> None:
            cloud.stop_taken = True

        def refused(trouble: Trouble) -> None:
            # That it is over already is what the next sweep tells as well.
            if trouble.kind in (Kind.OVER, Kind.MISSING):
                cloud.stop_taken = True
            else:
                cloud.unstoppable = trouble.message
                self._tell(f"{cloud.spec.name} cannot be stopped: {trouble.message}")

        name = cloud.spec.name
        make = lambda: self._clients.get("sagemaker").stop_training_job(TrainingJobName=name)  # noqa: E731
        self._calls.put(Call("StopTrainingJob", make, taken, refused, lambda: cloud.phase is Phase.LIVE))

    def _describe(self, name: str, done: Callable[[Mapping[str, Any]], None], missing: Callable[[], None]) -> None:
        def failed(trouble: Trouble) -> None:
            if trouble.kind is Kind.MISSING:
                missing()
            else:
                self._fatal(f"training job {name} cannot be described")(trouble)

        make = lambda: self._clients.get("sagemaker").describe_training_job(TrainingJobName=name)  # noqa: E731
        self._calls.put(Call("DescribeTrainingJob", make, done, failed))

    def _described(self, cloud: CloudJob, answer: Mapping[str, Any]) -> None:
        cloud.described = answer
        if ever_trained(answer):
            self._start(cloud)
        now = self.now()
        key = MatchKey(outcome.instance_type(answer) or cloud.instance_type, cloud.spec.instance_count)
        if not cloud.ended:
            cloud.ended = True
            if cloud.accepted:
                self._events.append(Ended(cloud.spec.name, now))
            self._ceilings.accepted(cloud.instance_type, self._in_flight(cloud.instance_type) + 1)
        if self.options.keep_alive_s:
            for pool in self._pools.to_look_at(now, key):
                self._look_at_pool(pool.job)
            self._events += self._pools.ended(answer, key, now)
        cloud.over_at = now
        cloud.look_at = now if cloud.started or ever_trained(answer) else math.inf
        if math.isinf(cloud.look_at):
            self._finish(cloud)

    def _look(self, cloud: CloudJob) -> None:
        """Read the job's own log once more from its beginning, and close the job when there is nothing more to come."""
        cloud.look_at = math.inf
        self._reader.drain(cloud.spec.name, cloud.log.streams, lambda: self._looked(cloud))

    def _looked(self, cloud: CloudJob) -> None:
        now = self.now()
        cloud.looks += 1
        if not cloud.log.is_whole and now < cloud.over_at + self._pace.settle_s:
            cloud.look_at = min(now + _LOOKS_S[min(cloud.looks, len(_LOOKS_S) - 1)], cloud.over_at + self._pace.settle_s)
            return
        self._finish(cloud)

    def _finish(self, cloud: CloudJob) -> None:
        """Close a job, or first get the last lines of its log where they say what went wrong."""
        event = self._judged(cloud)
        if event.outcome is Outcome.FAILED and cloud.tail is None and cloud.log.streams and not self._closing:

            def tail(lines: Sequence[str]) -> None:
                cloud.tail = tuple(lines)
                self._close(cloud, self._judged(cloud))

            self._reader.tail(max(cloud.log.streams, key=lambda name: ("/algo-1-" in name, name)), tail)
            return
        self._close(cloud, event)

    def _judged(self, cloud: CloudJob) -> Closed:
        described = cloud.described or {}
        usage = cloud.log.usage()
        if self.options.keep_alive_s:
            usage["warm"] = self._pools.was_warm(cloud.spec.name)
        told = outcome.Told(
            job=cloud.spec.name,
            at=self.now(),
            offset_s=self._skew.ahead_s,
            stop_reason=cloud.stop_reason,
            reports=cloud.log.delivered,
            exit_code=cloud.log.exit_code,
            tail=cloud.tail if cloud.tail is not None else cloud.log.tail,
            usage=usage,
            asked_for=cloud.spec.instance_type,
        )
        found = outcome.closed(described, told)
        if found.cause is Cause.CAPACITY:
            self._capacity.lacked(cloud.instance_type, self.now())
        return found

    def _close(self, cloud: CloudJob, event: Closed) -> None:
        if cloud.phase is Phase.CLOSED:
            return
        cloud.phase, cloud.look_at = Phase.CLOSED, math.inf
        self._jobs.pop(cloud.spec.name, None)
        if cloud.accepted and not cloud.ended:
            self._events.append(Ended(cloud.spec.name, event.at))
        self._events.append(event)

    def _vanished(self, cloud: CloudJob) -> None:
        self._close(cloud, Closed(cloud.spec.name, self.now(), Outcome.FAILED, Cause.LOST, "the service has no trace of the training job"))

    def _unanswered(self) -> list[CloudJob]:
        """Return the jobs that may run on, as no order to stop them was taken."""
        return [
            cloud
            for cloud in self._jobs.values()
            if (cloud.phase is Phase.LIVE and not cloud.stop_taken) or (cloud.phase is Phase.NEW and cloud.create is not None)
        ]

    def _still_there(self) -> bool:
        return any(cloud.phase is Phase.LIVE and not cloud.unstoppable for cloud in self._jobs.values())

    # Taking over

    def _found(self, cloud: CloudJob, answer: Mapping[str, Any]) -> None:
        self._accept(cloud)
        cloud.instance_type = outcome.instance_type(answer) or cloud.instance_type
        cloud.phase = Phase.LIVE
        if cloud.stop_reason is not None and answer.get("TrainingJobStatus") == "InProgress":
            self._stop(cloud)
        status = str(answer.get("TrainingJobStatus", ""))
        if status in outcome.FINAL:
            cloud.phase, cloud.stage = Phase.OVER, status
            self._described(cloud, answer)
        else:
            self._moved(cloud, str(answer.get("SecondaryStatus", "")), status)

    def _not_found(self, cloud: CloudJob) -> None:
        if cloud.accepted:
            self._vanished(cloud)
        elif cloud.stop_reason is not None:
            self._close(cloud, Closed(cloud.spec.name, self.now(), Outcome.STOPPED, cloud.stop_reason, "stopped before it was created"))
        else:
            self._create(cloud)

    # Warm pools

    @property
    def _releasing(self) -> bool:
        return self._released and bool(self._pools.open)

    def _plan_pools(self) -> None:
        now = self.now()
        for pool in self._pools.to_release(now, wanted=not self._released):
            name = pool.job
            pool.asked = True
            ended = {"KeepAlivePeriodInSeconds": 0}
            update = functools.partial(self._update, TrainingJobName=name, ResourceConfig=ended)
            asked = functools.partial(self._released_one, name)
            self._calls.put(Call("UpdateTrainingJob", update, asked, asked))
        for pool in self._pools.to_look_at(now):
            self._look_at_pool(pool.job)

    def _update(self, **request: Any) -> Any:
        return self._clients.get("sagemaker").update_training_job(**request)

    def _released_one(self, job: str, _: Any) -> None:
        # Refused or not: what has become of it the next look tells.
        self._pools.asked(job, self.now())

    def _look_at_pool(self, job: str) -> None:
        def seen(answer: Mapping[str, Any]) -> None:
            self._events += self._pools.seen(job, answer.get("WarmPoolStatus") or {}, self.now())

        def gone() -> None:
            self._events += self._pools.gone(job, self.now())

        self._describe(job, seen, gone)

    # Telling

    def _tell(self, text: str) -> None:
        if text:
            self._events.append(Noted("", self.now(), text=text))

    def _fatal(self, asked: str) -> Callable[[Trouble], None]:
        def fail(trouble: Trouble) -> None:
            if trouble.refusal is None:
                raise UserError(asked, trouble.message)
            raise CloudError(asked, trouble.refusal)

        return fail


def capabilities_of(emulated: bool) -> Capabilities:
    """Return what the back-end can do, on AWS or on the emulator."""
    return Capabilities(checkpoints=True, survives_controller=True, real_money=not emulated, price_label="emulated" if emulated else "")
