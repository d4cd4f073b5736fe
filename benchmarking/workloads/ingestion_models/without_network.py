"""Models without a network: one that only reads, and one that takes a known time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .base import ModelOptions, Samples
from .images import LoadContent


class Entitlement:
    """Reads the bytes of each sample and does nothing with them: what the pipeline alone can give."""

    load_sample: Callable[[Any], Any] = len

    def __init__(self, options: ModelOptions) -> None:
        pass

    def train(self, batch: Samples) -> float | None:
        """Do nothing."""
        return None

    def finish_epoch(self) -> Mapping[str, float]:
        """Return nothing."""
        return {}

    def state(self) -> Mapping[str, Any]:
        """Return nothing."""
        return {}

    def save(self, path: Path) -> None:
        """Write an empty file."""
        path.write_bytes(b"")


class Sleep(Entitlement):
    """Decodes images, hands over all else as it is, and waits `compute_s` a batch, as for an accelerator that this machine has not."""

    def __init__(self, options: ModelOptions) -> None:
        super().__init__(options)
        self.load_sample = LoadContent(options.image_size, options.content)
        self._compute_s = options.compute_s

    def train(self, batch: Samples) -> float | None:
        """Wait."""
        time.sleep(self._compute_s)
        return None
