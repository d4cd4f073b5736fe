"""Back-ends by name: the built-in ones, and those of plug-ins (entry points `outrider.backends`). Each is loaded when it is named."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

from definitions.backend_description import BackendDescription
from definitions.builtin_backends import BUILT_IN
from definitions.errors import UserError, nearest
from definitions.ingestion import PLATFORM_MODES
from definitions.parts import Overrides
from definitions.plugins import installed

GROUP = "outrider.backends"

_OURS = "outrider"


def backend_names(plugins: Iterable[EntryPoint] | None = None) -> tuple[str, ...]:
    """Return the names of all back-ends, the built-in ones first.

    Raises:
        UserError: two back-ends of one name.
    """
    return (*BUILT_IN, *_plugins(plugins))


def backend_description(name: str, plugins: Iterable[EntryPoint] | None = None) -> BackendDescription[Any]:
    """Return the description of a back-end.

    Args:
        name: of a built-in one, or of a plug-in's.
        plugins: entry points in place of those that are installed.

    Raises:
        UserError: there is no such back-end, or its plug-in cannot be loaded or describes no back-end.
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        built_in: BackendDescription[Any] = getattr(import_module(module), attribute)
        return built_in
    points = _plugins(plugins)
    if name not in points:
        known = (*BUILT_IN, *points)
        near = nearest(name, known)
        advice = f"did you mean {near!r}?" if near else "give one of these, or install the package that brings it"
        raise UserError(f"there is no back-end {name!r}", f"installed: {', '.join(known)}", advice)
    point = points[name]
    try:
        found = point.load()
    except (Exception, SystemExit) as error:
        raise UserError(
            f"back-end {name}: its plug-in {_origin(point)} cannot be loaded", f"{type(error).__name__}: {error}", "mend or uninstall it"
        ) from error
    problem = _problem(found, name)
    if problem is not None:
        raise UserError(f"back-end {name}: its plug-in {_origin(point)} cannot be used", problem, "mend or uninstall it")
    described: BackendDescription[Any] = found
    return described


def emulated_modes(backend: str, dollars: str) -> tuple[str, ...]:
    """Return the input modes that were imitated where something was measured, so that their speed is not the platform's.

    Args:
        backend: its name; it need not be installed any more.
        dollars: what kind of dollars its costs are; where they are `emulated` the whole platform is.
    """
    try:
        described = backend_description(backend)
    except UserError:
        return ()
    if dollars == "emulated":
        return tuple(mode for mode in described.input_modes if mode in PLATFORM_MODES)
    return described.emulated_modes


def _plugins(plugins: Iterable[EntryPoint] | None) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in installed(GROUP) if plugins is None else plugins:
        if point.dist is not None and point.dist.name == _OURS:
            # What an earlier version declared is still in the metadata of a clone that was installed before it was updated.
            continue
        if point.name in BUILT_IN or point.name in found:
            other = found[point.name].value if point.name in found else BUILT_IN[point.name]
            raise UserError(f"two back-ends are called {point.name!r}", f"{other} and {_origin(point)}", "uninstall one of them")
        found[point.name] = point
    return found


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value


def _problem(found: object, name: str) -> str | None:
    """Return why a loaded object does not describe the back-end of this name, or None where it does."""
    if not isinstance(found, BackendDescription):
        return f"its entry point leads to {found!r}; it must be a BackendDescription (see definitions/backend_description.py)"
    for attribute in ("name", "implementation"):
        if not isinstance(getattr(found, attribute, None), str):
            return f"its description has no {attribute}"
    if found.name != name:
        return f"its description says that it is called {found.name!r}"
    block = getattr(found, "block", None)
    if not (isinstance(block, type) and issubclass(block, Overrides)):
        return f"the model of its block, {block!r}, is no subclass of definitions.parts.Overrides"
    return None
