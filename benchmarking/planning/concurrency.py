"""How many trials run at once where the user has not said. Pure."""

from __future__ import annotations

from collections.abc import Callable

from benchmarking.planning.job_builder import instance_type_of
from definitions.backend_registry import backend_description
from definitions.schema import BenchmarkDefinition
from definitions.space import SearchSpace

_REMOTE = 4


def worker_count(definition: BenchmarkDefinition, backend: str, capacity: Callable[[str], int]) -> int:
    """Return how many trials are in flight at most.

    `n_workers` where given, else what fits, but elsewhere than on this machine 4 at most. On this machine no more than fit, and 1 where
    nothing may run beside a trial.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        capacity: how many jobs of an instance type can run at once.
    """
    here = backend_description(backend).shares_this_machine
    if here and definition.is_exclusive:
        return 1
    if not here and definition.n_workers is not None:
        return definition.n_workers
    most = max((capacity(name) for name in instance_types(definition, backend)), default=1)
    return max(1, min(most, definition.n_workers or (most if here else _REMOTE)))


def instance_types(definition: BenchmarkDefinition, backend: str) -> list[str]:
    """Return every instance type that a configuration can ask for."""
    if definition.trials:
        configurations = [dict(configuration) for configuration in definition.explicit_configurations]
    else:
        space: SearchSpace = definition.search_space
        domain = space.domains.get("instance_type")
        configurations = [{}] if domain is None else [{"instance_type": value} for value in domain.grid(0)]
    return list(dict.fromkeys(instance_type_of(definition, backend, configuration) for configuration in configurations))
