"""Back-ends by name: the built-in ones and those of plugins (entry points `outrider.backends`)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint

from backends.base import Backend
from definitions.errors import UserError, did_you_mean
from definitions.plugins import installed

logger = logging.getLogger(__name__)

BUILT_IN: Mapping[str, str] = {
    "local": "backends.local.backend:LocalBackend",
    "sagemaker": "backends.sagemaker.backend:SageMakerBackend",
    "simulated": "backends.simulated.backend:SimulatedBackend",
    "warm_pool": "backends.sagemaker.warm_pool:WarmPoolBackend",
}
"""Module and class of each built-in back-end, imported when it is asked for."""


def known_backends(plugins: Iterable[EntryPoint] | None = None) -> dict[str, EntryPoint | str]:
    """Return all back-ends by name.

    Raises:
        UserError: two back-ends of one name.
    """
    known: dict[str, EntryPoint | str] = dict(BUILT_IN)
    for point in installed("outrider.backends") if plugins is None else plugins:
        earlier = known.get(point.name)
        if earlier == point.value:
            continue
        if earlier is not None:
            distribution = point.dist.name if point.dist else point.value
            other = earlier if isinstance(earlier, str) else earlier.value
            raise UserError(f"two back-ends are called {point.name!r}", f"{other} and {distribution}", "uninstall one of them")
        known[point.name] = point
    return known


def backend_class(name: str, plugins: Iterable[EntryPoint] | None = None) -> type[Backend]:
    """Return the class of a back-end, to be made with its `create`.

    Raises:
        UserError: unknown name, or a plugin that cannot be loaded.
    """
    known = known_backends(plugins)
    if name not in known:
        raise UserError(f"--backend {name}: there is no such back-end", did_you_mean(name, list(known)))
    found = known[name]
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        loaded: type[Backend] = getattr(import_module(module), attribute)
        return loaded
    try:
        plugin: type[Backend] = found.load()
    except Exception as error:
        raise UserError(f"--backend {name}: its plugin cannot be loaded", str(error)) from error
    return plugin
