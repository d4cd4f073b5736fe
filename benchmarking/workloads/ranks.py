"""The ranks of a job: how many there are, how those of a host are started, and how they meet. Needs nothing but torch, and that to meet.

With RANK, as under torchrun, a process is one rank; without it the script starts `processes` of them on this host, numbered through all
hosts (SM_HOSTS, SM_CURRENT_HOST; the first is the master).
"""

from __future__ import annotations

import contextlib
import gc
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"
_TIMEOUT_S = 120.0
_POLL_S = 0.05
_TERM_S = 3.0


class Group(NamedTuple):
    """The ranks of a job: on which of how many hosts this process is, and how many ranks each has."""

    host: int
    hosts: tuple[str, ...]
    processes: int

    @property
    def size(self) -> int:
        """Ranks on all hosts together."""
        return len(self.hosts) * self.processes


def as_ranks(script: str, processes: int, arguments: Sequence[str], environ: Mapping[str, str], run: Callable[[int, int], None]) -> None:
    """Run as one rank where RANK says so or there is only one; else start this host's ranks and wait for them.

    Args:
        script: path of the script that each rank is.
        processes: ranks on each host.
        arguments: of the command line.
        environ: of this process.
        run: called with the rank and how many there are.

    Raises:
        SystemExit: there can be no such ranks, or one of them failed.
    """
    if processes < 1:
        raise SystemExit(f"--processes {processes}: at least one is needed")
    if environ.get("RANK", "").isdigit():
        run(int(environ["RANK"]), int(environ.get("WORLD_SIZE") or 1))
        return
    group = group_of(environ, processes)
    if group.size == 1:
        run(0, 1)
        return
    with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
        code = launch([sys.executable, str(Path(script).resolve()), *arguments], [
            {**environ, **variables} for variables in rank_variables(group, environ, Path(folder))
        ])  # fmt: skip
    if code:
        raise SystemExit(code)


def group_of(environ: Mapping[str, str], processes: int) -> Group:
    """Return the ranks there are, by SageMaker's variables; one host where they are not set.

    Raises:
        SystemExit: the variables contradict each other.
    """
    hosts = sorted(json.loads(environ.get("SM_HOSTS") or '["localhost"]'))
    current = environ.get("SM_CURRENT_HOST") or hosts[0]
    if current not in hosts:
        raise SystemExit(f"SM_CURRENT_HOST {current!r} is not among SM_HOSTS {hosts!r}")
    return Group(hosts.index(current), tuple(hosts), processes)


def rank_variables(group: Group, environ: Mapping[str, str], folder: Path) -> list[dict[str, str]]:
    """Return the variables of each rank on this host.

    Args:
        group: the job's ranks.
        environ: may name another MASTER_ADDR and MASTER_PORT than the first host's.
        folder: of this host's own, where ranks of a single host find each other, so that they need no port.
    """
    shared = {"WORLD_SIZE": str(group.size), "LOCAL_WORLD_SIZE": str(group.processes)}
    if len(group.hosts) == 1 and "MASTER_ADDR" not in environ:
        # The ranks of one host speak over the loopback interface, whatever the host's name resolves to.
        shared |= {"OUTRIDER_DDP_STORE": str(folder / "store"), "GLOO_SOCKET_IFNAME": environ.get("GLOO_SOCKET_IFNAME", _LOOPBACK)}
    else:
        shared["MASTER_ADDR"] = environ.get("MASTER_ADDR", group.hosts[0])
        # Without a port that somebody has seen to, they look for each other: hosts of several jobs may be one machine, as on an emulator.
        if "MASTER_PORT" not in environ:
            shared["OUTRIDER_DDP_MEETING"] = environ.get("OUTRIDER_JOB", "ddp")
    first = group.host * group.processes
    return [{**shared, "RANK": str(first + local), "LOCAL_RANK": str(local)} for local in range(group.processes)]


def launch(command: Sequence[str], environments: Sequence[Mapping[str, str]]) -> int:
    """Run the command once per environment; when one fails or this process is asked to end, end the others.

    Returns:
        0, or the exit code of the first that failed.
    """
    children = [subprocess.Popen(command, env=environment) for environment in environments]
    signals: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: signals.append(number))
    try:
        while True:
            codes = [child.poll() for child in children]
            failed = next((code for code in codes if code), 0)
            if failed or signals:
                return failed if failed > 0 else 128 + (signals[0] if signals else -failed)
            if all(code == 0 for code in codes):
                return 0
            time.sleep(_POLL_S)
    finally:
        _end(children)
        signal.signal(signal.SIGTERM, before)


def _end(children: Sequence[subprocess.Popen[bytes]]) -> None:
    for child in children:
        child.terminate()
    for child in children:
        try:
            child.wait(_TERM_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def join(rank: int, world: int, environ: Mapping[str, str]) -> None:
    """Make the default group of all ranks, over gloo; nothing where there is only one.

    Args:
        rank: of this process.
        world: how many there are.
        environ: with the variables of `rank_variables`, or those of torchrun.

    Raises:
        TimeoutError: the first rank is not found.
    """
    if world == 1:
        return
    import datetime

    import torch

    wait = datetime.timedelta(seconds=_TIMEOUT_S)
    job = environ.get("OUTRIDER_DDP_MEETING")
    if job is None:
        where = environ.get("OUTRIDER_DDP_STORE")
        how = f"file://{where}" if where else f"tcp://{environ['MASTER_ADDR']}:{environ['MASTER_PORT']}"
        torch.distributed.init_process_group("gloo", init_method=how, rank=rank, world_size=world, timeout=wait)
        return
    from rendezvous import announced, candidate_ports, store_port  # type: ignore[import-not-found]  # beside this file in jobs

    make_store = torch.distributed.TCPStore  # type: ignore[attr-defined]  # documented, but not among the exported names
    host, ports = environ["MASTER_ADDR"], candidate_ports(job)
    with contextlib.ExitStack() as while_meeting:
        if rank == 0:
            store = make_store(host, 0, world, is_master=True, timeout=wait, wait_for_workers=False)
            while_meeting.enter_context(announced(job, ports, store.port))
        else:
            port = store_port(job, host, ports, _TIMEOUT_S)
            store = make_store(host, port, world, is_master=False, timeout=wait, wait_for_workers=False)
        torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=world, timeout=wait)


def leave(world: int) -> None:
    """End the default group; nothing where there is only one rank. Whoever held models has let go of them before.

    Torch lets go of the interpreter's lock while it ends the group's threads, but not where a model, which holds the group too, is the last
    to let go of it, and a thread that waits for that lock then never ends.
    """
    if world > 1:
        import torch

        gc.collect()
        torch.distributed.destroy_process_group()
