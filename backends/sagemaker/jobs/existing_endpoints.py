"""Which endpoints that exist a definition's configurations name; an own one takes instances of the account's quota."""

from __future__ import annotations

from definitions.schema import BenchmarkDefinition

_KEY = "existing"


def existing_endpoints(definition: BenchmarkDefinition) -> list[str | None]:
    """Return the names of endpoints that configurations can load, with None where one can have an endpoint of its own."""
    if definition.endpoint is None:
        return [None]
    block = definition.endpoint.existing
    if definition.trials:
        return [one.get(_KEY, block) for one in definition.explicit_configurations]
    domain = definition.search_space.domains.get(_KEY)
    return [block] if domain is None else [*domain.grid(0)]
