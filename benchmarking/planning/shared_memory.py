"""Whether the batches of a configuration fit into the memory that processes of this machine share; asked before anything starts.

A definition is meant that names our knob `loader_workers`; the script looks again at its first batch, whatever is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarking.workloads.ingestion.shared_memory import shared_memory_problem
from definitions.schema import BenchmarkDefinition

_CHANNELS = 3
_OF_BYTES = ("entitlement",)
"""Models that get the bytes of samples, which do not travel through shared memory."""


def shared_memory(definition: BenchmarkDefinition, free: int | None) -> Callable[[Mapping[str, Any]], str | None]:
    """Return what says of a configuration why its batches do not fit, or None where they do, or their size is not known.

    Args:
        definition: the resolved definition.
        free: bytes of shared memory that are free; None where not known.
    """

    def problem(configuration: Mapping[str, Any]) -> str | None:
        settings = {**definition.arguments, **configuration}
        numbers = [settings.get(name) for name in ("loader_workers", "batch_size", "image_size")]
        if settings.get("model") in _OF_BYTES or not all(isinstance(one, int) and one > 0 for one in numbers):
            return None
        workers, batch_size, image_size = (int(one) for one in numbers if one is not None)
        batch_bytes = batch_size * _CHANNELS * image_size**2  # as images are loaded: a byte for each channel of a pixel
        return shared_memory_problem(batch_bytes, workers, int(settings.get("prefetch_factor") or 2), free)

    return problem
