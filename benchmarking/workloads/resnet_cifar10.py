"""Trains ResNet-18 on CIFAR-10, one report an epoch. The script of the benchmark `resnet_cifar10`.

Runs alone: needs this folder and `outrider_report` on the path. The data come from the channel `train` where there is one, else from
--data_dir, where the published archive is fetched to, or a small likeness of it is generated. Paused, it goes on from its last epoch.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outrider_report import checkpoint_dir, phase, report, step

_HELD_OUT = 0.2
_SPLIT_SEED = 0
_SHIFT = 4
_MEAN, _SPREAD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
"""Of the training images' red, green and blue, from 0 to 1."""


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=27)
    parser.add_argument("--batch_size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.05, help="learning rate at the start; it falls to 0 along a cosine")
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--weight_decay", type=float, default=5e-4)
    parser.add_argument("--width", type=int, default=64, help="channels of the first stage; 64 is ResNet-18")
    parser.add_argument("--data", choices=("archive", "generated"), default="archive", help="the published images, or made-up ones")
    parser.add_argument("--data_dir", default="", help="folder of the data; default: in the cache of data sets")
    parser.add_argument("--max_samples", type=int, default=0, help="images used at most, training and validation together; 0: all")
    parser.add_argument("--seed", type=int, default=None, help="default: that of the job, else 0")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Train as asked, from the checkpoint where there is one, and report once per epoch."""
    asked = parse_arguments(arguments)
    with phase("startup"):
        import torch
        from checkpoints import load, save  # type: ignore[import-not-found]  # lies beside this script, where a job has it on its path
        from seeds import seed_of  # type: ignore[import-not-found]  # likewise

        torch.set_num_threads(max(1, int(environ.get("OUTRIDER_CORES") or len(os.sched_getaffinity(0)))))
        device = "cuda" if torch.cuda.is_available() else "cpu"
        trainer = Trainer(asked, device, seed=seed_of(asked.seed, environ))
        folder = checkpoint_dir()
    with phase("load"):
        train, held = split(read_images(asked, environ), asked.max_samples, device)
        state = load(folder)
        done = 0 if state is None else trainer.restore(state)
    for epoch in range(done + 1, asked.epochs + 1):
        started_at = time.monotonic()
        with phase("train"):
            loss = trainer.train(*train)
        trained_s = time.monotonic() - started_at
        with phase("validate"):
            accuracy = trainer.accuracy(*held)
        # Before the report: whoever pauses on it can resume from here.
        with phase("checkpoint"):
            save(folder, trainer.state(epoch))
        samples_per_s = len(train[1]) / max(trained_s, 1e-9)
        report(epoch=epoch, val_accuracy=accuracy, val_error=1.0 - accuracy, loss=loss, train_samples_per_s=samples_per_s)


def read_images(asked: argparse.Namespace, environ: Mapping[str, str]) -> Any:
    """Return the training images (the test images are nobody's to choose by), from wherever the data are."""
    import cifar10  # type: ignore[import-not-found]

    channel = environ.get("OUTRIDER_CHANNEL_TRAIN") or environ.get("SM_CHANNEL_TRAIN")
    if channel:
        return cifar10.load(Path(channel))[0]
    cache = Path(environ.get("OUTRIDER_CACHE") or "~/.cache/outrider").expanduser()
    count = asked.max_samples or 5000
    home = Path(asked.data_dir) if asked.data_dir else cache / ("cifar10" if asked.data == "archive" else f"cifar10-generated-{count}")
    home.mkdir(parents=True, exist_ok=True)
    if asked.data == "generated":
        cifar10.generate(home, train=count, test=max(10, count // 5))
    else:
        cifar10.fetch(home)
    return cifar10.load(home)[0]


def split(images: Any, max_samples: int, device: str) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return (pixels, labels) for training and for validation, a fifth, always the same ones, on the device."""
    import torch

    order = torch.randperm(len(images.labels), generator=torch.Generator().manual_seed(_SPLIT_SEED))[: max_samples or None]
    pixels, labels = torch.as_tensor(images.pixels)[order].to(device), torch.as_tensor(images.labels)[order].to(device)
    held = max(1, round(len(labels) * _HELD_OUT))
    return (pixels[held:], labels[held:]), (pixels[:held], labels[:held])


def augmented(pixels: Any) -> Any:
    """Return images (n, 3, 32, 32), each shifted by up to 4 pixels with black borders and mirrored half of the time."""
    import torch

    count, _, side, _ = pixels.shape
    device = pixels.device
    padded = torch.nn.functional.pad(pixels, (_SHIFT,) * 4)
    # Drawn on the CPU, so that one generator, which a checkpoint holds, decides everything.
    down, right = torch.randint(0, 2 * _SHIFT + 1, (2, count, 1)).to(device)
    columns = torch.arange(side, device=device).expand(count, side)
    mirrored = (torch.rand(count, 1) < 0.5).to(device)
    columns = torch.where(mirrored, side - 1 - columns, columns) + right
    rows = torch.arange(side, device=device) + down
    which = torch.arange(count, device=device)
    shifted = padded[which[:, None, None], :, rows[:, :, None], columns[:, None, :]]
    return shifted.permute(0, 3, 1, 2)


class Trainer:
    """A network, its optimiser and its schedule; all that a checkpoint holds.

    Args:
        asked: the command line.
        device: `cuda` or `cpu`.
        seed: of the weights, the order of the images, and their augmentation.
    """

    def __init__(self, asked: argparse.Namespace, device: str, seed: int) -> None:
        import torch
        from resnet import ResNet18  # type: ignore[import-not-found]

        torch.manual_seed(seed)
        self._batch_size = asked.batch_size
        self._network = ResNet18(width=asked.width).to(device)
        self._optimiser = torch.optim.SGD(
            self._network.parameters(), lr=asked.lr, momentum=asked.momentum, weight_decay=asked.weight_decay, nesterov=asked.momentum > 0
        )
        self._schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self._optimiser, T_max=asked.epochs)
        self._mean = torch.tensor(_MEAN, device=device).view(1, 3, 1, 1)
        self._spread = torch.tensor(_SPREAD, device=device).view(1, 3, 1, 1)

    def train(self, pixels: Any, labels: Any) -> float:
        """Go once through the training images; return the mean loss."""
        import torch

        self._network.train()
        total = torch.zeros((), device=labels.device)
        for rows in torch.split(torch.randperm(len(labels)), self._batch_size):
            rows = rows.to(labels.device)
            self._optimiser.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(self._network(self._scaled(augmented(pixels[rows]))), labels[rows])
            torch.autograd.backward(loss)
            self._optimiser.step()
            total += loss.detach() * len(rows)
            step(samples=len(rows))
        self._schedule.step()
        return float(total) / len(labels)

    def accuracy(self, pixels: Any, labels: Any) -> float:
        """Return the share of images that are recognised."""
        import torch

        self._network.eval()
        with torch.inference_mode():
            parts = zip(pixels.split(256), labels.split(256), strict=True)
            right = sum(int((self._network(self._scaled(some)).argmax(1) == wanted).sum()) for some, wanted in parts)
        return right / len(labels)

    def _scaled(self, pixels: Any) -> Any:
        return (pixels.float() / 255.0 - self._mean) / self._spread

    def state(self, epoch: int) -> dict[str, Any]:
        """Return all that `restore` needs to go on after this epoch."""
        import torch

        return {
            "epoch": epoch,
            "network": self._network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "schedule": self._schedule.state_dict(),
            "generator": torch.get_rng_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> int:
        """Take over a state; return the epochs that it has behind it."""
        import torch

        self._network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["generator"])
        return int(state["epoch"])


if __name__ == "__main__":
    main()
