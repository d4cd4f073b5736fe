"""Trains a small network data-parallel over gloo, one report an epoch and rank. The script of the benchmark `ddp`.

Runs alone: needs this folder and `outrider_report` on the path. Without RANK it is a launcher: it starts --processes ranks on this
host, numbered through all hosts (SM_HOSTS, SM_CURRENT_HOST; the first is the master). With RANK, as under torchrun, it is one rank.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from outrider_report import checkpoint_dir, phase, report, step

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


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=1, help="ranks on each host")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=20_000, help="generated samples, shared out among the ranks")
    parser.add_argument("--hidden", type=int, default=256, help="units of both hidden layers")
    parser.add_argument("--batch_size", type=int, default=64, help="samples per step and rank")
    parser.add_argument("--learning_rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Be one rank where RANK says so or there is only one; else start this host's ranks and wait for them."""
    asked = parse_arguments(arguments)
    if asked.processes < 1:
        raise SystemExit(f"--processes {asked.processes}: at least one is needed")
    if environ.get("RANK", "").isdigit():
        train(asked, int(environ["RANK"]), int(environ.get("WORLD_SIZE") or 1), environ)
        return
    group = group_of(environ, asked.processes)
    if group.size == 1:
        train(asked, 0, 1, environ)
        return
    with tempfile.TemporaryDirectory(prefix="ddp-") as folder:
        code = launch([sys.executable, str(Path(__file__).resolve()), *(sys.argv[1:] if arguments is None else arguments)], [
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


def train(asked: argparse.Namespace, rank: int, world: int, environ: Mapping[str, str]) -> None:
    """Train as one rank of the world, and report once per epoch."""
    with phase("startup"):
        import torch
        from checkpoints import load, save  # type: ignore[import-not-found]  # lies beside this script, where a job has it on its path

        cores = int(environ.get("OUTRIDER_CORES") or len(os.sched_getaffinity(0)))
        torch.set_num_threads(max(1, cores // int(environ.get("LOCAL_WORLD_SIZE") or world)))
        _join(rank, world, environ)
        model, optimiser = make_model(asked, world)
        folder = checkpoint_dir()
    try:
        with phase("load"):
            x, y, held_x, held_y = generate(asked.samples, asked.seed)
            state = load(folder)
            done = 0 if state is None else _restore(model, optimiser, state)
        for epoch in range(done + 1, asked.epochs + 1):
            rows = share(len(y), epoch, rank, world, asked.seed)
            started_at = time.monotonic()
            with phase("train"):
                loss = _run_epoch(model, optimiser, x[rows], y[rows], asked.batch_size)
                totals = torch.tensor([loss * len(rows), float(len(rows))], dtype=torch.float64)
                if world > 1:
                    torch.distributed.all_reduce(totals)
            elapsed_s = max(time.monotonic() - started_at, 1e-9)
            with phase("validate"):
                accuracy = _accuracy(model, held_x, held_y)
            if rank == 0:
                with phase("checkpoint"):
                    save(folder, {"epoch": epoch, "model": _bare(model).state_dict(), "optimiser": optimiser.state_dict()})
            report(
                epoch=epoch,
                accuracy=accuracy,
                loss=float(totals[0] / totals[1]),
                samples_per_s=float(totals[1]) / elapsed_s,
                ranks=world,
                own_samples=len(rows),
                own_loss=loss,
            )
    finally:
        if world > 1:
            # First the model, which holds the group too: torch lets go of the interpreter's lock while it ends the group's threads, but not
            # where the model is the last to let go of it, and a thread that waits for that lock then never ends.
            del model, optimiser
            gc.collect()
            torch.distributed.destroy_process_group()


def _join(rank: int, world: int, environ: Mapping[str, str]) -> None:
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
    from rendezvous import announced, candidate_ports, store_port  # type: ignore[import-not-found]  # beside this script, too

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


def make_model(asked: argparse.Namespace, world: int) -> tuple[Any, Any]:
    """Return the network, which averages its gradients over the ranks where there are several, and its optimiser."""
    import torch
    from torch import nn

    torch.manual_seed(asked.seed)
    network: nn.Module = nn.Sequential(
        nn.Linear(_FEATURES, asked.hidden), nn.ReLU(), nn.Linear(asked.hidden, asked.hidden), nn.ReLU(), nn.Linear(asked.hidden, _CLASSES)
    )
    if world > 1:
        network = nn.parallel.DistributedDataParallel(network)
    return network, torch.optim.SGD(network.parameters(), lr=asked.learning_rate, momentum=0.9)


_FEATURES, _CLASSES, _HELD_OUT = 32, 8, 2000


def generate(samples: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return features (n, 32) and labels (n,) to train on, and 2,000 of each held out: what a fixed random network says of noise."""
    import torch

    source = torch.Generator().manual_seed(seed)
    x = torch.randn(samples + _HELD_OUT, _FEATURES, generator=source)
    inner, outer = torch.randn(_FEATURES, 64, generator=source), torch.randn(64, _CLASSES, generator=source)
    y = (torch.tanh(x @ inner / _FEATURES**0.5) @ outer).argmax(1)
    return x[:samples], y[:samples], x[samples:], y[samples:]


def share(samples: int, epoch: int, rank: int, world: int, seed: int) -> Any:
    """Return this rank's samples of an epoch: equally many for each, disjoint, in an order that depends on seed and epoch alone."""
    import torch

    order = torch.randperm(samples, generator=torch.Generator().manual_seed(seed * 1_000_003 + epoch))
    return order[: samples // world * world][rank::world]


def _run_epoch(model: Any, optimiser: Any, x: Any, y: Any, batch_size: int) -> float:
    import torch

    model.train()
    total = 0.0
    for inputs, wanted in zip(x.split(batch_size), y.split(batch_size), strict=True):
        optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(inputs), wanted)
        torch.autograd.backward(loss)
        optimiser.step()
        total += float(loss.detach()) * len(wanted)
        step(samples=len(wanted))
    return total / max(len(y), 1)


def _accuracy(model: Any, x: Any, y: Any) -> float:
    import torch

    with torch.inference_mode():
        return float((_bare(model)(x).argmax(1) == y).float().mean())


def _bare(model: Any) -> Any:
    return getattr(model, "module", model)


def _restore(model: Any, optimiser: Any, state: Mapping[str, Any]) -> int:
    _bare(model).load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    return int(state["epoch"])


if __name__ == "__main__":
    main()
