"""Benchmarks of a study that cannot be on this machine whatever the method: found before anything starts, so that all are named at once."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from backends.base import BackendContext
from backends.registry import backend_class
from benchmarking.planning.feasibility import check_listed, check_room, refusal
from definitions.backend_registry import backend_description
from definitions.errors import UserError
from definitions.resolve import Resolved


def no_room(resolved: Resolved, environ: Mapping[str, str]) -> UserError | None:
    """Return why no trial of a benchmark, or one that it lists, can run on this machine; None where they can, or run elsewhere.

    Args:
        resolved: the definition, with its back-end.
        environ: of the controller.
    """
    definition, name = resolved.definition, resolved.backend
    if not backend_description(name).shares_this_machine:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        try:
            backend = backend_class(name).create(BackendContext(definition, Path(scratch), 0, environ))
            try:
                check_room(definition, name, backend.capacity, backend.there_is)
                check_listed(definition, refusal(definition, name, backend.capacity))
            finally:
                backend.close()
        except UserError as error:
            return error
    return None


def with_script(resolve: Callable[[bool], Resolved], *, tolerant: bool) -> tuple[Resolved, UserError | None]:
    """Return a benchmark resolved, and why its script cannot be started where that alone is wrong with it.

    Args:
        resolve: resolves it; is told whether the script must be there.
        tolerant: whether one without its script is returned all the same.

    Raises:
        UserError: something else is wrong with it, or anything where that is not tolerated.
    """
    try:
        return resolve(True), None
    except UserError as error:
        if not tolerant:
            raise
        return resolve(False), error
