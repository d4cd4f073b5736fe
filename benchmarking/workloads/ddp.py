"""Trains a small network data-parallel over gloo, one report an epoch and rank. The script of the benchmark `ddp`.

Runs alone: needs this folder and `outrider_report` on the path. Without RANK it is a launcher: it starts --processes ranks on this
host, numbered through all hosts (SM_HOSTS, SM_CURRENT_HOST; the first is the master). With RANK, as under torchrun, it is one rank.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from outrider_report import checkpoint_dir, phase, report, step


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
    from ranks import as_ranks  # type: ignore[import-not-found]  # lies beside this script, where a job has it on its path

    asked, words = parse_arguments(arguments), sys.argv[1:] if arguments is None else arguments
    as_ranks(__file__, asked.processes, words, environ, lambda rank, world: train(asked, rank, world, environ))


def train(asked: argparse.Namespace, rank: int, world: int, environ: Mapping[str, str]) -> None:
    """Train as one rank of the world, and report once per epoch."""
    with phase("startup"):
        import torch
        from checkpoints import load, save  # type: ignore[import-not-found]
        from ranks import join, leave

        cores = int(environ.get("OUTRIDER_CORES") or len(os.sched_getaffinity(0)))
        torch.set_num_threads(max(1, cores // int(environ.get("LOCAL_WORLD_SIZE") or world)))
        join(rank, world, environ)
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
        del model, optimiser  # which hold the group, too
        leave(world)


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
