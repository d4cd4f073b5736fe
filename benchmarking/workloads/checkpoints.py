"""Keeps and finds a training's checkpoint, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_NAME = "checkpoint.pt"


def save(folder: Path | None, state: Mapping[str, Any]) -> None:
    """Write a checkpoint in place of the last one; nothing where there is no folder.

    Args:
        folder: as `outrider_report.checkpoint_dir` returns it.
        state: tensors, numbers, texts, and mappings and lists of them.
    """
    if folder is None:
        return
    import torch

    # A job can be killed at any moment, so the last checkpoint is there until the next one is whole.
    part = folder / (_NAME + ".part")
    torch.save(dict(state), part)
    part.replace(folder / _NAME)


def load(folder: Path | None) -> dict[str, Any] | None:
    """Return the last checkpoint, on the CPU; None where there is none."""
    if folder is None or not (folder / _NAME).is_file():
        return None
    import torch

    found: dict[str, Any] = torch.load(folder / _NAME, map_location="cpu", weights_only=True)
    return found
