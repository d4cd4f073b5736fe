"""The class of a back-end by its name."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import EntryPoint

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
    path = backend_description(name, plugins).implementation
    module, _, attribute = path.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:
        raise UserError(f"back-end {name}: {path} cannot be loaded", f"{type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Backend)):
        raise UserError(f"back-end {name}: {path} is no back-end", "it must be a subclass of backends.base.Backend")
    return found
