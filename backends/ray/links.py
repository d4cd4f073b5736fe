"""The links to the nodes of one experiment, each made when its node gets its first job, and what is brought to all of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from backends.failures import Cause
from backends.job_spec import JobSpec
from backends.processes.node_messages import NodeMessage, NodeSettings, StartJob, StopJob
from backends.ray.cluster import RayConnection
from backends.ray.job import RayJob
from backends.ray.nodes import AgentCode, LeftAgent, NodeLink, make_agent
from backends.ray.outliving import OutlivingActors
from backends.ray.parcel import own_code, parcel_of
from backends.ray.parts import part_name
from backends.ray.ranks import part_spec, rank_variables
from backends.ray.slots import Slot

_ROOT = Path(__file__).resolve().parents[2]


class NodeLinks:
    """The links of one experiment.

    Args:
        connection: to the cluster.
        settings: how jobs are run; where `folder` is relative, each node has its own below it.
        include: patterns of what belongs to the source though it would stay behind.
        post: takes what comes from nodes, in another thread.
        outliving: names of the actors that outlive this program; None where they end with it.
    """

    def __init__(
        self,
        connection: RayConnection,
        settings: NodeSettings,
        include: Sequence[str],
        post: Callable[[object], None],
        outliving: OutlivingActors | None = None,
    ) -> None:
        self._outliving, self._by = outliving, "" if outliving is None else outliving.by
        self._connection, self._settings, self._include, self._post = connection, settings, include, post
        self._links: dict[str, NodeLink] = {}
        self._code: tuple[str, Any] | None = None
        self._sources: dict[str, tuple[str, Any]] = {}

    def to(self, node: str) -> NodeLink:
        """Return the link to a node, made where there is none yet."""
        if node not in self._links:
            # Nodes may be one machine, as those of tests are: they share no folder, and no mark by which processes are found and ended.
            own = replace(self._settings, token=secrets.token_hex(8))
            if not self._connection.is_own:
                own = replace(own, folder=f"{own.folder}/{node[:16]}")
            options = {} if self._outliving is None else self._outliving.options(node)
            actor = make_agent(self._connection, node, AgentCode(*self.code()), self._by, options)
            self._links[node] = NodeLink(self._connection, node, actor, self._post, self._by)
            self._links[node].tell(own)
        return self._links[node]

    def adopt(self, node: str, left: LeftAgent) -> None:
        """Go on where an earlier controller was with a node."""
        link = self._links[node] = NodeLink(self._connection, node, left.actor, self._post, self._by, left.first)
        link.time.heard(left.now, left.asked_at)

    def code(self) -> tuple[str, str, Any]:
        """Return where our code is: a folder of nodes; or empty, its digest, and its place in the cluster."""
        if self._connection.is_own:
            return str(_ROOT), "", None
        if self._code is None:
            code = own_code()
            self._code = code.digest, self._connection.ray.put(code.archive)
        return "", *self._code

    def get(self, node: str) -> NodeLink | None:
        """Return the link to a node; None where there is none."""
        return self._links.get(node)

    def nodes(self) -> set[str]:
        """Return the nodes that have a link."""
        return {*self._links}

    def lose(self, node: str) -> None:
        """Forget a node that is no more, or whose agent cannot go on: what runs there ends, as its jobs are told to have ended."""
        link = self._links.pop(node, None)
        if link is not None:
            link.end()

    def tell_all(self, message: NodeMessage) -> None:
        """Send a message to all nodes that have a link."""
        for link in self._links.values():
            link.tell(message)

    def start(self, job: RayJob, addresses: Mapping[str, str]) -> None:
        """Start the first part of a job on the first node of its slot.

        Args:
            job: that has one.
            addresses: of nodes, by id.
        """
        if job.slot is not None:
            job.unsent = range(1, len(job.slot.nodes))
            job.addresses = [addresses.get(node, "") for node in job.slot.nodes]
            self._send(job, job.slot, (0,))

    def start_others(self, job: RayJob) -> None:
        """Start the other parts of a job, as the first, which has cleared or copied the checkpoint, has started."""
        ranks, job.unsent = job.unsent, ()
        if job.slot is not None:
            self._send(job, job.slot, ranks)

    def _send(self, job: RayJob, slot: Slot, ranks: Sequence[int]) -> None:
        digest, archive = self.source(job.spec)
        for rank in ranks:
            part = StartJob(
                part_spec(job.spec, rank),
                job.cores,
                slot.gpus[rank] if slot.gpus else (),
                job.memory_bytes,
                f"content/{digest}" if digest else "",
                rank_variables(job.spec.name, rank, job.addresses),
            )
            name = part_name(job.spec.name, rank)
            self.to(slot.nodes[rank]).tell(part, digest, archive, None if self._outliving is None else (name, slot.place()))

    def stop(self, job: RayJob, reason: Cause) -> None:
        """End the parts of a job that are open."""
        for rank in {*job.parts.open_ranks} - {*job.unsent}:
            link = self.get(job.slot.nodes[rank]) if job.slot is not None else None
            if link is not None:
                link.tell(StopJob(part_name(job.spec.name, rank), reason))

    def settle(self, heard: Mapping[str, int]) -> None:
        """Let nodes forget what they said up to these numbers, as nobody will ask for it again."""
        for node, number in heard.items():
            if node in self._links:
                self._links[node].settled = number

    def source(self, spec: JobSpec) -> tuple[str, Any]:
        """Return the digest and the place of a job's source in the cluster; empty where nodes have it anyway.

        Raises:
            UserError: it cannot be brought.
        """
        if self._connection.is_own or not spec.source_dir:
            return "", b""
        if spec.source_dir not in self._sources:
            parcel = parcel_of(Path(spec.source_dir), self._include)
            self._sources[spec.source_dir] = parcel.digest, self._connection.ray.put(parcel.archive)
        return self._sources[spec.source_dir]

    def let_go(self) -> None:
        """Leave all actors, with what runs there, to whoever takes them over."""
        for link in [*self._links.values()]:
            link.let_go()
        self._links.clear()

    def close(self) -> None:
        """Release all actors, with what still runs there."""
        for link in [*self._links.values()]:
            link.close()
        self._links.clear()
