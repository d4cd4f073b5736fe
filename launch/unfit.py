"""What of a study this machine has room for, asked before anything starts: benchmarks that cannot be, and how many workers."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from backends.base import BackendContext
from backends.registry import backend_class
from benchmarking.planning.concurrency import worker_count
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


def workers_here(resolved: Resolved, environ: Mapping[str, str]) -> int | None:
    """Return how many workers an experiment has; None where its jobs run elsewhere, as only its service knows then, or it cannot be.

    Args:
        resolved: the definition, with its back-end.
        environ: of the controller.
    """
    described = backend_description(resolved.backend)
    if described.runs_programs and not described.shares_this_machine:
        return None
    with (
        tempfile.TemporaryDirectory() as scratch,
        contextlib.suppress(UserError),
        contextlib.closing(backend_class(resolved.backend).create(BackendContext(resolved.definition, Path(scratch), 0, environ))) as one,
    ):
        return worker_count(resolved.definition, resolved.backend, one.capacity)
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
