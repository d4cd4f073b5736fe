"""Endpoints of SageMaker under the load of scripts that run on this machine."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.capabilities import Capabilities
from backends.common.clock import SteadyClock
from backends.common.leases_folder import leases_folder
from backends.endpoint.adoption import EndpointAdopter
from backends.endpoint.course import JobCourse, new_job
from backends.endpoint.creation import EndpointCalls
from backends.endpoint.deployed_job import DeployedJob, EndpointPhase
from backends.endpoint.listing import EndpointPoller
from backends.endpoint.load_job import cores_of, endpoint_variables, load_spec
from backends.endpoint.packages_in_s3 import PackageStore
from backends.endpoint.quota import EndpointQuotas
from backends.endpoint.reasons import has_expired
from backends.events import Accepted, Closed, Ended, Event, Noted, Progressed, Rejected, Reported, Restarted, Started
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.local.backend import LocalBackend
from backends.sagemaker.aws.call_queue import Call, CallQueue
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, as_cloud_errors
from backends.sagemaker.aws.known_quotas import quotas_of
from backends.sagemaker.aws.rate_limiter import RateLimiter
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.jobs.existing_endpoints import existing_endpoints
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.resolve_options import options_of
from backends.sagemaker.lifecycle.stop_watch import StopWatch, lifted, watch_of, words
from backends.stop_mark import StopMark
from backends.storage import Storage
from definitions.schema import BenchmarkDefinition

logger = logging.getLogger(__name__)

_CLOSE_WAIT_S = 900.0
_CLEAR_S = 10.0
_MARK_S, _EMULATED_MARK_S = 20.0, 4.0


class EndpointBackend(Backend):
    """Jobs that are an endpoint and a load script.

    Args:
        definition: resolved for the back-end.
        options: of the experiment.
        clients: of AWS.
        prefix: with which the names of all jobs of this experiment begin.
        folder: of the experiment.
        local: runs the scripts.
        environ: the controller's environment.
        rng: of the jitter.
        every_s: seconds between two listings while endpoints come or go; while scripts run it is four times as long.
        watch: knows whether somebody asked from elsewhere that the experiment ends; None where nobody can.
    """

    block = "sagemaker"

    def __init__(
        self,
        definition: BenchmarkDefinition,
        options: Options,
        clients: Clients,
        prefix: str,
        folder: Path,
        local: LocalBackend,
        environ: Mapping[str, str],
        *,
        rng: random.Random | None = None,
        every_s: float | None = None,
        watch: StopWatch | None = None,
    ) -> None:
        self.capabilities = replace(endpoint_capabilities(clients.emulated), warm_pools=self.keep_s(definition) > 0)
        self.options, self.region, self.checkpoints = options, options.region, local.checkpoints
        self._definition, self._clients, self._folder, self._local = definition, clients, folder, local
        self._environ = dict(environ)
        self._every_s = every_s or (0.5 if clients.emulated else 5.0)
        self._clock, self._ahead_s = SteadyClock(), 0.0
        self._events: list[Event] = []
        rng = rng or random.Random()
        self._calls = CallQueue(self.now, RateLimiter(rng), rng, self._note, clients.renew, answered=local.wake)
        block = definition.block(self.block, SageMakerBlock)
        self._watch, self._mark_at = watch, -math.inf
        self._store = PackageStore(clients, options, block.bucket is None)
        self._asked = EndpointCalls(clients, self._calls, options, block.image is not None, self._store, self._note, watch)
        self._course = JobCourse(self._asked, self, self._events.append, self.now, self.keep_s(definition))
        self._poller = EndpointPoller(prefix, clients, self._calls, self._course.seen)
        self._adopter = EndpointAdopter(self._course, self._asked, self._poller, self.now)
        each = int(definition.arguments.get("instance_count") or 1)
        self._quotas = EndpointQuotas(quotas_of(clients, leases_folder(environ)), each, options.region)
        # Of an endpoint that exists no instance is taken; where only some configurations name one, what has none is refused job by job.
        self._all_take_quota = all(name is None for name in existing_endpoints(definition))
        self._names: set[str] = set()
        self._woken = self._closing = self._is_closed = False

    @classmethod
    def create(cls, context: BackendContext) -> EndpointBackend:
        """Make one for an experiment; asks AWS for no more than the account's number."""
        clients = Clients(context.definition.block(cls.block, SageMakerBlock).region, context.environ)
        experiment = f"{context.tag}/{context.prefix}"
        with as_cloud_errors(f"back-end {cls.block}: AWS is asked whose account this is"):
            options = options_of(context.definition, cls.block, experiment, clients, context.environ, create_bucket=False)
        # Its jobs are scripts alone: what they call is elsewhere.
        scripts = replace(context, definition=context.definition.model_copy(update={"endpoint": None}))
        local = LocalBackend.create(scripts)
        watch = watch_of(options.run_uri, "/".join(context.folder.parts[-2:]), clients, leases_folder(context.environ))
        return cls(context.definition, options, clients, context.prefix, context.folder, local, context.environ, watch=watch)

    @classmethod
    def lift_stop(cls, definition: BenchmarkDefinition, tag: str, environ: Mapping[str, str]) -> str:
        """Take the mark of a run away, and return what it said."""
        clients = Clients(definition.block(cls.block, SageMakerBlock).region, environ)
        return lifted(lambda: options_of(definition, cls.block, tag, clients, environ, create_bucket=False).run_uri, clients)

    @classmethod
    def keep_s(cls, definition: BenchmarkDefinition) -> float:
        """Return the seconds that an endpoint is kept for the next job of its deployment; 0 for not at all."""
        del definition
        return 0.0

    def idle(self, instance_type: str, instance_count: int, key: str = "") -> int:
        """Return how many endpoints wait for a job on such instances, of a deployment where its key is given."""
        return self._course.keeper.idle(instance_type, instance_count, key)

    def release(self) -> None:
        """Give up all endpoints that are kept, as no further job will come."""
        self._course.keeper.release()

    def now(self) -> float:
        """Return UTC seconds since the epoch by this machine."""
        return self._clock() + self._ahead_s

    def capacity(self, instance_type: str) -> int:
        """Return for how many endpoints of this type there is room: within the account's quota, with cores for their loads here."""
        if not instance_type.startswith("ml."):
            return 0
        here = self._room_here()
        return min(self._quotas.room(instance_type), here) if self._all_take_quota else here

    def there_is(self) -> str:
        """Return the quotas that allow no endpoint, and how more is asked for; where none is in the way, what is here for the loads."""
        return self._quotas.too_small() or f"the load needs {self._load_cores()} cores, and {self._local.there_is()}"

    def storage(self) -> Storage:
        """Return the bucket; the account's default one is made where it is missing."""
        self._store.ensure_bucket()
        return Storage(self.options.bucket, self.options.prefix, self.options.region)

    def submit(self, job: JobSpec) -> None:
        """Ask for a job's endpoint; its script runs once that is in service.

        Raises:
            ValueError: a job of this name was submitted before, or it has no endpoint.
        """
        if self._closing:
            raise RuntimeError(f"{job.name} was submitted to a back-end that is closed")
        if job.name in self._names:
            raise ValueError(f"a job of the name {job.name!r} was submitted before")
        self._names.add(job.name)
        made = new_job(job, self.now())
        if made.is_own and min(self._quotas.room(job.instance_type), self.capacity(job.instance_type)) == 0:
            self._course.jobs[job.name] = made
            self._course.reject(made, Cause.BAD_REQUEST, f"there is no room for an endpoint on {job.instance_type}: {self.there_is()}")
            return
        self._course.submit(made)

    def stop(self, job: str, reason: Cause) -> None:
        """Have a job end; see `Backend.stop`."""
        found = self._course.jobs.get(job)
        if found is not None:
            self._course.stop(found, reason)

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return what happens next; see `Backend.wait`."""
        deadline = math.inf if timeout_s is None else self.now() + timeout_s
        while not self._is_closed:
            self._step(deadline)
            if timeout_s is None and not (self._events or self._course.jobs or self._course.leaving):
                break
            if self._events or self._woken or self.now() >= deadline:
                break
        self._woken = False
        events = [*self._events]
        self._events.clear()
        return events

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Look each job's endpoint up by its name: scripts run anew on those that are there, the rest is asked for now.

        What the earlier controller left otherwise is deleted.
        """
        self._ahead_s = max(0.0, last_seen_at - self._clock())
        self._names |= {adopted.spec.name for adopted in jobs}
        self._local.clear([adopted.spec.name for adopted in jobs])
        self._adopter.adopt(jobs, self.now())

    def discard(self, jobs: Sequence[str]) -> None:
        """Delete the models that closed jobs left on this machine."""
        self._local.discard(jobs)

    def written_bytes(self, job: str) -> int:
        """Return the bytes of this machine's disk that an open job has taken so far."""
        return self._local.written_bytes(job)

    def wake(self) -> None:
        """Make the current or the next `wait` return early."""
        self._woken = True
        self._local.wake()

    def close(self, grace_s: float | None = None) -> list[str]:
        """End all scripts, delete all endpoints and return the names of those that could not be deleted."""
        if self._is_closed:
            return []
        self._closing = True
        self.release()
        for job in [*self._course.jobs.values()]:
            self._course.stop(job, Cause.INTERRUPTED)
        end = self.now() + (_CLOSE_WAIT_S if grace_s is None else max(grace_s, _CLEAR_S))
        clear_by = math.inf
        try:
            while self.now() < min(end, clear_by) and (self._awaited() or self._calls.busy):
                self._step(min(end, clear_by, self.now() + 1.0))
                if clear_by == math.inf and not self._awaited():
                    # What is left then are calls for configurations and models, which cost nothing.
                    clear_by = self.now() + _CLEAR_S
        except Exception as error:  # noqa: BLE001 (whatever it is, what may still be billed has to be named)
            logger.error("%s", error)
        survivors = [job.name for job in self._course.jobs.values() if self._may_be_left(job)] + [*self._course.leaving]
        for what, why in self._asked.left.items():
            logger.error("%s is left: %s", what, why)
        self._release()
        return survivors

    def detach(self) -> list[str]:
        """End the scripts, which die with this program, and leave endpoints to whoever adopts them."""
        self._closing = True
        self._release()
        return []

    def begin(self, job: DeployedJob) -> None:
        """Start a job's script; see `course.LoadRunner`."""

        def told(variables: Mapping[str, str]) -> None:
            if job.phase is not EndpointPhase.LOADED or job.stop_reason is not None:
                self.end(job, job.stop_reason or Cause.INTERRUPTED)
                return
            self._local.submit(load_spec(job, self._folder, variables))

        ask = partial(endpoint_variables, self._clients, job.endpoint, self._environ)
        self._calls.put(Call("DescribeEndpoint", ask, told, lambda failure: self._not_begun(job, failure)))

    def end(self, job: DeployedJob, reason: Cause) -> None:
        """Have a job's script end; see `course.LoadRunner`."""
        if job.name in self._local.jobs:
            self._local.stop(job.name, reason)
        elif job.phase is EndpointPhase.LOADED:
            job.end_as(Outcome.STOPPED, reason, "stopped before its script ran")
            self._course.finish(job)

    def _not_begun(self, job: DeployedJob, failure: CallFailure) -> None:
        job.end_as(Outcome.FAILED, Cause.SERVICE_ERROR, failure.line)
        self._course.finish(job)

    def _step(self, until: float) -> None:
        """Make due calls, then wait for the local back-end or an answer, and take in what came."""
        self._plan()
        self._calls.step(-math.inf)
        if self._events:
            until = -math.inf
        next_at = min(until, self._next_at(), self._calls.next_at())
        wait_s = None if next_at == math.inf else max(0.0, next_at - self.now())
        if wait_s is None and not (self._calls.busy or self._local.jobs):
            return
        for event in self._local.wait(min(wait_s, 60.0) if wait_s is not None else 60.0):
            self._taken(event)
        self._calls.step(-math.inf)

    def _plan(self) -> None:
        if self._looks():
            self._poller.plan(self.now(), self._listing_s())
        self._course.keeper.plan(self.now())
        if self._closing or not self._events:
            self._course.order_deletions()
        self._look_for_mark()

    def _look_for_mark(self) -> None:
        """Read now and then, while jobs are open, whether somebody asked from elsewhere for the end of all of them."""
        watch, now = self._watch, self.now()
        if watch is None or not self._course.jobs or now < self._mark_at:
            return
        self._mark_at = now + (_EMULATED_MARK_S if self._clients.emulated else _MARK_S)
        self._calls.put(Call("GetObject", partial(watch.mark, 0.0), self._marked, lambda _: None))

    def _marked(self, mark: StopMark | None) -> None:
        if mark is None:
            return
        cause = Cause.INTERRUPTED if mark.is_of_all else Cause.ALONE
        for job in [*self._course.jobs.values()]:
            if job.stop_reason is None:
                self._note(words(mark))
            self._course.stop(job, cause)

    def _next_at(self) -> float:
        kept_at = self._course.keeper.next_at()
        listing_at = self._poller.next_at(self._listing_s()) if self._looks() else math.inf
        mark_at = self._mark_at if self._watch is not None and self._course.jobs else math.inf
        return min(kept_at, listing_at, mark_at)

    def _looks(self) -> bool:
        """Return whether there is an endpoint of which a listing tells something."""
        there = self._course.leaving or any(job.is_own and job.phase is not EndpointPhase.CREATING for job in self._course.jobs.values())
        return self._adopter.is_done and bool(there)

    def _listing_s(self) -> float:
        moving = (EndpointPhase.DEPLOYING, EndpointPhase.DELETING)
        coming = self._course.leaving or any(job.phase in moving for job in self._course.jobs.values())
        return self._every_s if coming else 4.0 * self._every_s

    def _taken(self, event: Event) -> None:
        """Pass on what the local back-end says of a script as what happens to the job."""
        job = self._course.jobs.get(event.job)
        if isinstance(event, Noted):
            self._events.append(event)
        if job is None or isinstance(event, (Accepted, Ended, Noted)):
            return
        if isinstance(event, Started):
            self._began(job, event)
        elif isinstance(event, (Reported, Progressed, Restarted)):
            # A script with a checkpoint counts its lives itself, over all controllers; one without begins with 0 each time.
            lived = max(event.incarnation, job.local_lives)
            if not isinstance(event, Restarted) or lived > job.incarnation:
                self._events.append(replace(event, incarnation=lived))
            job.incarnation = max(job.incarnation, lived)
        elif isinstance(event, Rejected):
            job.end_as(Outcome.FAILED, event.cause, event.message)
            self._course.finish(job)
        elif isinstance(event, Closed):
            self._course.script_closed(job, replace(event, cause=Cause.CREDENTIALS) if has_expired(event) else event)

    def _began(self, job: DeployedJob, event: Started) -> None:
        if not job.started:
            job.started = True
            self._events.append(event)
        else:
            self._events.append(Restarted(job.name, event.at, job.local_lives))

    def _room_here(self) -> int:
        found = self._local.capacity(f"local.{self._load_cores()}cpu")
        # Where no two loads run side by side here, an endpoint that was up before its turn would be billed while it waits.
        return min(found, 1) if self._definition.is_exclusive else found

    def _load_cores(self) -> int:
        endpoint = self._definition.endpoint
        return cores_of(1 if endpoint is None else endpoint.client_cores)

    def _awaited(self) -> bool:
        return bool(self._course.leaving) or any(self._may_be_left(job) for job in self._course.jobs.values())

    def _may_be_left(self, job: DeployedJob) -> bool:
        return job.is_own and job.phase is not EndpointPhase.OVER and not job.is_leaving

    def _note(self, text: str) -> None:
        self._events.append(Noted("", self.now(), text=text))

    def _release(self) -> None:
        self._calls.close()
        self._local.close()
        self._events.clear()
        self._course.jobs.clear()
        self._is_closed = True


def endpoint_capabilities(emulated: bool) -> Capabilities:
    """Return what the back-end can do, on AWS or on the emulator."""
    label = "emulated" if emulated else ""
    return Capabilities(checkpoints=True, survives_controller=True, real_money=not emulated, price_label=label, endpoints=True)
