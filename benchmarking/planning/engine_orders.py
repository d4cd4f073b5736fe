"""Which TensorRT engines an experiment has made before its trials, and what that takes and costs at most; nothing is made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

from backends.engine_order import EngineOrder
from benchmarking.planning.job_builder import instance_type_of
from benchmarking.planning.served import endpoint_configurations, platform_of, served_models
from benchmarking.planning.worst_case import WorstCase
from definitions.backend_registry import backend_description
from definitions.endpoint import endpoint_of
from definitions.models import ArchiveModel
from definitions.schema import BenchmarkDefinition


@dataclass(frozen=True)
class EngineCost:
    """Engines that are made, one after the other: their types of instances, seconds at most, dollars (None where a price is unknown)."""

    instance_types: tuple[str, ...]
    seconds: float
    usd: float | None

    def added_to(self, worst: WorstCase, max_cost: float | None) -> WorstCase:
        """Return the worst case of trials with that of their engines, which is within the same limit of money."""
        if not self.instance_types:
            return worst

        def with_engines(usd: float | None) -> float | None:
            whole = None if usd is None or self.usd is None else usd + self.usd
            return max_cost if whole is None else min(whole, max_cost or math.inf)

        longest_s = None if worst.longest_s is None else worst.longest_s + self.seconds
        return dataclasses.replace(worst, longest_s=longest_s, usd=with_engines(worst.usd), limit_usd=with_engines(worst.limit_usd))


def engine_cost(definition: BenchmarkDefinition, backend: str, usd_per_hour: Callable[[str], float | None]) -> EngineCost:
    """Return what the engines of an experiment take and cost at most, none of which is kept from an earlier one.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        usd_per_hour: price of a type of instance in training; None where it is not known.
    """
    orders: dict[tuple[object, ...], str] = {}
    if definition.endpoint is not None and backend_description(backend).engine_builder:
        for configuration in endpoint_configurations(definition):
            try:
                block = endpoint_of(definition.endpoint, configuration)
            except ValueError:
                continue  # refused as a trial of its own
            instance_type = instance_type_of(definition, backend, configuration)
            for name, model in served_models(definition, block).items():
                if platform_of(block, model) == "trt" and not isinstance(model, ArchiveModel) and "trt" in model.platforms:
                    most = block.max_batch_size if block.max_batch_size and model.max_batch_size else model.max_batch_size
                    orders[name, instance_type, most] = instance_type
    hours = EngineOrder.max_run_s / 3600
    prices = [usd_per_hour(one) for one in orders.values()]
    known = [price for price in prices if price is not None]
    usd = hours * math.fsum(known) if len(known) == len(prices) else None
    return EngineCost(tuple(orders.values()), EngineOrder.max_run_s * len(orders), usd)
