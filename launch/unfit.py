"""What of a study this machine has room for, asked before anything starts: benchmarks that cannot be, and how many workers."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from backends.backend_context import BackendContext
from backends.registry import backend_class, make_backend
from benchmarking.planning.concurrency import instance_types, worker_count
from benchmarking.planning.feasibility import check_capacity, check_listed, refusal
from benchmarking.planning.served import check_served
from definitions.backend_registry import backend_description, backend_names
from definitions.errors import UserError
from definitions.resolve import Resolved


def why_unfit(resolved: Resolved, environ: Mapping[str, str]) -> UserError | None:
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
            backend = make_backend(name, BackendContext(definition, Path(scratch), 0, environ))
            try:
                check_capacity(definition, name, backend.capacity, backend.there_is)
                check_listed(definition, refusal(definition, name, backend.capacity, there_is=backend.there_is))
            finally:
                backend.close()
        except UserError as error:
            return error
    return None


def no_endpoint(resolved: Resolved, environ: Mapping[str, str]) -> UserError | None:
    """Return why the endpoint of a benchmark cannot be brought up by its back-end; None where it can, or it has none.

    Args:
        resolved: the definition, with its back-end.
        environ: of the controller.
    """
    definition, name = resolved.definition, resolved.backend
    if definition.endpoint is None:
        return None
    if backend_class(name).expected_capabilities(environ).endpoints:
        try:
            check_served(definition, name)
        except UserError as error:
            return error
        return None
    able = []
    for other in backend_names():
        with contextlib.suppress(UserError):
            able += [other] if backend_class(other).expected_capabilities(environ).endpoints else []
    return UserError(
        f"benchmark {definition.name} on {name}: it has an `endpoint`",
        f"back-end {name} brings up none",
        f"use --backend {' or '.join(able)}" if able else "no back-end that is installed does; leave out `models` and `endpoint`",
    )


def workers_here(resolved: Resolved, environ: Mapping[str, str]) -> int | None:
    """Return how many workers an experiment has; None where its jobs run elsewhere, as only its service knows then, or it cannot be.

    Args:
        resolved: the definition, with its back-end.
        environ: of the controller.
    """
    found = _capacity_here(resolved, environ)
    return None if found is None else found[0]


def why_alone(resolved: Resolved, environ: Mapping[str, str]) -> str:
    """Return why no two experiments of a benchmark have room on this machine at once, and what would help; empty where they have.

    Args:
        resolved: the definition, with its back-end.
        environ: of the controller.
    """
    found = _capacity_here(resolved, environ)
    if found is None or not backend_description(resolved.backend).shares_this_machine:
        return ""
    (workers, jobs), definition = found, resolved.definition
    if definition.is_exclusive:
        return f"nothing may run beside a trial of {definition.name} (exclusive), so its experiments run one after the other"
    if 2 * workers <= jobs or jobs < 2:
        return ""
    return (
        f"an experiment of {definition.name} has {workers} workers, and this machine room for {jobs} such jobs, so its experiments run "
        f"one after the other; --n_workers {jobs // 2} lets two run at once"
    )


def _capacity_here(resolved: Resolved, environ: Mapping[str, str]) -> tuple[int, int] | None:
    """Return how many workers an experiment has, and how many of its largest jobs have room at once; None as `workers_here`."""
    described = backend_description(resolved.backend)
    if described.runs_programs and not described.shares_this_machine:
        return None
    definition, name = resolved.definition, resolved.backend
    with tempfile.TemporaryDirectory() as scratch, contextlib.suppress(UserError):
        context = BackendContext(definition, Path(scratch), 0, environ)
        with contextlib.closing(make_backend(name, context)) as backend:
            jobs = [backend.capacity(one) for one in instance_types(definition, name)]
            return worker_count(definition, name, backend.capacity), min((one for one in jobs if one), default=0)
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
