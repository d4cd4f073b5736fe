"""The controller's side of the agents, one for each node that has jobs: each has a thread that listens to it."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backends.failures import says_disk_full
from backends.processes.node_messages import NodeBatch, NodeMessage, batch_of, framed
from backends.ray import agent
from backends.ray.cluster import RayConnection
from backends.ray.node_time import NodeTime

_WAIT_S = 5.0
_PATIENCE_S = 120.0
_AGAIN_S = 0.5
_LAST_S = 2.0
_DISK_FULL = ("OutOfDiskError", "disk's utilization is over capacity")
"""Ray's own words for it."""
SCRATCH = "outrider-ray"
"""Name of the folder among a node's temporary files."""


@dataclass(frozen=True)
class NodeSaid:
    """A batch that came from a node."""

    node: str
    number: int
    batch: NodeBatch


@dataclass(frozen=True)
class NodeAnswered:
    """A node has nothing to say, and is there."""

    node: str


@dataclass(frozen=True)
class NodeGone:
    """A node, or what Outrider has there, is no more."""

    node: str
    why: str


@dataclass(frozen=True)
class LeftAgent:
    """An agent that an earlier controller has left.

    Args:
        actor: Ray's handle.
        first: number of the next message to it.
        jobs: where each job that was started there has its room, by name.
        now: its clock, when it was asked.
        asked_at: the controller's then.
    """

    actor: Any
    first: int
    jobs: Mapping[str, Any]
    now: float
    asked_at: float


@dataclass(frozen=True)
class AgentCode:
    """What an agent is made with: where our code is on its node; or empty, and the digest and a reference to an archive of it."""

    root: str
    digest: str = ""
    archive: Any = None


def make_agent(connection: RayConnection, node: str, code: AgentCode, by: str, options: Mapping[str, Any]) -> Any:
    """Return a new agent on a node.

    Args:
        connection: to the cluster.
        node: its id.
        code: what it is made with.
        by: names this controller.
        options: Ray's of the actor, beside those that all have.
    """
    ray = connection.ray
    ray.cloudpickle.register_pickle_by_value(agent)
    where = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node_id=node, soft=False)
    made = ray.remote(agent.NodeAgent).options(num_cpus=0, max_concurrency=8, max_restarts=0, scheduling_strategy=where, **options)
    archive = b"" if code.archive is None else code.archive
    return made.remote(connection.scratch or SCRATCH, code.root, code.digest, archive, by)


class NodeLink:
    """The way to one node.

    Args:
        connection: to the cluster.
        node: its id.
        actor: the agent there.
        post: takes what comes from the node, in another thread.
        by: names this controller.
        first: number of the first message.
    """

    def __init__(
        self, connection: RayConnection, node: str, actor: Any, post: Callable[[object], None], by: str = "", first: int = 1
    ) -> None:
        self.node, self._connection, self._actor, self._post, self._by = node, connection, actor, post, by
        self.time = NodeTime()
        self.settled = 0
        self._numbers = itertools.count(first)
        self._brought: set[str] = set()
        self._last_told: Any = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._listen, name=f"node-{node[:8]}", daemon=True)
        self._thread.start()

    def tell(self, message: NodeMessage, digest: str = "", archive: Any = b"", job: tuple[str, Any] | None = None) -> None:
        """Send a message; they arrive in their order.

        Args:
            message: what to say.
            digest: of a folder that it needs there; empty for none.
            archive: reference to that folder's content, which is brought once.
            job: name of the job that it starts, and where it has its room.
        """
        if digest in self._brought:
            digest, archive = "", b""
        elif digest:
            self._brought.add(digest)
        # A message that was lost on its way is sent again, which changes nothing where it was not: they are numbered.
        tell = self._actor.tell.options(max_task_retries=-1)
        self._last_told = tell.remote(next(self._numbers), framed(message), digest, archive, job, self._by)

    def close(self) -> None:
        """Release the actor, with what still runs there, once it has heard what it was told."""
        self.let_go()
        self._connection.ray.kill(self._actor)

    def end(self) -> None:
        """Release the actor at once, with what still runs there; its name is free then."""
        self._is_closed = True
        with contextlib.suppress(Exception):  # it is gone, or its cluster
            self._connection.ray.kill(self._actor)

    def let_go(self) -> None:
        """Listen no more, and leave the actor with what runs there to whoever takes it over."""
        self._is_closed = True
        if self._last_told is not None:
            self._connection.ray.wait([self._last_told], timeout=_LAST_S)  # else Ray says on the terminal that it was not delivered

    def _listen(self) -> None:
        ray, taken = self._connection.ray, 0
        while not self._is_closed:
            try:
                found = ray.get(self._actor.take.remote(self.settled, taken, _WAIT_S, self._by), timeout=_PATIENCE_S)
            except (ray.exceptions.GetTimeoutError, ray.exceptions.ActorUnavailableError):
                time.sleep(_AGAIN_S)
                continue
            except Exception as error:  # noqa: BLE001 (whatever it is, nothing more comes from there)
                if not self._is_closed:
                    self._post(NodeGone(self.node, in_a_line(error)))
                return
            if not found:
                self._post(NodeAnswered(self.node))
            for number, content in found:
                taken = number
                self._post(NodeSaid(self.node, number, batch_of(content)))


def is_disk_full(why: str) -> bool:
    """Return whether a node, or Ray there, went for want of room on its disk."""
    return says_disk_full(why) or any(words in why for words in _DISK_FULL)


def in_a_line(error: Exception) -> str:
    """Return what a call to an actor failed of, in a line: of several the one that says that a disk is full, else the first."""
    cause = getattr(error, "cause", None) or error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    told = next((line for line in lines if is_disk_full(line)), lines[0] if lines else "")
    return f"{type(cause).__name__}: {told}"[:400]
