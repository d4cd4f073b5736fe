"""Runs the load that is asked for, from warming to the last report."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .client_check import ClientLoad, check_all_allowed, check_allowed, client_problem
from .deadline import last_answers_s, load_ends_s
from .endpoint import CalledEndpoint
from .figures import figures_of
from .load_files import LoadFiles
from .max_models import ResidencySearch, TargetCall
from .open_loop import OpenPlan
from .options import MODELS, OPEN, SEARCH, USERS, LoadOptions
from .processes import ClientProcesses
from .residency import residency_figures
from .searching import KeptSearch, RunningSearch
from .serving_status import ServingStatus, used_between
from .session import ClientSession, LoadClient, soon
from .tally import LoadTally
from .users import arrival_s, fitting
from .warming import idle_latencies, one_call, warm_up

Report = Callable[..., None]
Phase = Callable[[str], AbstractContextManager[Any]]

_IDLE_CALLS = 30
_OPEN_BLOCK_S = 0.1
_SAME_S = 1e-6


@dataclass(frozen=True)
class LoadSurroundings:
    """What a load has beside its endpoint.

    Args:
        environ: of the job; SM_OUTPUT_DATA_DIR is where files go.
        report: takes metrics by name.
        phase: times what is done.
        checkpoint: folder in which what is known is kept for a next incarnation; None for none.
        say: prints a line for people.
        arguments: of the script, for processes that share the load.
        ends_s: monotonic seconds at which the job is ended; inf for never.
    """

    environ: Mapping[str, str]
    report: Report
    phase: Phase
    checkpoint: Path | None = None
    say: Callable[[str], None] = field(default=print)
    arguments: Sequence[str] = ()
    ends_s: float = math.inf


@dataclass(frozen=True)
class _Run:
    """A load under way; `ends_s`: monotonic seconds at which it ends, whatever was asked."""

    session: ClientSession
    client: LoadClient
    options: LoadOptions
    files: LoadFiles
    around: LoadSurroundings
    status: ServingStatus
    ends_s: float

    def report(self, **metrics: Any) -> None:
        """Report; where the client is on the cores of the server, every report says so."""
        shared = {"client_shares_cores": True} if self.session.endpoint.shares_cores else {}
        self.around.report(**metrics, **self._calls(), **shared)

    def _calls(self) -> dict[str, Any]:
        """Return the mean of all calls so far, those of warming too, as the service's own means are of all."""
        parts = [self.session.answered, *([] if self.client is self.session else [self.client.answered])]
        calls, seconds = sum(one.calls for one in parts), sum(one.seconds for one in parts)
        return {"calls": calls, "call_mean_ms": round(1000 * seconds / calls, 3)} if calls else {}


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
    client: LoadClient = session
    try:
        if options.client_processes > 1 and options.load != MODELS:
            client = processes = ClientProcesses(around.arguments, options, around.environ)
            await processes.start()
        if options.cold == "none" and options.load != MODELS:
            with around.phase("warm"):
                warmed = await warm_up(session.caller, len(endpoint.targets), options.warm_s, lambda one: str(endpoint.targets[one].name))
            around.say(f"{warmed.calls} calls before the load, {warmed.cold} of them cold, in {warmed.seconds:.1f} s")
        told = {
            "server": endpoint.server, "platform": endpoint.platform, "instance_type": endpoint.instance_type,
            "models": sorted({one.model for one in endpoint.targets}), "targets": len(endpoint.targets),
            "client_shares_cores": endpoint.shares_cores,
        }  # fmt: skip
        files = LoadFiles.of_job(around.environ, told)
        status = ServingStatus(endpoint.status_url, endpoint.key)
        ends_s = load_ends_s(around.ends_s, time.monotonic())
        await _LOADS[options.load](_Run(session, client, options, files, around, status, ends_s))
    finally:
        await client.close()
        await session.close()


async def _open(run: _Run) -> None:
    options = run.options
    plan = OpenPlan(soon(), options.duration_s, _OPEN_BLOCK_S, drain_s=options.timeout_s)
    before = await run.status.read()
    until_s = run.ends_s - last_answers_s(options)
    plan = replace(plan, begin_s=soon(), until_s=until_s, ends_s=run.ends_s)
    if plan.begin_s >= until_s:
        raise SystemExit(f"no time is left for an open load of {options.duration_s:g} s before max_run ends the job: raise max_run")
    with run.around.phase("load"):
        result = await run.client.open_load(options.rate, plan, lambda _now, _tally: False)
    check_all_allowed(result.tally, f"at {options.rate:g}/s")
    used = used_between(before, await run.status.read())
    problem = client_problem(result.tally, result.client, options.rate)
    found = figures_of(result.tally, result.seconds) | _of_client(result.client, problem) | used
    if plan.begin_s + result.seconds > until_s - _SAME_S:
        short = f"the load ended before max_run, after {result.seconds:.1f} of {options.duration_s:g} s"
        run.around.say(short)
        found["why"] = f"{problem}; {short}" if problem else short
    what = {"rate": options.rate, "seconds": result.seconds, "why": found.get("why", "")}
    run.files.write("open", what, found, result.tally)
    run.report(**found)


async def _search(run: _Run) -> None:
    kept = KeptSearch(run.around.checkpoint, run.session.endpoint, run.options)
    search = RunningSearch(run.client, run.options, kept, run.files, run.status, run.report, run.around.say, ends_s=run.around.ends_s)
    with run.around.phase("idle"):
        record = search.begin(await idle_latencies(run.session.caller, len(run.session.endpoint.targets), _IDLE_CALLS))
    if record is not None:
        with run.around.phase("load"):
            await search.run(record)


async def _users(run: _Run) -> None:
    begin_s, last_s = soon(), last_answers_s(run.options)
    stages = fitting(run.options.ramp, run.ends_s - last_s - begin_s)
    short = "" if len(stages) == len(run.options.ramp) else f"{len(stages)} of {len(run.options.ramp)} stages end before max_run does"
    if not stages:
        first_s = run.options.ramp[0].seconds
        raise SystemExit(f"no time is left for the first stage, of {first_s:g} s, before max_run ends the job: raise max_run")
    if short:
        run.around.say(f"{short}: the others are not begun")

    def done(number: int, tally: LoadTally, client: ClientLoad) -> None:
        stage, before = stages[number], stages[number - 1].users if number else 0
        check_all_allowed(tally, f"of {stage.users} users")
        seconds = stage.seconds - arrival_s(before, stage)
        found = {"stage": number + 1, "users": stage.users, **figures_of(tally, seconds)}
        problem = client_problem(tally, client, 0.0)
        found |= _of_client(client, problem)
        if short and number + 1 == len(stages):
            found["why"] = f"{problem}; {short}" if problem else short
        run.files.write("stage", {"users": stage.users, "seconds": seconds}, found, tally)
        run.report(**found)

    with run.around.phase("load"):
        await run.client.users(stages, begin_s, done, run.ends_s)


async def _models(run: _Run) -> None:
    endpoint, caller = run.session.endpoint, run.session.caller

    async def call(target: int) -> TargetCall:
        how, seconds = await one_call(caller, target, 0)
        check_allowed(how, f"of copy {target + 1}")
        return TargetCall(how.kind, how.is_cold, seconds)

    before = await run.status.read()
    search = ResidencySearch(len(endpoint.targets), call, lambda seconds: time.monotonic() + seconds >= run.ends_s)
    with run.around.phase("load"):
        number = await search.run()
    if search.is_short and not number:
        raise SystemExit("no number of copies was confirmed before max_run ends the job: raise max_run")
    found = await residency_figures(number, search, run.status, before, call, run.options.cycles)
    run.around.say(f"{number} of {len(endpoint.targets)} copies stay loaded together" + (f"; {search.why}" if search.why else ""))
    run.report(**found)


def _of_client(client: ClientLoad, problem: str) -> dict[str, Any]:
    found = {"client_cpu_share": round(client.cpu_share, 3), "sockets": client.sockets, "client_bound": bool(problem)}
    return found | ({"why": problem} if problem else {})


_LOADS = {OPEN: _open, SEARCH: _search, USERS: _users, MODELS: _models}
