"""Runs the load that is asked for, from warming to the last report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .client_check import client_problem
from .endpoint import CalledEndpoint
from .figures import figures_of
from .load_files import LoadFiles
from .open_loop import OpenPlan
from .options import OPEN, SEARCH, LoadOptions
from .searching import KeptSearch, RunningSearch
from .session import ClientSession, LoadClient, soon
from .warming import idle_latencies, warm_up

Report = Callable[..., None]
Phase = Callable[[str], AbstractContextManager[Any]]

_IDLE_CALLS = 30
_OPEN_BLOCK_S = 0.1


@dataclass(frozen=True)
class LoadSurroundings:
    """What a load has beside its endpoint.

    Args:
        environ: of the job; SM_OUTPUT_DATA_DIR is where files go.
        report: takes metrics by name.
        phase: times what is done.
        checkpoint: folder in which what is known is kept for a next incarnation; None for none.
        say: prints a line for people.
    """

    environ: Mapping[str, str]
    report: Report
    phase: Phase
    checkpoint: Path | None = None
    say: Callable[[str], None] = field(default=print)


async def run_load(endpoint: CalledEndpoint, options: LoadOptions, around: LoadSurroundings) -> None:
    """Run the load.

    Args:
        endpoint: under load.
        options: what is asked.
        around: what else there is.

    Raises:
        SystemExit: a target does not answer, or the options cannot be followed.
    """
    session = ClientSession(endpoint, options)
    try:
        if options.cold == "none":
            with around.phase("warm"):
                warmed = await warm_up(session.caller, len(endpoint.targets), options.warm_s, lambda one: str(endpoint.targets[one].name))
            around.say(f"{warmed.calls} calls before the load, {warmed.cold} of them cold, in {warmed.seconds:.1f} s")
        told = {
            "server": endpoint.server, "platform": endpoint.platform, "instance_type": endpoint.instance_type,
            "targets": len(endpoint.targets), "client_shares_cores": endpoint.shares_cores,
        }  # fmt: skip
        files = LoadFiles.of_job(around.environ, told)
        await _LOADS[options.load](session, session, options, files, around)
    finally:
        session.close()


async def _open(session: ClientSession, client: LoadClient, options: LoadOptions, files: LoadFiles, around: LoadSurroundings) -> None:
    plan = OpenPlan(soon(), options.duration_s, _OPEN_BLOCK_S, drain_s=options.timeout_s)
    with around.phase("load"):
        result = await client.open_load(options.rate, plan, lambda _now, _tally: False)
    problem = client_problem(result.tally, result.client, options.rate)
    found = figures_of(result.tally, result.seconds) | {
        "client_cpu_share": round(result.client.cpu_share, 3),
        "client_bound": bool(problem),
    }
    files.write("open", {"rate": options.rate, "seconds": result.seconds, "why": problem}, found, result.tally)
    around.report(**found, **({"why": problem} if problem else {}), **_shared(session))


async def _search(session: ClientSession, client: LoadClient, options: LoadOptions, files: LoadFiles, around: LoadSurroundings) -> None:
    def report(**metrics: Any) -> None:
        around.report(**metrics, **_shared(session))

    kept = KeptSearch(around.checkpoint, session.endpoint, options)
    search = RunningSearch(client, options, kept, files, report, around.say)
    with around.phase("idle"):
        record = search.begin(await idle_latencies(session.caller, len(session.endpoint.targets), _IDLE_CALLS))
    if record is not None:
        with around.phase("load"):
            await search.run(record)


def _shared(session: ClientSession) -> dict[str, Any]:
    """Return what every report says where the client is on the cores of the server."""
    return {"client_shares_cores": True} if session.endpoint.shares_cores else {}


_LOADS = {OPEN: _open, SEARCH: _search}
