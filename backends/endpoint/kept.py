"""The same on endpoints that are kept for the next trial: what of a configuration needs no other deployment is changed in place."""

from __future__ import annotations

from collections.abc import Sequence

from backends.adopted import AdoptedPool
from backends.endpoint.backend import EndpointBackend
from backends.sagemaker.block import DEFAULT_KEEP_ALIVE_S, SageMakerBlock
from definitions.schema import BenchmarkDefinition


class KeptEndpointBackend(EndpointBackend):
    """Endpoints that wait, and are paid for, until the next trial of the same deploy key, or until `keep_alive` is over."""

    block = "warm_pool"

    @classmethod
    def keep_s(cls, definition: BenchmarkDefinition) -> float:
        """Return for how long an endpoint is kept."""
        return float(definition.block(cls.block, SageMakerBlock).keep_alive or DEFAULT_KEEP_ALIVE_S)

    def adopt_pools(self, pools: Sequence[AdoptedPool]) -> None:
        """Give up what an earlier controller kept: each was paid for until its endpoint is gone, or was gone."""
        self._adopter.adopt_pools(pools, self._events.append)
