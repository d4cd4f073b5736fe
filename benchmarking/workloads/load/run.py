"""Runs the load that is asked for, from warming to the last report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from .endpoint import CalledEndpoint
from .figures import figures_of
from .options import LoadOptions
from .session import ClientSession, soon
from .warming import warm_up

Report = Callable[..., None]
Phase = Callable[[str], AbstractContextManager[Any]]


async def run_load(endpoint: CalledEndpoint, options: LoadOptions, environ: Mapping[str, str], report: Report, phase: Phase) -> None:
    """Run the load.

    Args:
        endpoint: under load.
        options: what is asked.
        environ: of the job; SM_OUTPUT_DATA_DIR is where files go.
        report: takes metrics by name.
        phase: times what is done.

    Raises:
        SystemExit: a target does not answer, or the options cannot be followed.
    """
    session = ClientSession(endpoint, options)
    try:
        if options.cold == "none":
            with phase("warm"):
                await warm_up(session.caller, len(endpoint.targets), options.warm_s, lambda one: str(endpoint.targets[int(one)].name))
        with phase("load"):
            tally = await session.open_load(options.rate, soon(), options.duration_s, 0.1, lambda _tally, _in_flight: False)
        report(**figures_of(tally, options.duration_s))
    finally:
        session.close()
