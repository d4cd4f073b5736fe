"""Trains a small CNN on images and measures how fast a loader feeds it. The script of the benchmark `demo`.

Runs alone: needs this folder and `outrider_report` on the path. Environment: OUTRIDER_CHANNEL_TRAIN, OUTRIDER_READER_TRAIN,
OUTRIDER_LAYOUT_TRAIN, OUTRIDER_CORES; for S3 the usual AWS_*.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from outrider_report import phase, report, step

_MAX_HELD_OUT = 512
_MAX_CLASSES = 100


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--loader_workers", type=int, default=0, help="processes that load beside the training one; 0: it loads itself")
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--max_samples", type=int, default=0, help="samples per epoch; 0: all")
    parser.add_argument("--max_seconds", type=float, default=0.0, help="no further batch after this long; 0: no limit")
    parser.add_argument("--image_size", type=int, default=96, help="images of another size are scaled to it")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Train as asked, and report once per epoch."""
    asked = parse_arguments(arguments)
    started_at = time.monotonic()
    with phase("startup"):
        import torch
        from ingestion import Channel, Knobs, make_loader, open_channel  # type: ignore[import-not-found]  # lies beside this script, where a job has it on its path

        channel = Channel.announced(environ)
        knobs = Knobs(batch_size=asked.batch_size, loader_workers=asked.loader_workers, seed=asked.seed)
        torch.set_num_threads(max(1, int(environ.get("OUTRIDER_CORES") or len(os.sched_getaffinity(0)))))
        torch.manual_seed(asked.seed)
        trainer = Trainer(asked)
    deadline = started_at + asked.max_seconds if asked.max_seconds else None
    with phase("load"):
        opened = open_channel(channel, environ, knobs)
        batches = make_loader(opened, knobs, _Collate(asked.image_size, opened.tolerance))
    with opened:
        for epoch in range(asked.epochs):
            opened.set_epoch(epoch)
            report(epoch=epoch + 1, **trainer.run_epoch(batches, deadline, time.monotonic))
            if deadline is not None and time.monotonic() >= deadline:
                break


class _Collate:
    """Decodes samples and stacks them to (keys, images (batch, height, width, 3) as uint8, labels (batch,)).

    A class, so that it can be sent to workers. What cannot be decoded, and may be skipped, is not in the batch.
    """

    def __init__(self, image_size: int, tolerance: Any) -> None:
        self._size, self._tolerance = (image_size, image_size), tolerance

    def __call__(self, samples: list[Any]) -> Any:
        import torch
        from ingestion import decode

        decoded = [self._tolerance.guarded(decode, sample) for sample in samples]
        whole = [sample for sample in decoded if sample is not None]
        if not whole:
            return (), torch.zeros(0, *self._size, 3, dtype=torch.uint8), torch.zeros(0, dtype=torch.int64)
        keys, images, labels = zip(*whole, strict=True)
        return keys, torch.stack([self._scaled(image) for image in images]), torch.tensor(labels)

    def _scaled(self, image: Any) -> Any:
        if tuple(image.shape[:2]) == self._size:
            return image
        import torch

        channels_first = image.permute(2, 0, 1)[None].float()
        scaled = torch.nn.functional.interpolate(channels_first, self._size, mode="bilinear", antialias=True)
        return scaled[0].permute(1, 2, 0).round().clamp(0, 255).to(torch.uint8)


class Trainer:
    """A small CNN and its optimiser. About one sample in ten is kept for validation instead of being trained on."""

    def __init__(self, asked: argparse.Namespace) -> None:
        import torch
        from torch import nn

        self._max_samples = asked.max_samples
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=4, padding=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.LazyLinear(_MAX_CLASSES),
        ).to(self._device)  # fmt: skip
        self._model(torch.zeros(1, 3, asked.image_size, asked.image_size, device=self._device))
        self._optimiser = torch.optim.Adam(self._model.parameters(), lr=asked.learning_rate)

    def run_epoch(self, batches: Iterable[Any], deadline: float | None, clock: Callable[[], float]) -> dict[str, float]:
        """Train on one pass of the data, and return its metrics.

        Args:
            batches: of (keys, images, labels).
            deadline: in the clock's seconds, after which no further batch is asked for; None for none.
            clock: monotonic seconds.

        Returns:
            `samples`, `loss` (mean over training samples), `first_batch_s` (until the first batch was there, so with the start of loader
            workers), `samples_per_s` (read and trained, without the first batch), and `accuracy` where there were samples held out.
        """
        started_at = steady_from = clock()
        first_batch_s, first_size, seen, trained, loss_sum = 0.0, 0, 0, 0, 0.0
        kept: list[tuple[Any, Any]] = []
        iterator = iter(batches)
        while not (deadline is not None and seen and clock() >= deadline) and not (self._max_samples and seen >= self._max_samples):
            with phase("load"):
                batch = next(iterator, None)
            if batch is None:
                break
            if not seen:
                first_batch_s = clock() - started_at
            with phase("train"):
                keys, images, labels = batch
                size, loss = self._learn(keys, images, labels, kept)
            seen, trained, loss_sum = seen + len(keys), trained + size, loss_sum + loss * size
            step(samples=len(keys))
            if not first_size:
                first_size, steady_from = len(keys), clock()
        ended_at = clock()
        if not seen:
            raise SystemExit("the channel gave no samples")
        # a single batch has no steady state: all of it counts then
        steady = (seen - first_size, ended_at - steady_from) if seen > first_size else (seen, ended_at - started_at)
        metrics = {
            "samples": seen,
            "loss": loss_sum / max(trained, 1),
            "samples_per_s": steady[0] / max(steady[1], 1e-9),
            "first_batch_s": first_batch_s,
        }
        with phase("validate"):
            return metrics | self._validated(kept)

    def _learn(self, keys: Sequence[str], images: Any, labels: Any, kept: list[tuple[Any, Any]]) -> tuple[int, float]:
        import torch
        from ingestion import held_out

        aside = torch.tensor([held_out(key) for key in keys])
        if aside.any() and sum(len(group) for _, group in kept) < _MAX_HELD_OUT:
            kept.append((images[aside], labels[aside]))
        images, labels = images[~aside], labels[~aside]
        if not len(labels):
            return 0, 0.0
        self._optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(self._model(self._pixels(images)), labels.to(self._device))
        torch.autograd.backward(loss)
        self._optimiser.step()
        return len(labels), float(loss.detach())

    def _validated(self, kept: list[tuple[Any, Any]]) -> dict[str, float]:
        import torch

        if not kept:
            return {}
        self._model.eval()
        with torch.inference_mode():
            right = sum(int((self._model(self._pixels(images)).argmax(1).cpu() == labels).sum()) for images, labels in kept)
        self._model.train()
        return {"accuracy": right / sum(len(labels) for _, labels in kept)}

    def _pixels(self, images: Any) -> Any:
        return images.to(self._device).permute(0, 3, 1, 2).float().div_(255.0)


if __name__ == "__main__":
    main()
