"""How many trials run at once where the user has not said. Pure."""

from __future__ import annotations

from collections.abc import Callable

from benchmarking.jobs import instance_type_of
from definitions.schema import BenchmarkDefinition
from definitions.space import SearchSpace

_REMOTE = 4


def worker_count(definition: BenchmarkDefinition, backend: str, room: Callable[[str], int]) -> int:
    """Return `n_workers`: as given; else 1 where trials are exclusive; else what fits of the smallest instance type, at most 4 elsewhere.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        room: how many jobs of an instance type can run at once.
    """
    if definition.n_workers is not None:
        return definition.n_workers
    if backend == "local" and definition.is_exclusive:
        return 1
    rooms = [room(name) for name in instance_types(definition, backend)]
    most = max(rooms, default=1)
    return max(1, most if backend == "local" else min(most, _REMOTE))


def instance_types(definition: BenchmarkDefinition, backend: str) -> list[str]:
    """Return every instance type that a configuration can ask for."""
    if definition.trials:
        configurations = [dict(configuration) for configuration in definition.explicit_configurations]
    else:
        space: SearchSpace = definition.search_space
        domain = space.domains.get("instance_type")
        configurations = [{}] if domain is None else [{"instance_type": value} for value in domain.grid(0)]
    return list(dict.fromkeys(instance_type_of(definition, backend, configuration) for configuration in configurations))
