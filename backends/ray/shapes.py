"""What a job asks a Ray cluster for, by the names that instance types have there, and where it fits. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from definitions.errors import UserError

_PART = re.compile(r"(\d+)(cpu|gpu|gib|mib)")
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_UNITS = {"gib": 1024**3, "mib": 1024**2}
_ACCELERATOR = "accelerator_type:"
_A_LITTLE = 0.001
"""What Ray's own users ask for of a resource that only says what a node has."""


@dataclass(frozen=True)
class RayShape:
    """Resources of one node.

    Args:
        cpus, gpus: how many; `memory_bytes`: None where it is not limited.
        named: an accelerator or a resource of the cluster's own, in small letters; empty for none.
    """

    cpus: int
    gpus: int = 0
    memory_bytes: int | None = None
    named: str = ""

    def bundle(self, resources: Iterable[str], cpus: float | None = None, may_join: bool = False) -> dict[str, float] | None:
        """Return what is asked of Ray, or None where the cluster has no resource of the name.

        Args:
            resources: names of all that the cluster has.
            cpus: in place of the shape's own, for a job that has its node to itself.
            may_join: whether a node with a resource of the name may join: an accelerator where GPUs are asked for, else one of its own.
        """
        found: dict[str, float] = {"CPU": float(self.cpus if cpus is None else cpus)}
        if self.gpus:
            found["GPU"] = float(self.gpus)
        if self.memory_bytes is not None:
            found["memory"] = float(self.memory_bytes)
        if self.named:
            resource = next((name for name in resources if name.lower() in (self.named, _ACCELERATOR + self.named)), None)
            if resource is None and may_join:
                resource = _ACCELERATOR + self.named.upper() if self.gpus else self.named
            if resource is None:
                return None
            found[resource] = _A_LITTLE if resource.startswith(_ACCELERATOR) else 1.0
        return found


def parse_shape(instance_type: str) -> RayShape:
    """Return what `ray.<N>cpu[.<M>gpu][.<K>gib|mib][.<resource>]` names; at least one part.

    Raises:
        UserError: the name has another form.
    """
    head, _, rest = instance_type.partition(".")
    counts: dict[str, int] = {}
    named = ""
    for part in rest.split(".") if head == "ray" and rest else [""]:
        match = _PART.fullmatch(part)
        unit = "" if match is None else ("memory" if match[2] in _UNITS else match[2])
        if match is not None and unit not in counts and int(match[1]) > 0:
            counts[unit] = int(match[1]) * _UNITS.get(match[2], 1)
        elif match is None and _NAME.fullmatch(part) and not named:
            named = part
        else:
            raise UserError(
                f"instance_type {instance_type!r} is none of a Ray cluster",
                "the form is ray.<CPUs>cpu[.<GPUs>gpu][.<memory>gib or mib][.<accelerator or resource>]",
                "e.g. ray.2cpu, ray.4cpu.1gpu, ray.1gpu.a10g",
            )
    return RayShape(counts.get("cpu", 1), counts.get("gpu", 0), counts.get("memory"), named)


def fits(bundle: Mapping[str, float], nodes: Iterable[Mapping[str, float]], of_each: int | None = None) -> int:
    """Return how many bundles the nodes have room for, given what each of them has; of each node at most `of_each`, where that is given."""
    found = (int(min(node.get(name, 0.0) / amount for name, amount in bundle.items() if amount)) for node in nodes)
    return sum(count if of_each is None else min(count, of_each) for count in found)


def whole_node_cpus(bundle: Mapping[str, float], nodes: Iterable[Mapping[str, float]], count: int = 1) -> tuple[float, bool] | None:
    """Return the CPUs that jobs ask for which are to be alone on so many nodes, and whether they are; None where not so many have room.

    Ray chooses among all nodes that have room, so that only who asks for the CPUs of the largest of these gets a whole one.
    """
    sizes = sorted((node["CPU"] for node in nodes if fits(bundle, [node])), reverse=True)
    return (sizes[count - 1], sizes[count - 1] == sizes[0]) if len(sizes) >= count else None
