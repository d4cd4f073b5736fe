"""Runs jobs on the nodes of a Ray cluster: Ray says where there is room, a process of ours on each node runs them as on any machine."""

from __future__ import annotations

import atexit
import logging
import math
import os
import queue
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.capabilities import Capabilities
from backends.checkpoint_store import CheckpointStore
from backends.checks import Check, CheckRequest
from backends.common.clock import SteadyClock
from backends.common.disk import remove_folder
from backends.events import Event, Noted, Rejected, Scope
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.processes.checkpoints import LocalCheckpoints
from backends.processes.node_messages import FinishJobs, NodeSettings
from backends.ray.admission import Admission
from backends.ray.adoption import Fate, end_of, ends_with_controller, fate_of, going_on, places_of, taken_over_text
from backends.ray.checks import cluster_checks
from backends.ray.closing import silent_text
from backends.ray.cluster import RayConnection
from backends.ray.description import DEFAULT_GRACE_S, DESCRIPTION, RayBlock
from backends.ray.happenings import RayJobs
from backends.ray.head import WAIT_S, HeadBack, HeadGone, HeadWatch, gone_text
from backends.ray.links import NodeLinks
from backends.ray.mirror import PlaceInS3
from backends.ray.nodes import NodeAnswered, NodeGone, NodeSaid
from backends.ray.outliving import OutlivingActors
from backends.ray.own_machine import MachineLease
from backends.ray.parcel import checked
from backends.ray.parts import part_of
from backends.ray.room import room_gone_text, there_is
from backends.ray.shapes import parse_shape
from backends.ray.slots import MOST_ASKED, RoomGone, Slot, SlotBook, SlotFailed, SlotReady, ask_for_slot
from backends.sagemaker.aws.clients import Clients
from backends.worker_needs import WorkerNeeds
from definitions.errors import UserError
from definitions.instance_tables import LISTED_REGION

_CLOSE_S, _HURRY_S = 20.0, 3.0
"""Seconds beyond the grace in which nodes say that all has ended there; the latter where somebody asks for the second time."""
_WAKE = object()
_logger = logging.getLogger(__name__)


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
        checkpoints: folder that all nodes can reach, or a place in S3; None where there is none.
        include: patterns of what belongs to the source though it would stay behind.
        autoscaling: whether nodes join by themselves, so that what no node has is waited for.
        detach: whether jobs go on where this program ends without ending them, for another to take over.
        head_wait_s: seconds that a head which does not answer is waited for.
        tag: of the experiment, by which others on this machine are told who holds its cores.

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
        checkpoints: Path | PlaceInS3 | None = None,
        include: Sequence[str] = (),
        autoscaling: bool = False,
        detach: bool = False,
        head_wait_s: float = WAIT_S,
        tag: str = "",
    ) -> None:
        self._folder = folder.absolute()
        inherited = dict(os.environ if environment is None else environment)
        self._connection = RayConnection(address, inherited)
        self._is_own, self._may_join = self._connection.is_own, autoscaling
        for part in ("jobs", "logs"):
            (self._folder / part).mkdir(parents=True, exist_ok=True)
        kept = checkpoints or (self._folder / "checkpoints" if self._is_own else None)
        self.checkpoints: CheckpointStore = (
            kept.store if isinstance(kept, PlaceInS3) else LocalCheckpoints(kept or self._folder / "checkpoints")
        )
        self.capabilities = Capabilities(checkpoints=kept is not None, survives_controller=detach)
        self._clock = SteadyClock()
        self._inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        name = name or secrets.token_hex(8)
        where = str(self._folder) if self._is_own else f"experiments/{name}"
        self._grace_s = grace_s
        self._machine = MachineLease(inherited, tag) if self._is_own else None
        settings = NodeSettings(
            where,
            secrets.token_hex(8),
            grace_s,
            inherited if self._is_own else None,
            python,
            tuple(preload),
            "" if kept is None else str(kept),
            sends_logs=not self._is_own,
            store=kept.way() if isinstance(kept, PlaceInS3) else {},
        )
        self._outliving = OutlivingActors(self._connection, name, lambda: self._inbox.put(RoomGone())) if detach else None
        self._links = NodeLinks(self._connection, settings, include, self._inbox.put, self._outliving)
        self._names: set[str] = set()
        room = None if self._outliving is None else self._outliving.room
        self._slots = SlotBook(self._connection, self._inbox.put, partial(ask_for_slot, room=room))
        self._jobs = RayJobs(self._links, self._slots, self.now, self._folder / "logs", holds=not self._is_own, notes=detach)
        self._admission = Admission(self._connection, self._links, self._slots, may_join=autoscaling)
        self._pid, self._closing, self._is_closed = os.getpid(), False, False
        self._head_wait_s, self._head_gone_at = head_wait_s, math.inf
        self._head = HeadWatch(self._connection.head, self._inbox.put) if self._connection.head else None
        atexit.register(self.close)
        if self._is_own:
            self._links.to(self._admission.nodes[0].id)  # its process starts while the first job is still thought of

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
            checkpoints=_kept(block.checkpoints, context) if block.checkpoints else None,
            include=definition.include,
            autoscaling=bool(block.autoscaling),
            detach=bool(block.detach),
            tag=context.tag,
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
        return max(self._admission.room.count(parse_shape(instance_type)), MOST_ASKED if self._may_join else 0)

    def there_is(self) -> str:
        """Return what the cluster has, in words."""
        return f"the cluster has {there_is(self._admission.nodes)}"

    def reserve(self, needs: WorkerNeeds, waiting: Callable[[str], None], given_up: Callable[[], bool]) -> None:
        """Lease of this machine what all workers need, where its own cluster runs them; see `Backend.reserve`."""
        if self._machine is not None:
            self._machine.reserve(needs, waiting, given_up, self._hear)

    def submit(self, job: JobSpec) -> None:
        """Put a job in the queue; see `Backend.submit`."""
        if self._closing:
            raise RuntimeError(f"{job.name} was submitted to a back-end that is closed")
        if job.name in self._names:
            raise ValueError(f"a job of the name {job.name!r} was submitted before")
        self._names.add(job.name)
        self._put(job)

    def _put(self, job: JobSpec) -> None:
        try:
            made = self._admission.made(job)
        except UserError as error:
            self._jobs.events.append(Rejected(job.name, self.now(), Cause.BAD_REQUEST, str(error), Scope.INSTANCE_TYPE))
            return
        self._jobs.open[job.name] = made
        self._admission.put(made, self.now())
        self._admit()

    def stop(self, job: str, reason: Cause) -> None:
        """Let a job's node end it; one that waits leaves the queue."""
        found = self._jobs.open.get(job)
        if found is None:
            return
        if found.slot is not None:
            self._jobs.stop(found, reason)
            return
        self._admission.leave(found)
        self._jobs.end(found, Outcome.STOPPED, reason, "stopped before it started")

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return what happens next; see `Backend.wait`."""
        deadline = None if timeout_s is None else self.now() + timeout_s
        if self._is_closed:
            return []
        # What was returned before is in the journal by now, so that nodes need not keep it any longer.
        self._links.settle(self._jobs.settled())
        woken = False
        while not (self._jobs.events or woken):
            if deadline is None and not self._jobs.open:
                return []
            now = self.now()
            if deadline is not None and now >= deadline and self._inbox.empty():
                break
            ends = [at for at in (deadline, self._tidy(now)) if at is not None]
            woken = self._hear(max(0.0, min(ends) - now) if ends else None)
        while not self._inbox.empty():
            self._hear(0.0)
        events, self._jobs.events = self._jobs.events, []
        return events

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Go on with jobs that outlived an earlier controller, or report that they ended with it: its actors did, and they with these."""
        self._names.update(job.spec.name for job in jobs)
        if self._outliving is None:
            self._jobs.events += [event for job in jobs for event in ends_with_controller(job, self.now())]
            return
        left = self._outliving.left()
        for node, agent in left.items():
            self._links.adopt(node, agent)
        held: dict[str, Slot] = {}
        taken_over = 0
        for job in jobs:
            places = places_of(job, left)
            fate = fate_of(job, is_known=bool(places))
            if fate is Fate.GOES_ON:
                self._go_on(job, places, self._outliving, held)
                taken_over += 1
            elif fate is Fate.ANEW:
                self._put(job.spec)
            else:
                self._jobs.events += end_of(job, fate, self.now())
        if taken_over:
            self._jobs.events.append(Noted("", self.now(), text=taken_over_text(taken_over, len(jobs))))

    def _go_on(self, adopted: AdoptedJob, places: Mapping[int, Any], outliving: OutlivingActors, held: dict[str, Slot]) -> None:
        place = next(iter(places.values()))
        job = self._jobs.open[adopted.spec.name] = going_on(adopted, place)
        if not job.ended and job.slot is not None and outliving.has_room(job.slot.group):
            # Of jobs that had the same room one after the other, all but the last have ended, whoever has heard of it.
            job.slot = job.kept = held.setdefault(place["id"], job.slot)
            self._slots.adopt(job.kept)
        for rank in {*job.parts.open_ranks} - places.keys():
            self._jobs.end(job, Outcome.FAILED, Cause.LOST, "its node was gone when this controller came", rank)
        if adopted.stop_requested_at is not None:
            self._jobs.stop(job, adopted.stop_reason or Cause.INTERRUPTED)

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
        if not math.isinf(self._head_gone_at):
            # Actors of a program that ends have ended too when their head is back, unless they outlive it.
            names = [*self._jobs.open]
            self._connection.abandon()
            self._release()
            return names
        is_again, self._closing = self._closing, True
        wait_s = _CLOSE_S if grace_s is None and not is_again else _HURRY_S  # beyond the grace, which whoever is in a hurry has shortened
        grace_s = 0.0 if is_again else (self._grace_s if grace_s is None else min(grace_s, self._grace_s))
        self._links.tell_all(FinishJobs(grace_s))
        give_up_at = time.monotonic() + grace_s + wait_s
        # Ray kills what an actor has started when it ends the actor, so that all are waited for; a cluster of this machine goes whole.
        running = self._links.nodes() if self._jobs.open or not self._is_own else set()
        while running - self._jobs.survivors.keys() and time.monotonic() < give_up_at:
            self._hear(0.1)
        survivors = [part_of(name)[0] for names in self._jobs.survivors.values() for name in names]
        # What a node that says nothing has left to run is not known; a cluster of this machine goes whole.
        silent = set() if self._is_own else running - self._jobs.survivors.keys()
        for node in silent:
            if left := self._jobs.left_on({node}):
                host = next((one.host for one in self._admission.nodes if one.id == node), node[:12])
                _logger.error("%s", silent_text(host, left, grace_s + wait_s))
                survivors += left
            self._links.lose(node)  # it will not say that it has heard
        self._links.close()
        self._slots.close()
        if self._outliving is not None:
            self._outliving.close()
        self._release()
        return [*dict.fromkeys(survivors)]

    def detach(self) -> list[str]:
        """Leave jobs that outlive this program to whoever takes them over; others are stopped."""
        if self._outliving is None or self._is_closed:
            return self.close()
        self._slots.close(but_busy=True)
        self._links.let_go()
        self._outliving.let_go()
        self._release()
        return []

    def _given_up(self) -> UserError:
        asked = f"the head of the Ray cluster at {self._connection.head} does not answer"
        return UserError(asked, f"it was waited for, for {self._head_wait_s:g} s", "`--resume` goes on once it is back")

    def _release(self) -> None:
        if self._head is not None:
            self._head.close()
        self._closing = self._is_closed = True
        self._connection.close()
        if self._machine is not None:
            self._machine.release()
        self._jobs.events.clear()
        self._jobs.open.clear()
        atexit.unregister(self.close)

    def _hear(self, timeout_s: float | None) -> bool:
        """Take in one thing that happened; return whether somebody woke this thread."""
        try:
            said = self._inbox.get(timeout=timeout_s)
        except queue.Empty:
            return False
        if isinstance(said, NodeSaid):
            self._jobs.take(said.node, said.number, said.batch)
        elif isinstance(said, NodeAnswered):
            self._jobs.answered(said.node)
        elif isinstance(said, NodeGone):
            self._admission.look()
            self._jobs.lose(said, next((node.host for node in self._admission.nodes if node.id == said.node), ""))
        elif isinstance(said, (SlotReady, SlotFailed)):
            self._slots.hear(said, self.now())
        elif isinstance(said, RoomGone):
            self._jobs.events.append(Noted("", self.now(), text=room_gone_text(self._slots.lose_all())))
        elif isinstance(said, (HeadGone, HeadBack)):
            self._hear_of_head(said)
        self._admit()
        return said is _WAKE

    def _hear_of_head(self, said: HeadGone | HeadBack) -> None:
        address, now = self._connection.head, self.now()
        is_gone = isinstance(said, HeadGone)
        self._head_gone_at = now if is_gone else math.inf
        text = gone_text(address, said.why, self._head_wait_s) if isinstance(said, HeadGone) else f"the head at {address} answers again"
        self._jobs.events.append(Noted("", now, text=text))

    def _admit(self) -> None:
        if not self._closing and math.isinf(self._head_gone_at):  # else it would wait for the head, in silence
            self._admission.admit(self.now(), len(self._jobs.open))

    def _tidy(self, now: float) -> float | None:
        """Do what is due by now, and return when something is due again; raises `UserError` where the head has been gone for too long."""
        looks_at = self._jobs.tidy(now)
        if not math.isinf(self._head_gone_at):
            give_up_at = self._head_gone_at + self._head_wait_s
            if now >= give_up_at:
                raise self._given_up()
            return min(give_up_at, math.inf if looks_at is None else looks_at)
        gives_back_at, noted = self._admission.tidy(now, len(self._jobs.open))
        self._jobs.events += [noted] if noted is not None else []
        return min((at for at in (looks_at, gives_back_at) if at is not None), default=None)


def _kept(checkpoints: str, context: BackendContext) -> Path | PlaceInS3:
    if not checkpoints.startswith("s3://"):
        return Path(checkpoints, context.prefix)
    return PlaceInS3(checkpoints.rstrip("/"), f"{context.tag}/{context.prefix}", Clients(None, context.environ), context.environ)
