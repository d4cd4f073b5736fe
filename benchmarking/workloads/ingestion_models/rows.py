"""A network for rows of numbers, as tables have them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .base import ModelOptions, Samples, check_labels
from .images import LoadContent

_WIDTH = 128
_LEAST_CLASSES = 100


class Mlp:
    """Two layers on a row's numbers and their optimiser, made when the first rows tell how many columns there are."""

    takes = ("rows",)

    def __init__(self, options: ModelOptions) -> None:
        self.load_sample = LoadContent(options.image_size, options.content)
        self._device, self._learning_rate = options.device, options.learning_rate
        self._classes = max(options.classes, _LEAST_CLASSES)
        self._network: Any = None
        self._optimiser: Any = None

    def train(self, batch: Samples) -> float | None:
        """Take one step on all rows of a batch; a number that is missing counts as 0.

        Raises:
            SystemExit: the samples are no rows of one width, or have labels that it has no class for.
        """
        import torch

        values = batch.values
        if not isinstance(values, torch.Tensor) or values.dim() != 2:
            raise SystemExit("model 'mlp' trains on rows of numbers of one width, and these samples are others; images: cnn, resnet18, vit")
        check_labels(batch.labels, self._classes, "mlp")
        if self._network is None:
            self._make(values.shape[1])
        self._optimiser.zero_grad(set_to_none=True)
        rows = torch.nan_to_num(values.to(self._device, non_blocking=True).float())
        loss = torch.nn.functional.cross_entropy(self._network(rows), batch.labels.to(self._device, non_blocking=True))
        torch.autograd.backward(loss)
        self._optimiser.step()
        # The value of a loss on a device would be waited for; on a processor it is there.
        return float(loss.detach()) if self._device == "cpu" else None

    def finish_epoch(self) -> Mapping[str, float]:
        """Return nothing: no row is held out."""
        return {}

    def state(self) -> Mapping[str, Any]:
        """Return weights and the optimiser's state; nothing before the first step."""
        return {} if self._network is None else {"model": self._network.state_dict(), "optimiser": self._optimiser.state_dict()}

    def save(self, path: Path) -> None:
        """Write that to a file."""
        import torch

        torch.save(self.state(), path)

    def _make(self, columns: int) -> None:
        import torch
        from torch import nn

        self._network = nn.Sequential(nn.Linear(columns, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, self._classes)).to(self._device)
        self._optimiser = torch.optim.Adam(self._network.parameters(), lr=self._learning_rate)
