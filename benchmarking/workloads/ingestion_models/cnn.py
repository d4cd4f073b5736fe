"""A small convolutional network that holds some samples out for validation."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .base import ModelOptions, Samples, check_labels
from .images import LoadImage, pixels_of

_MAX_HELD_OUT = 512
_LEAST_CLASSES = 100


def held_out(key: str) -> bool:
    """Return whether a sample is for validation: about one in ten, by its key alone, so that each reader holds out the same ones."""
    return zlib.crc32(key.encode()) % 10 == 0


class Cnn:
    """A network of two convolutions and its optimiser. About one sample in ten is kept for validation instead of being trained on."""

    takes = ("images",)

    def __init__(self, options: ModelOptions) -> None:
        import torch
        from torch import nn

        self.load_sample = LoadImage(options.image_size)
        self._device, self._classes = options.device, max(options.classes, _LEAST_CLASSES)
        self._model = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=4, padding=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.LazyLinear(self._classes),
        ).to(self._device)  # fmt: skip
        self._model(torch.zeros(1, 3, options.image_size, options.image_size, device=self._device))
        self._optimiser = torch.optim.Adam(self._model.parameters(), lr=options.learning_rate)
        self._kept: list[tuple[Any, Any]] = []

    def train(self, batch: Samples) -> float | None:
        """Take one step on the samples that are not held out."""
        import torch

        check_labels(batch.labels, self._classes, "cnn")
        images, labels = self._without_held_out(batch.keys, batch.values, batch.labels)
        if not len(labels):
            return None
        self._optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(self._model(pixels_of(images, self._device)), labels.to(self._device))
        torch.autograd.backward(loss)
        self._optimiser.step()
        # The value of a loss on a device would be waited for; on a processor it is there.
        return float(loss.detach()) if self._device == "cpu" else None

    def finish_epoch(self) -> Mapping[str, float]:
        """Return the `accuracy` on what was held out; nothing where nothing was."""
        import torch

        kept, self._kept = self._kept, []
        if not kept:
            return {}
        self._model.eval()
        with torch.inference_mode():
            right = sum(int((self._model(pixels_of(images, self._device)).argmax(1).cpu() == labels).sum()) for images, labels in kept)
        self._model.train()
        return {"accuracy": right / sum(len(labels) for _, labels in kept)}

    def state(self) -> Mapping[str, Any]:
        """Return weights and the optimiser's state."""
        return {"model": self._model.state_dict(), "optimiser": self._optimiser.state_dict()}

    def save(self, path: Path) -> None:
        """Write that to a file."""
        import torch

        torch.save(self.state(), path)

    def _without_held_out(self, keys: Sequence[str], images: Any, labels: Any) -> tuple[Any, Any]:
        import torch

        aside = torch.tensor([held_out(key) for key in keys])
        if not aside.any():
            return images, labels
        if sum(len(group) for _, group in self._kept) < _MAX_HELD_OUT:
            self._kept.append((images[aside], labels[aside]))
        return images[~aside], labels[~aside]
