"""What a model is to a data pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class Samples(Protocol):
    """A batch: keys, what `load_sample` made of each content (stacked where it is tensors), labels (batch,)."""

    keys: Sequence[str]
    values: Any
    labels: Any


@dataclass(frozen=True)
class ModelOptions:
    """What a model is made with.

    Args:
        image_size: pixels of an image's side, to which others are scaled.
        learning_rate: of the optimiser.
        compute_s: seconds that a batch takes where the model only waits.
        device: `cpu` or `cuda`.
        content: of a sample: `images`, `rows` of numbers, or `bytes` that nothing decodes; empty where nobody knows.
        classes: how many labels there are; 0 where nobody counted.
    """

    image_size: int = 96
    learning_rate: float = 1e-3
    compute_s: float = 0.0
    device: str = "cpu"
    content: str = ""
    classes: int = 0


def check_labels(labels: Any, classes: int, model: str) -> None:
    """Raise `SystemExit` where a label is none of a model's classes, which torch says as an index that is out of bounds."""
    most = int(labels.max())
    if most >= classes:
        raise SystemExit(f"model {model!r}: a label is {most}, and it has {classes} classes, numbered from 0")


class PipelineModel(Protocol):
    """Says what a sample becomes, trains on batches of them, and can be saved."""

    load_sample: Callable[[Any], Any]
    """From a sample's content (bytes, or an array) to what is trained on. Called where samples are loaded, and sent there: picklable."""

    def train(self, batch: Samples) -> float | None:
        """Take one step on a batch, and return its loss; None where there is no loss."""
        ...

    def finish_epoch(self) -> Mapping[str, float]:
        """Return what is known at the end of an epoch, e.g. an accuracy, by name. The user's own model may do without it."""
        ...

    def save(self, path: Path) -> None:
        """Write what a later run would go on from to one file.

        A model may have `state() -> Mapping[str, Any]` beside it, which returns that (tensors, numbers, texts, and mappings and lists of
        them); checkpoints are then written from it, and not from a file that is read again.
        """
        ...
