"""What a sample is: its key, its picture and its label."""

from __future__ import annotations

import io
import zlib
from typing import TypeAlias

import numpy as np
import torch

Sample: TypeAlias = tuple[str, torch.Tensor, int]
"""Key, image as uint8 (height, width, 3), label."""


def decoded(jpeg: bytes) -> torch.Tensor:
    """Return the picture of an encoded image as uint8 (height, width, 3)."""
    from PIL import Image

    with Image.open(io.BytesIO(jpeg)) as image:
        return torch.from_numpy(np.array(image.convert("RGB")))


def key_of(name: str) -> str:
    """Return the key of a sample by the name of its file: without folders and ending."""
    return name.rpartition("/")[2].rpartition(".")[0]


def class_of(name: str) -> str:
    """Return the folder in which a file lies, which is its class."""
    return name.rpartition("/")[0].rpartition("/")[2]


def held_out(key: str) -> bool:
    """Return whether a sample is for validation: about one in ten, by its key alone, so that each reader holds out the same ones."""
    return zlib.crc32(key.encode()) % 10 == 0
