"""Runs jobs on the nodes of a Ray cluster: Ray says where there is room, a process of ours on each node runs them as on any machine."""

from __future__ import annotations

import atexit
import dataclasses
import math
import os
import queue
import secrets
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.capabilities import Capabilities
from backends.checkpoint_store import CheckpointStore
from backends.checks import Check, CheckRequest
from backends.common.clock import SteadyClock
from backends.common.disk import remove_folder
from backends.events import Closed, Ended, Event, Noted, Rejected, Scope
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.processes.checkpoints import LocalCheckpoints
from backends.processes.node_messages import FinishJobs, NodeBatch, NodeSettings
from backends.ray.checks import cluster_checks
from backends.ray.cluster import RayConnection
from backends.ray.description import DEFAULT_GRACE_S, DESCRIPTION, RayBlock
from backends.ray.held import HeldEnds
from backends.ray.job import RayJob
from backends.ray.links import NodeLinks
from backends.ray.nodes import NodeAnswered, NodeGone, NodeSaid
from backends.ray.parcel import checked
from backends.ray.parts import part_of
from backends.ray.room import ClusterRoom, never_fits, there_is, waiting_for
from backends.ray.shapes import parse_shape
from backends.ray.slots import MOST_ASKED, SlotBook, SlotFailed, SlotReady, key_of
from definitions.errors import UserError
from definitions.instance_tables import LISTED_REGION

_SAY_S = 3.0
_CLOSE_S = 20.0
_WAKE = object()


class RayBackend(Backend):
    """Jobs as processes on the nodes of a cluster.

    Args:
        folder: of the experiment, for logs; on a cluster of this machine also for jobs and checkpoints.
        address: of a cluster that is there; empty for one of this machine's own.
        name: of the experiment on nodes, unlike any other's.
        grace_s: most seconds between TERM and KILL.
        environment: the controller's, which jobs inherit on a cluster of this machine.
        python: interpreter of `.py` scripts; empty for the nodes' own.
        preload: modules that a warm worker on each node keeps imported.
        checkpoints: folder that all nodes can reach; None where there is none.
        include: patterns of what belongs to the source though it would stay behind.
        autoscaling: whether nodes join by themselves, so that what no node has is waited for.

    Raises:
        UserError: the cluster cannot be used.
    """

    capabilities = Capabilities(checkpoints=True)
    region = LISTED_REGION

    def __init__(
        self,
        folder: Path,
        *,
        address: str = "",
        name: str = "",
        grace_s: float = DEFAULT_GRACE_S,
        environment: Mapping[str, str] | None = None,
        python: str = "",
        preload: Sequence[str] = (),
        checkpoints: Path | None = None,
        include: Sequence[str] = (),
        autoscaling: bool = False,
    ) -> None:
        self._folder = folder.absolute()
        self._is_own, self._may_join = not address, autoscaling
        for part in ("jobs", "logs"):
            (self._folder / part).mkdir(parents=True, exist_ok=True)
        kept = checkpoints or (None if address else self._folder / "checkpoints")
        self.checkpoints: CheckpointStore = LocalCheckpoints(kept or self._folder / "checkpoints")
        self.capabilities = Capabilities(checkpoints=kept is not None)
        self._clock = SteadyClock()
        self._inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        inherited = dict(os.environ if environment is None else environment)
        where = str(self._folder) if self._is_own else f"experiments/{name or secrets.token_hex(8)}"
        self._grace_s = grace_s
        settings = NodeSettings(
            where,
            secrets.token_hex(8),
            grace_s,
            inherited if self._is_own else None,
            python,
            tuple(preload),
            "" if kept is None else str(kept),
            sends_logs=not self._is_own,
        )
        self._connection = RayConnection(address, inherited)
        self._nodes = self._connection.nodes()
        self._links = NodeLinks(self._connection, settings, include, self._inbox.put)
        self._names: set[str] = set()
        self._held = HeldEnds()
        self._jobs: dict[str, RayJob] = {}
        self._queue: deque[RayJob] = deque()
        self._slots = SlotBook(self._connection, self._inbox.put)
        self._events: list[Event] = []
        self._heard: dict[str, int] = {}
        self._answered_at: dict[str, float] = {}
        self._survivors: dict[str, tuple[str, ...]] = {}
        self._waits_since, self._said = 0.0, ""
        self._pid, self._closing, self._is_closed = os.getpid(), False, False
        atexit.register(self.close)
        if self._is_own:
            self._links.to(self._nodes[0].id)  # its process starts while the first job is still thought of

    @classmethod
    def create(cls, context: BackendContext) -> RayBackend:
        """Make one for an experiment."""
        definition = context.definition
        block = definition.block("ray", RayBlock)
        if block.address and definition.source_dir:
            checked(Path(definition.source_dir), definition.include)  # before anything is started
        return cls(
            context.folder,
            address=block.address or "",
            name=context.prefix,
            grace_s=DESCRIPTION.grace_s(block),
            environment=context.environ or None,
            python=definition.python or "",
            preload=definition.preload,
            checkpoints=Path(block.checkpoints, context.prefix) if block.checkpoints else None,
            include=definition.include,
            autoscaling=bool(block.autoscaling),
        )

    @classmethod
    def checks(cls, request: CheckRequest) -> list[Check]:
        """Return what the cluster has, what it never can have, and who else uses it."""
        return cluster_checks(request)

    def now(self) -> float:
        """Return UTC seconds since the epoch; steps of the wall clock do not change it."""
        return self._clock()

    def capacity(self, instance_type: str) -> int:
        """Return how many jobs of this type the cluster has room for; where nodes join by themselves, at least as many as are asked for.

        Raises:
            UserError: the type is malformed.
        """
        return max(self._room().count(parse_shape(instance_type)), MOST_ASKED if self._may_join else 0)

    def there_is(self) -> str:
        """Return what the cluster has, in words."""
        return there_is(self._nodes)

    def submit(self, job: JobSpec) -> None:
        """Put a job in the queue; see `Backend.submit`."""
        if self._closing:
            raise RuntimeError(f"{job.name} was submitted to a back-end that is closed")
        if job.name in self._names:
            raise ValueError(f"a job of the name {job.name!r} was submitted before")
        self._names.add(job.name)
        try:
            made = self._job(job)
            self._links.source(job)
        except UserError as error:
            self._events.append(Rejected(job.name, self.now(), Cause.BAD_REQUEST, str(error), Scope.INSTANCE_TYPE))
            return
        if not self._queue:
            self._waits_since = self.now()
        self._jobs[job.name] = made
        self._queue.append(made)
        self._admit()

    def stop(self, job: str, reason: Cause) -> None:
        """Let a job's node end it; one that waits leaves the queue."""
        found = self._jobs.get(job)
        if found is None:
            return
        if found.slot is not None:
            self._links.stop(found, reason)
            return
        self._queue.remove(found)
        self._end(found, Outcome.STOPPED, reason, "stopped before it started")

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return what happens next; see `Backend.wait`."""
        deadline = None if timeout_s is None else self.now() + timeout_s
        if self._is_closed:
            return []
        # What was returned before is in the journal by now, so that nodes need not keep it any longer.
        self._links.settle(self._heard)
        woken = False
        while not (self._events or woken):
            if deadline is None and not self._jobs:
                return []
            now = self.now()
            if deadline is not None and now >= deadline and self._inbox.empty():
                break
            ends = [at for at in (deadline, self._tidy(now)) if at is not None]
            woken = self._hear(max(0.0, min(ends) - now) if ends else None)
        while not self._inbox.empty():
            self._hear(0.0)
        events, self._events = self._events, []
        return events

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Report that the jobs of an earlier controller ended with it: its actors did, and they with these."""
        for job in jobs:
            self._names.add(job.spec.name)
            at = max(self.now(), job.last_event_at or 0.0)
            if not job.ended:
                self._events.append(Ended(job.spec.name, at))
            self._events.append(Closed(job.spec.name, at, Outcome.FAILED, Cause.CONTROLLER, "its controller ended, and it with it"))

    def discard(self, jobs: Sequence[str]) -> None:
        """Delete the models that closed jobs left, where they are on this machine."""
        for name in jobs:
            remove_folder(f"{self._folder}/jobs/{name}/model")

    def wake(self) -> None:
        """Make the current or the next `wait` return early."""
        self._inbox.put(_WAKE)

    def close(self, grace_s: float | None = None) -> list[str]:
        """Stop all jobs on their nodes, release everything, and return the names of jobs that could not be stopped."""
        if self._is_closed or os.getpid() != self._pid:
            return []
        grace_s = 0.0 if self._closing else (self._grace_s if grace_s is None else min(grace_s, self._grace_s))
        self._closing = True
        self._links.tell_all(FinishJobs(grace_s))
        give_up_at = time.monotonic() + grace_s + _CLOSE_S
        # Ray kills what an actor has started when it ends the actor, so that all are waited for; a cluster of this machine goes whole.
        running = self._links.nodes() if self._jobs or not self._is_own else set()
        while running - self._survivors.keys() and time.monotonic() < give_up_at:
            self._hear(0.1)
        survivors = [*dict.fromkeys(part_of(name)[0] for names in self._survivors.values() for name in names)]
        self._links.close()
        self._slots.close()
        self._is_closed = True
        self._connection.close()
        self._events.clear()
        self._jobs.clear()
        atexit.unregister(self.close)
        return survivors

    def _job(self, spec: JobSpec) -> RayJob:
        shape = parse_shape(spec.instance_type)
        if spec.endpoint is not None:
            raise UserError("endpoint: on a Ray cluster nothing is deployed")
        if not self._room().count(shape):
            self._nodes = self._connection.nodes()  # nodes may have joined
        room = self._room()
        bundle = room.bundle(shape, spec.exclusive)
        if bundle is None or not (self._may_join or room.count(shape, of_each=1) >= spec.instance_count):
            raise never_fits(spec.instance_type, shape, self._nodes, spec.instance_count)
        return RayJob(spec, key_of(bundle, spec.instance_count), shape.cpus, shape.memory_bytes)

    def _room(self) -> ClusterRoom:
        return ClusterRoom(self._nodes, self._may_join)

    def _hear(self, timeout_s: float | None) -> bool:
        """Take in one thing that happened; return whether somebody woke this thread."""
        try:
            said = self._inbox.get(timeout=timeout_s)
        except queue.Empty:
            return False
        if isinstance(said, NodeSaid) and self._links.get(said.node) is not None:
            self._take(said.node, said.batch)
            self._heard[said.node] = said.number
        elif isinstance(said, NodeAnswered):
            self._answered_at[said.node] = self.now()
        elif isinstance(said, NodeGone):
            self._lose(said)
        elif isinstance(said, (SlotReady, SlotFailed)):
            self._slots.hear(said, self.now())
        self._admit()
        return said is _WAKE

    def _take(self, node: str, batch: NodeBatch) -> None:
        now = self.now()
        clock = self._links.to(node).time
        clock.heard(batch.now, now)
        self._answered_at[node] = now
        for piece in batch.logs:
            job = self._jobs.get(part_of(piece.job)[0])
            if job is not None:
                job.write(piece, self._folder / "logs")
        freed: list[RayJob] = []
        for event in batch.events:
            name, rank = part_of(event.job)
            job = self._jobs.get(name)
            if job is None:
                if not name:
                    self._events.append(Noted("", now, text=getattr(event, "text", "")))
                continue
            here = job.here(event, clock, now)
            if not (isinstance(here, Closed) and not self._is_own and self._held.holds(node, rank, here, now)):
                self._tell(job, rank, here)
                freed = [*freed, job] if isinstance(event, Ended) else freed
            else:
                freed = [one for one in freed if one is not job]  # nothing is started on a node that may be going
        for job in freed:
            if job.ended:
                self._free(job)
        if batch.survivors is not None:
            self._survivors[node] = batch.survivors

    def _tell(self, job: RayJob, rank: int, event: Event) -> None:
        """Take in what happened to a part of a job, and let it be known where it is the job's."""
        found = job.parts.take(rank, event)
        if found is not None:
            self._events.append(dataclasses.replace(found, job=job.spec.name))
            if isinstance(found, Ended):
                job.ended = True
            elif isinstance(found, Closed):
                self._forget(job)
                return
        if job.parts.is_doomed and not job.is_ending:
            job.is_ending = True
            self._links.stop(job, Cause.INTERRUPTED)

    def _lose(self, gone: NodeGone) -> None:
        """Close the jobs of a node that is no more."""
        self._links.lose(gone.node)
        self._heard.pop(gone.node, None)
        self._survivors.setdefault(gone.node, ())
        self._held.forget(gone.node)
        self._nodes = self._connection.nodes()
        host = next((node.host for node in self._nodes if node.id == gone.node), "")
        self._slots.lose(gone.node)
        cause = Cause.DISK_FULL if "No space left" in gone.why else Cause.LOST
        what = f"its node {host or gone.node[:12]} {'could not run it' if host else 'died'}: {gone.why}"
        for job in [*self._jobs.values()]:
            for rank in job.ranks_on(gone.node):
                if rank in job.parts.open_ranks:
                    self._end(job, Outcome.FAILED, cause, what, rank)

    def _end(self, job: RayJob, outcome: Outcome, cause: Cause, message: str, rank: int = 0) -> None:
        at = max(self.now(), job.last_at)
        if not job.parts.has_ended(rank):
            self._tell(job, rank, Ended(job.spec.name, at))
        began_at = job.began_at
        billable_s = 0.0 if began_at is None else at - began_at
        ended_at = None if began_at is None else at
        self._tell(job, rank, Closed(job.spec.name, at, outcome, cause, message, began_at, ended_at, billable_s))

    def _forget(self, job: RayJob) -> None:
        job.close()
        self._free(job)
        del self._jobs[job.spec.name]

    def _free(self, job: RayJob) -> None:
        slot, job.kept = job.kept, None
        self._slots.free(slot, self.now())

    def _admit(self) -> None:
        """Start the jobs for which there are slots, and ask for slots for the others."""
        if self._closing:
            return
        for job in [*self._queue]:
            slot = self._slots.take(job.key)
            if slot is None:
                continue
            self._queue.remove(job)
            job.slot = job.kept = slot
            if not {node.id for node in self._nodes} >= {*slot.nodes}:
                self._nodes = self._connection.nodes()
            self._links.start(job, {node.id: node.address for node in self._nodes})
        self._slots.ask([job.key for job in self._queue])
        if not self._queue or len(self._queue) < len(self._jobs):
            self._waits_since = self.now()  # what runs makes room one day, so that nothing needs to be said

    def _tidy(self, now: float) -> float | None:
        """Give back slots that nobody needs, say what is waited for, and return when to look again."""
        for one in self._held.due(self._answered_at):
            job = self._jobs.get(part_of(one.closed.job)[0])
            if job is not None:
                self._tell(job, one.rank, one.closed)
        ends = [at for at in (self._slots.tidy(now, is_wanted=bool(self._queue)), self._held.next_look(now)) if at is not None]
        again = min(ends, default=None)
        if not self._queue or len(self._queue) < len(self._jobs):
            return again
        if now >= self._waits_since + _SAY_S:
            asked = self._queue[0].spec.instance_type
            text = waiting_for(asked, self._connection.free(), ClusterRoom(self._connection.nodes()).count(parse_shape(asked)) > 0)
            self._events += [] if text == self._said else [Noted("", now, text=text)]
            self._said, self._waits_since = text, now
        return min(self._waits_since + _SAY_S, math.inf if again is None else again)
