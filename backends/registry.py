"""The class of a back-end by its name, and the back-end of an experiment."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import EntryPoint

from backends.backend_context import BackendContext
from backends.base import Backend
from definitions.backend_registry import backend_description
from definitions.errors import UserError


def backend_class(name: str, plugins: Iterable[EntryPoint] | None = None) -> type[Backend]:
    """Return the class of a back-end, to be made with its `create`.

    Args:
        name: of a built-in one, or of a plug-in's.
        plugins: entry points in place of those that are installed.

    Raises:
        UserError: unknown name, or a plug-in that cannot be loaded.
    """
    return _loaded(name, backend_description(name, plugins).implementation)


def make_backend(name: str, context: BackendContext) -> Backend:
    """Return the back-end of an experiment, which may be another one for a definition with an endpoint.

    Args:
        name: of a back-end.
        context: of the experiment.

    Raises:
        UserError: unknown name, a plug-in that cannot be loaded, or options that are missing or wrong.
    """
    described = backend_description(name)
    serves = context.definition.endpoint is not None and described.endpoint_implementation
    return _loaded(name, serves or described.implementation).create(context)


def _loaded(name: str, path: str) -> type[Backend]:
    module, _, attribute = path.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:
        raise UserError(f"back-end {name}: {path} cannot be loaded", f"{type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Backend)):
        raise UserError(f"back-end {name}: {path} is no back-end", "it must be a subclass of backends.base.Backend")
    return found
