"""What a cluster has, never has, and has not now, in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backends.ray.cluster import ClusterNode
from backends.ray.shapes import RayShape, fits, whole_node_cpus
from definitions.errors import UserError
from definitions.quantities import size_text

ADVICE = "ask for less, or add such a node; `ray: {autoscaling: true}` where the cluster does by itself"
"""What to do where no node has as much as is asked for."""


@dataclass(frozen=True)
class ClusterRoom:
    """What there is for jobs.

    Args:
        nodes: those that are alive.
        may_join: whether others join by themselves, so that what these have no room for is waited for.
    """

    nodes: Sequence[ClusterNode]
    may_join: bool = False

    def bundle(self, shape: RayShape, exclusive: bool = False, count: int = 1) -> dict[str, float] | None:
        """Return what a job asks of Ray, alone on its nodes or not; None where no node has a resource of the name, and none may join.

        Raises:
            UserError: it cannot be alone on so many nodes.
        """
        resources = [node.resources for node in self.nodes]
        found = shape.bundle({name for one in resources for name in one}, may_join=self.may_join)
        whole = whole_node_cpus(found, resources, count) if found is not None and exclusive else None
        if found is not None and whole is not None:
            found["CPU"], is_alone = whole
            if not is_alone:
                raise _not_alone(count, found["CPU"], self.nodes)
        return found

    def count(self, shape: RayShape, of_each: int | None = None) -> int:
        """Return how many jobs the nodes have room for with nothing else running; of each node at most `of_each`, where that is given."""
        found = self.bundle(shape)
        return 0 if found is None else fits(found, [node.resources for node in self.nodes], of_each)


def there_is(nodes: Sequence[ClusterNode]) -> str:
    """Return what nodes have, each kind once: `2 nodes: 2 with 4 CPUs, no GPU, 16.0 GiB`."""
    kinds: dict[str, int] = {}
    for node in nodes:
        gpus = int(node.resources.get("GPU", 0))
        named = sorted(name.partition(":")[2] for name in node.resources if name.startswith("accelerator_type:"))
        named += sorted(name for name in node.resources if ":" not in name and name not in ("CPU", "GPU", "memory", "object_store_memory"))
        words = [
            f"{node.resources.get('CPU', 0):g} CPUs",
            f"{gpus or 'no'} GPU{'s' * (gpus > 1)}",
            size_text(int(node.resources.get("memory", 0))),
        ]
        text = ", ".join([*words, *named])
        kinds[text] = kinds.get(text, 0) + 1
    listed = "; ".join(f"{count} with {text}" for text, count in kinds.items())
    return f"{len(nodes)} node{'s' * (len(nodes) != 1)}: {listed}" if nodes else "no node"


def _not_alone(count: int, cpus: float, nodes: Sequence[ClusterNode]) -> UserError:
    fact = f"not so many nodes are as large as the largest, and on a larger one what asks for {cpus:g} CPUs may have others beside it; "
    advice = "ask for fewer instances, for a resource that only nodes alike have, or leave `exclusive` out"
    return UserError(f"exclusive: no job can be alone on {count} nodes", f"{fact}the cluster has {there_is(nodes)}", advice)


def never_fits(instance_type: str, shape: RayShape, nodes: Sequence[ClusterNode], count: int = 1) -> UserError:
    """Return the refusal of a type that no node has room for, or not so many nodes as a job is to have."""
    names = {name.lower() for node in nodes for name in node.resources}
    lacks = shape.named and not {shape.named, f"accelerator_type:{shape.named}"} & names
    of_many = "not so many nodes have as much; " if count > 1 else "no node has as much; "
    why = f"no node has {shape.named!r}; " if lacks else of_many
    instance_type = f"{instance_type} on {count} nodes" if count > 1 else instance_type
    return UserError(f"{instance_type} does not fit", f"{why}the cluster has {there_is(nodes)}", ADVICE)


def used_by_others(nodes: Sequence[ClusterNode], free: Mapping[str, float], promised: Mapping[str, float]) -> bool:
    """Return whether others have cores or GPUs of the cluster.

    Args:
        nodes: those that are alive.
        free: what of the cluster nobody has now.
        promised: what it may hold for the jobs that wait, so that it is neither free nor anybody else's.
    """
    has = {name: sum(node.resources.get(name, 0.0) for node in nodes) for name in ("CPU", "GPU")}
    return any(count - free.get(name, 0.0) > promised.get(name, 0.0) for name, count in has.items())


def waiting_for(instance_type: str, free: Mapping[str, float], has_such: bool = True, others: bool = True) -> str:
    """Return what jobs wait for.

    Args:
        instance_type: of the job that is to be next.
        free: what of the cluster nobody has now.
        has_such: whether a node has as much with nothing else running.
        others: whether others have cores or GPUs of the cluster.
    """
    if not has_such:
        return f"waiting for a node to join that has room for {instance_type}: none has as much"
    if not others:
        return f"waiting for Ray to make the room that there is for {instance_type}; nobody else uses the cluster"
    left = f"{free.get('CPU', 0):g} CPUs" + (f" and {free['GPU']:g} GPUs" if "GPU" in free else "")
    return f"waiting for room: {instance_type} on one node; the cluster has {left} free, others use the rest"


def room_gone_text(jobs: int) -> str:
    """Return what people are told where the room of an experiment is gone while this many of its jobs are in it."""
    text = "what held this experiment's room on the Ray cluster has gone with its node, and room is asked for anew"
    return f"{text}; {jobs} jobs go on, and the cluster may give others what they use" if jobs else text
