"""Who makes the TensorRT engines of an experiment: what its back-end names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from backends.backend_context import BackendContext
from backends.engine_order import Billed, EngineOrder
from definitions.backend_registry import backend_description


def engine_builder(backend: str, context: BackendContext, say: Callable[[str], None]) -> Callable[[EngineOrder, Billed], None] | None:
    """Return what makes engines for the endpoints of a back-end; None where it makes none.

    Args:
        backend: name of the back-end.
        context: of the experiment.
        say: called with what takes a while.
    """
    path = backend_description(backend).engine_builder
    if not path:
        return None
    module, _, function = path.partition(":")

    def build(order: EngineOrder, billed: Billed) -> None:
        getattr(import_module(module), function)(order, context, say, billed)

    return build
