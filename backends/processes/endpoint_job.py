"""What a job that serves an endpoint needs on this machine: its cores and memory, the files of its front, and what starts both."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.common.command_line import StartCommand
from backends.deployment import Deployment
from backends.job_spec import JobSpec
from backends.load_targets import targets_document
from backends.processes.share import MachineShare
from backends.serving.front.settings import FrontSettings
from definitions.quantities import size_text

FOLDER = "endpoint"
"""Folder, in a job's own, of all that serves it."""
MEASURED = "measured.json"
_RUN = Path(__file__).with_name("endpoint_run.py")
_ROOT = Path(__file__).resolve().parents[2]
_CLIENT_BYTES = 1 << 30


@dataclass(frozen=True)
class EndpointShare:
    """What of this machine an endpoint's job takes.

    Args:
        cores: of server and load together; `client_cores`: of these the load's own, 0 where it shares the server's.
        server_bytes: memory of the server; `limit_bytes`: of the whole job.
    """

    cores: int
    client_cores: int
    server_bytes: int
    limit_bytes: int


def share_of(deployment: Deployment, share: MachineShare, machine_cores: int, machine_bytes: int) -> EndpointShare:
    """Return what an endpoint's job takes.

    Args:
        deployment: what is served.
        share: of the instance type, which is the server's.
        machine_cores: cores that there are.
        machine_bytes: memory that there is.
    """
    server_bytes = share.memory_bytes or machine_bytes * share.cores // machine_cores
    # The load is no part of the instance, so what it takes is beside that; a client's own part of the memory, as of any job.
    client_bytes = max(_CLIENT_BYTES, machine_bytes * deployment.client_cores // machine_cores)
    for_models = server_bytes if deployment.memory_bytes is None else min(server_bytes, deployment.memory_bytes)
    return EndpointShare(share.cores + deployment.client_cores, deployment.client_cores, for_models, server_bytes + client_bytes)


def endpoint_refusal(deployment: Deployment, share: MachineShare, machine_cores: int, machine_bytes: int) -> str:
    """Return why this machine cannot serve a deployment; empty where it can."""
    if deployment.existing:
        return f"endpoint {deployment.existing!r}: this machine has no endpoint that exists beside a job; leave `existing` out"
    # With them come asyncio and what speaks HTTP, which other jobs have no use for.
    from backends.serving.servers import refusal

    for package in deployment.packages:
        words = refusal(deployment.server, package.platform)
        if words:
            return f"model {package.name}: {words}"
        if not package.path:
            return f"model {package.name}: its archive {package.uri} is not on this machine"
    wanted = share_of(deployment, share, machine_cores, machine_bytes)
    if wanted.cores > machine_cores:
        return (
            f"the server's {share.cores} and the load's {wanted.client_cores} cores do not fit: this machine has {machine_cores}; a "
            "smaller instance_type, or client_cores: 0, with which both share the server's cores and every result says so"
        )
    if deployment.memory_bytes is not None and deployment.memory_bytes > (share.memory_bytes or machine_bytes):
        there = size_text(share.memory_bytes or machine_bytes)
        return f"memory {size_text(deployment.memory_bytes)} for models: {deployment.instance_type} has {there}"
    return ""


def split_cores(cores: Sequence[int], client_cores: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the server's and the load's cores of those that a job leases; the same ones where the load has none of its own."""
    if not client_cores:
        return tuple(cores), tuple(cores)
    return tuple(cores[:-client_cores]), tuple(cores[-client_cores:])


def with_endpoint(
    job: JobSpec,
    deployment: Deployment,
    start: StartCommand,
    folder: Path,
    cores: Sequence[int],
    share: EndpointShare,
    base: Mapping[str, str],
) -> StartCommand:
    """Return what brings an endpoint up, runs the load against it and ends it, with its files written.

    Args:
        job: whose endpoint it is.
        deployment: what is served.
        start: what runs the load.
        folder: the job's own.
        cores: that it leases.
        share: what it takes of the machine.
        base: the controller's environment, which the server gets and not the script's.
    """
    place = folder / FOLDER
    server_cores, client_cores = split_cores(cores, share.client_cores)
    front = _front_settings(job.name, deployment, place, share, server_cores)
    front.write(place / "front.json")
    told = place / "targets.json"
    told.write_text(json.dumps(targets_document(deployment, client_shares_cores=not share.client_cores)), encoding="utf-8")
    # What the server is started with is the machine's and not the trial's: the script may have an interpreter and variables of its own.
    path = os.pathsep.join([str(_ROOT), *([base["PYTHONPATH"]] if base.get("PYTHONPATH") else [])])
    plan: dict[str, Any] = {
        "front": [sys.executable, "-m", "backends.serving.front", "--settings", str(place / "front.json")],
        "front_environment": {"PYTHONPATH": path, "OMP_NUM_THREADS": str(deployment.server_threads or 1)},
        "endpoint": job.name,
        "key": front.key,
        "targets": str(told),
        "server_cores": list(server_cores),
        "client_cores": list(client_cores),
        "command": list(start.command),
        "measured": str(place / MEASURED),
        "log": front.log,
        "max_run_s": job.limits.max_run_s,
    }
    descriptor = os.open(place / "plan.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(plan, file)
    command = (sys.executable, "-S", str(_RUN), str(place / "plan.json"))
    return StartCommand(command, alone="its endpoint is brought up before it and ended after it, by a process of its own")


def _front_settings(name: str, deployment: Deployment, place: Path, share: EndpointShare, cores: tuple[int, ...]) -> FrontSettings:
    """Return the settings of a front, with links to the archives of its targets where it looks for them."""
    targets = place / "targets"
    targets.mkdir(parents=True, exist_ok=True)
    archives = {target.name or f"{target.package.name}.tar.gz": target.package.path for target in deployment.targets}
    for target, archive in archives.items():
        (targets / target).unlink(missing_ok=True)
        (targets / target).symlink_to(Path(archive).absolute())
    return FrontSettings(
        work=str(place / "work"),
        log=str(place / "server.log"),
        server=deployment.server,
        endpoint=name,
        mode=deployment.mode,
        model=next(iter(archives), "") if deployment.mode == "single" else "",
        folder=str(targets),
        limit_bytes=share.server_bytes,
        key=secrets.token_hex(16),
        threads=deployment.server_threads,
        max_batch_size=deployment.max_batch_size,
        batch_delay_ms=deployment.batch_delay_ms,
        cores=cores,
        start_s=deployment.deploy_s,
    )


def measured_of(path: Path | None) -> dict[str, Any]:
    """Return what was measured of an endpoint, by name; empty where nothing was."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
