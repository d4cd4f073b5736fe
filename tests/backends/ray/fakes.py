"""A cluster and the way to its nodes as lists, for what is decided without either."""

from __future__ import annotations

from backends.job_spec import JobSpec
from backends.ray.cluster import ClusterNode
from backends.ray.job import RayJob
from backends.ray.node_time import NodeTime
from backends.ray.slots import Slot, SlotBook, SlotReady, key_of


class Cluster:
    """A connection to nodes of four cores each."""

    def __init__(self, *names: str) -> None:
        self.there = [ClusterNode(name, f"host-{name}", {"CPU": 4.0}, f"10.0.0.{number}") for number, name in enumerate(names)]

    def nodes(self) -> list[ClusterNode]:
        return list(self.there)

    def free(self) -> dict[str, float]:
        return {"CPU": 0.0}


class Links:
    """Ways to nodes, which remember what went over them."""

    def __init__(self) -> None:
        self.time = NodeTime()
        self.lost: set[str] = set()
        self.started: list[tuple[str, tuple[str, ...]]] = []
        self.stopped: list[str] = []

    def get(self, node: str) -> Links | None:
        return None if node in self.lost else self

    def lose(self, node: str) -> None:
        self.lost.add(node)

    def source(self, spec: JobSpec) -> tuple[str, bytes]:
        return "", b""

    def start(self, job: RayJob, addresses: dict[str, str]) -> None:
        self.started.append((job.spec.name, tuple(addresses[node] for node in job.slot.nodes)))

    def stop(self, job: RayJob, reason: object) -> None:
        self.stopped.append(job.spec.name)


class Desk:
    """A book of slots that a test fills."""

    def __init__(self) -> None:
        self.asked: list[Slot] = []
        self.given_back: list[Slot] = []
        self.book = SlotBook(None, lambda said: None, self._ask, lambda connection, slot: self.given_back.append(slot))

    def _ask(self, connection, key, post) -> Slot:
        self.asked.append(Slot(key, None))
        return self.asked[-1]

    def ready(self, *nodes: str, number: int = -1, now: float = 1.0) -> Slot:
        """Let a slot that was asked for have its room."""
        self.asked[number].nodes = nodes
        self.book.hear(SlotReady(self.asked[number]), now)
        return self.asked[number]


def placed(name: str, *nodes: str) -> RayJob:
    """Return a job that runs on nodes."""
    key = key_of({"CPU": 1.0}, len(nodes))
    job = RayJob(JobSpec(name, 0, 1, "/s/main.py", instance_type="ray.1cpu", instance_count=len(nodes)), key, 1)
    job.slot = job.kept = Slot(key, None, nodes)
    return job
