"""The jobs that wait for room on a Ray cluster: what they ask for, when they start, and what is said while they wait."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from backends.events import Noted
from backends.job_spec import JobSpec
from backends.ray.cluster import ClusterNode, RayConnection
from backends.ray.job import RayJob
from backends.ray.links import NodeLinks
from backends.ray.room import ClusterRoom, never_fits, used_by_others, waiting_for
from backends.ray.shapes import parse_shape
from backends.ray.slots import SlotBook, key_of
from definitions.errors import UserError

_SAY_S = 3.0


class Admission:
    """Starts jobs in the order of their submission, as slots become theirs.

    Args:
        connection: to the cluster.
        links: to the nodes.
        slots: of the experiment.
        may_join: whether nodes join by themselves, so that what none has is waited for.
    """

    def __init__(self, connection: RayConnection, links: NodeLinks, slots: SlotBook, *, may_join: bool) -> None:
        self._connection, self._links, self._slots, self._may_join = connection, links, slots, may_join
        self.nodes: Sequence[ClusterNode] = connection.nodes()
        """Those that were alive when somebody looked."""
        self._queue: deque[RayJob] = deque()
        self._waits_since, self._said = 0.0, ""

    @property
    def room(self) -> ClusterRoom:
        """What there is for jobs."""
        return ClusterRoom(self.nodes, self._may_join)

    def look(self) -> None:
        """Look at which nodes are alive."""
        self.nodes = self._connection.nodes()

    def made(self, spec: JobSpec) -> RayJob:
        """Return the job that is asked for.

        Raises:
            UserError: no node has room for it, or what it asks for is nothing of a Ray cluster.
        """
        shape = parse_shape(spec.instance_type)
        if spec.endpoint is not None:
            raise UserError("endpoint: on a Ray cluster nothing is deployed")
        if not self.room.count(shape):
            self.look()  # nodes may have joined
        bundle = self.room.bundle(shape, spec.exclusive, spec.instance_count)
        if bundle is None or not (self._may_join or self.room.count(shape, of_each=1) >= spec.instance_count):
            raise never_fits(spec.instance_type, shape, self.nodes, spec.instance_count)
        self._links.source(spec)
        return RayJob(spec, key_of(bundle, spec.instance_count), shape.cpus, shape.memory_bytes)

    def put(self, job: RayJob, now: float) -> None:
        """Let a job wait for its turn."""
        if not self._queue:
            self._waits_since = now
        self._queue.append(job)

    def leave(self, job: RayJob) -> None:
        """Take a job that waits out of the queue."""
        self._queue.remove(job)

    def admit(self, now: float, jobs: int) -> None:
        """Start jobs for which there are slots, and ask for slots for the others; `jobs`: how many are open, waiting ones included."""
        for job in [*self._queue]:
            slot = self._slots.take(job.key)
            if slot is None:
                continue
            self._queue.remove(job)
            job.slot = job.kept = slot
            if not {node.id for node in self.nodes} >= {*slot.nodes}:
                self.look()
            self._links.start(job, {node.id: node.address for node in self.nodes})
        self._slots.ask([job.key for job in self._queue])
        if not self._queue or len(self._queue) < jobs:
            self._waits_since = now  # what runs makes room one day, so that nothing needs to be said

    def tidy(self, now: float, jobs: int) -> tuple[float | None, Noted | None]:
        """Give back slots that nobody needs, and return when to look again, and what is waited for where that is to be said now."""
        again = self._slots.tidy(now, is_wanted=bool(self._queue))
        if not self._queue or len(self._queue) < jobs:
            return again, None
        said = None
        if now >= self._waits_since + _SAY_S:
            asked = self._queue[0].spec.instance_type
            nodes, free = self._connection.nodes(), self._connection.free()
            has_such = ClusterRoom(nodes).count(parse_shape(asked)) > 0
            text = waiting_for(asked, free, has_such, used_by_others(nodes, free, self._slots.promised()))
            said = None if text == self._said else Noted("", now, text=text)
            self._said, self._waits_since = text, now
        return min(self._waits_since + _SAY_S, math.inf if again is None else again), said
