"""Trains a small network on scikit-learn's handwritten digits, one report an epoch. The script of the benchmark `digits`.

Runs alone: needs this folder and `outrider_report` on the path. Paused, it goes on from its last epoch and comes to the same end.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from outrider_report import checkpoint_dir, phase, report, step

PIXELS = 64
CLASSES = 10
_BRIGHTEST = 16.0
_HELD_OUT = 360
_SPLIT_SEED = 0


class Split(NamedTuple):
    """The data: pixels (n, 64) in [0, 1] as float32, and labels (n,), of a training and a held-out part."""

    train_x: Any
    train_y: Any
    held_x: Any
    held_y: Any


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--hidden", type=int, default=64, help="units of each hidden layer")
    parser.add_argument("--layers", type=int, default=1, help="hidden layers")
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--learning_rate", type=float, default=0.01)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--weight_decay", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=None, help="default: that of the job, else 0")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Train as asked, from the checkpoint where there is one, and report once per epoch."""
    asked = parse_arguments(arguments)
    with phase("startup"):
        import torch
        from checkpoints import load, save  # type: ignore[import-not-found]  # lies beside this script, where a job has it on its path
        from seeds import seed_of  # type: ignore[import-not-found]  # likewise

        torch.set_num_threads(max(1, int(environ.get("OUTRIDER_CORES") or 1)))
        trainer = Trainer(asked, seed=seed_of(asked.seed, environ))
        folder = checkpoint_dir()
    with phase("load"):
        data = load_digits()
        state = load(folder)
        done = 0 if state is None else trainer.restore(state)
    for epoch in range(done + 1, asked.epochs + 1):
        with phase("train"):
            loss = trainer.train(data)
        with phase("validate"):
            accuracy = trainer.accuracy(data)
        # Before the report: whoever pauses on it can resume from here.
        with phase("checkpoint"):
            save(folder, trainer.state(epoch))
        report(epoch=epoch, accuracy=accuracy, loss=loss)


def load_digits() -> Split:
    """Return scikit-learn's 1,797 digits, 360 of them held out, always the same ones."""
    import numpy as np
    import torch

    # Its file is read without importing scikit-learn, which takes as long as torch, and longer than an epoch.
    package = importlib.util.find_spec("sklearn")
    if package is None:
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
    (root,) = package.submodule_search_locations or [""]
    table = np.loadtxt(Path(root, "datasets", "data", "digits.csv.gz"), delimiter=",")
    pixels, labels = table[:, :-1], table[:, -1]
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(_SPLIT_SEED))
    x, y = torch.as_tensor(pixels, dtype=torch.float32)[order] / _BRIGHTEST, torch.as_tensor(labels, dtype=torch.int64)[order]
    return Split(x[_HELD_OUT:], y[_HELD_OUT:], x[:_HELD_OUT], y[:_HELD_OUT])


def make_network(hidden: int, layers: int, dropout: float) -> Any:
    """Return a fully connected network from pixels (n, 64) to scores (n, 10)."""
    from torch import nn

    widths = [PIXELS, *[hidden] * layers]
    parts: list[Any] = []
    for before, after in itertools.pairwise(widths):
        parts += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*parts, nn.Linear(widths[-1], CLASSES))


class Trainer:
    """A network, its optimiser, and the generators of its order; all that a checkpoint holds.

    Args:
        asked: the command line.
        seed: of the weights, the order of the samples, and dropout.
    """

    def __init__(self, asked: argparse.Namespace, seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        self._batch_size = asked.batch_size
        self._network = make_network(asked.hidden, asked.layers, asked.dropout)
        self._optimiser = torch.optim.SGD(
            self._network.parameters(), lr=asked.learning_rate, momentum=asked.momentum, weight_decay=asked.weight_decay
        )

    def train(self, data: Split) -> float:
        """Go once through the training part; return the mean loss."""
        import torch

        self._network.train()
        total = 0.0
        for rows in torch.split(torch.randperm(len(data.train_y)), self._batch_size):
            self._optimiser.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(self._network(data.train_x[rows]), data.train_y[rows])
            torch.autograd.backward(loss)
            self._optimiser.step()
            total += float(loss.detach()) * len(rows)
            step(samples=len(rows))
        return total / len(data.train_y)

    def accuracy(self, data: Split) -> float:
        """Return the share of held-out digits that are recognised."""
        import torch

        self._network.eval()
        with torch.inference_mode():
            return float((self._network(data.held_x).argmax(1) == data.held_y).float().mean())

    def state(self, epoch: int) -> dict[str, Any]:
        """Return all that `restore` needs to go on after this epoch."""
        import torch

        return {
            "epoch": epoch,
            "network": self._network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "generator": torch.get_rng_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> int:
        """Take over a state; return the epochs that it has behind it."""
        import torch

        self._network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["generator"])
        return int(state["epoch"])


if __name__ == "__main__":
    main()
