"""Whether a Ray cluster is fit to run jobs: what it has, what it never can have, who else uses it. Shown by `outrider doctor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backends.checks import Check, CheckRequest, CheckStatus, capacity_checks
from backends.ray import look
from backends.ray.cluster import ClusterNode, RayConnection
from backends.ray.description import RayBlock
from backends.ray.room import ADVICE, ClusterRoom, there_is
from backends.ray.shapes import parse_shape
from definitions.errors import UserError
from definitions.quantities import size_text

_LITTLE_DISK_BYTES = 2 * 1024**3
_NO_DISK_BYTES = 1024**3 // 10
_MOST_NAMED = 5
_LOOK_S = 60.0


@dataclass(frozen=True)
class ClusterFacts:
    """What was found of a cluster.

    Args:
        versions: of Ray and Python, in words.
        nodes: those that are alive.
        free: how much of each resource nobody has now.
        others: other programs that are connected, in words.
        free_bytes: of the disk where jobs run, by host; None where a node did not answer in time.
    """

    versions: str
    nodes: Sequence[ClusterNode]
    free: Mapping[str, float]
    others: Sequence[str]
    free_bytes: Mapping[str, int | None]


def cluster_checks(request: CheckRequest) -> list[Check]:
    """Return the checks of a cluster, and of a definition on it where there is one.

    Raises:
        UserError: it cannot be used at all.
    """
    definition = request.definition
    block = request.block if isinstance(request.block, RayBlock) else RayBlock()
    connection = RayConnection(block.address or "", request.environ)
    try:
        facts = _facts(connection)
    finally:
        connection.close()
    found = facts_checks(facts)
    if definition is not None:
        found.append(Check("definition", CheckStatus.OK, f"{definition.name} resolves for this back-end"))
        found += type_checks(facts, request.instance_types, definition.n_workers, bool(block.autoscaling))
    return found


def facts_checks(facts: ClusterFacts) -> list[Check]:
    """Return the checks of a cluster as such."""
    nodes = facts.nodes
    found = [Check("cluster", CheckStatus.OK if nodes else CheckStatus.FAILED, f"{facts.versions}; {there_is(nodes)}")]
    if nodes:
        most = {name: max(node.resources.get(name, 0.0) for node in nodes) for name in ("CPU", "GPU", "memory")}
        gpus = f"{most['GPU']:g} GPU{'s' * (most['GPU'] != 1)}" if most["GPU"] else "no GPU"
        largest = f"{most['CPU']:g} CPUs, {gpus}, {size_text(int(most['memory']))} on one node; what asks for more never has room"
        found.append(Check("largest job", CheckStatus.OK, largest))
    found.append(_use(facts))
    for host, free_bytes in facts.free_bytes.items():
        title = f"disk of {host}"
        if free_bytes is None:
            found.append(Check(title, CheckStatus.UNKNOWN, f"no answer in {_LOOK_S:g} s", "the node may be busy; `ray status` says more"))
            continue
        is_none, is_little = free_bytes < _NO_DISK_BYTES, free_bytes < _LITTLE_DISK_BYTES
        verdict = CheckStatus.FAILED if is_none else CheckStatus.WARNING if is_little else CheckStatus.OK
        advice = "make room in its folder of temporary files, or start Ray there with another TMPDIR" if is_little else ""
        found.append(Check(title, verdict, f"{size_text(free_bytes)} free for jobs", advice))
    return found


def _use(facts: ClusterFacts) -> Check:
    has = {name: sum(node.resources.get(name, 0.0) for node in facts.nodes) for name in ("CPU", "GPU")}
    taken = [f"{count - facts.free.get(name, 0.0):g} of {count:g} {name}s are taken" for name, count in has.items() if count]
    is_taken = any(facts.free.get(name, 0.0) < count for name, count in has.items())
    named = "; ".join(facts.others[:_MOST_NAMED]) + (f"; {len(facts.others) - _MOST_NAMED} more" if len(facts.others) > _MOST_NAMED else "")
    who = f"connected: {named}" if facts.others else "nobody else is connected"
    advice = "trials wait until there is room, and say so" if is_taken else ""
    return Check("in use", CheckStatus.WARNING if is_taken else CheckStatus.OK, f"{', '.join([*taken, who])}", advice)


def type_checks(facts: ClusterFacts, instance_types: Sequence[str], n_workers: int | None, may_join: bool) -> list[Check]:
    """Return a check for each instance type.

    Args:
        facts: of the cluster.
        instance_types: that configurations can ask for.
        n_workers: trials at once, as asked for; None for what fits.
        may_join: whether nodes join by themselves.
    """
    room = ClusterRoom(facts.nodes)
    found: list[Check] = []
    for name in instance_types:
        try:
            count = room.count(parse_shape(name))
        except UserError as error:
            found += capacity_checks({name: ": ".join(part for part in (error.asked, error.fact) if part)}, n_workers)
            continue
        if count:
            found += capacity_checks({name: count}, n_workers)
        elif may_join:
            found.append(Check(f"instance type {name}", CheckStatus.WARNING, "no node has as much now", "trials wait for one to join"))
        else:
            lacks = f"it never has room: the cluster has {there_is(facts.nodes)}"
            found.append(Check(f"instance type {name}", CheckStatus.FAILED, lacks, ADVICE))
    return found


def _facts(connection: RayConnection) -> ClusterFacts:
    nodes = connection.nodes()
    # Asked first, as what looks at the disks is somebody who uses the cluster too.
    free = connection.free()
    return ClusterFacts(connection.versions(), nodes, free, connection.others(), _disks(connection, nodes))


def _disks(connection: RayConnection, nodes: Sequence[ClusterNode]) -> dict[str, int | None]:
    """Return the free bytes where jobs of each node would run."""
    ray = connection.ray
    ray.cloudpickle.register_pickle_by_value(look)
    asked = {}
    for node in nodes:
        there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node_id=node.id, soft=False)
        asked[ray.remote(look.free_bytes).options(num_cpus=0, scheduling_strategy=there).remote()] = node
    ready, _ = ray.wait([*asked], num_returns=len(asked), timeout=_LOOK_S) if asked else ([], [])
    hosts = [node.host for node in nodes]
    found: dict[str, int | None] = {}
    for answer, node in asked.items():
        title = node.host if hosts.count(node.host) == 1 else f"{node.host} ({node.id[:8]})"
        found[title] = int(ray.get(answer)) if answer in ready else None
    return found
