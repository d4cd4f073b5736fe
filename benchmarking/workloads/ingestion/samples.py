"""What a sample is: its key, its content as it is stored, its label, and where it lies."""

from __future__ import annotations

import io
import zlib
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch

UNLABELLED = 0
"""The label of a sample that has none, so that a loss can be computed."""

Sample: TypeAlias = tuple[str, torch.Tensor, int]
"""Key, image as uint8 (height, width, 3), label."""


class RawSample(NamedTuple):
    """One sample as it is stored.

    Args:
        key: name without folders and ending.
        content: the encoded image, or the record's bytes; an array where the format holds numbers and no encoded content.
        label: the class's number, `UNLABELLED` where there is none.
        place: object, and member or record within it; for people.
    """

    key: str
    content: Any
    label: int
    place: str


class BadSampleError(ValueError):
    """A sample that cannot be read: says where it lies, and why."""


def decode(raw: RawSample) -> Sample:
    """Return a sample with its picture as uint8 (height, width, 3).

    Raises:
        BadSampleError: the content is no image, or a truncated one.
    """
    return raw.key, pixels(raw.content, raw.place), raw.label


def pixels(content: Any, place: str) -> torch.Tensor:
    """Return the picture that encoded bytes or an array hold, as uint8 (height, width, 3).

    Args:
        content: JPEG, PNG or another form that Pillow knows; bytes of a `.npy` file; or an array (height, width, 3).
        place: where it lies, for what is said where it is none.

    Raises:
        BadSampleError: it is no image, or a truncated one.
    """
    from PIL import Image

    try:
        if isinstance(content, np.ndarray):
            return torch.from_numpy(content)
        if content[:6] == b"\x93NUMPY":
            return torch.from_numpy(np.load(io.BytesIO(content), allow_pickle=False))
        with Image.open(io.BytesIO(content)) as image:
            return torch.from_numpy(np.array(image.convert("RGB")))
    except (OSError, ValueError, SyntaxError, EOFError, TypeError, Image.DecompressionBombError) as error:
        what = "it is empty" if not len(content) else str(error).replace("<_io.BytesIO object at 0x", "<")
        raise BadSampleError(f"{place}: no image that can be read ({len(content)} bytes): {what}") from error


def key_of(name: str) -> str:
    """Return the key of a sample by the name of its file: without folders and ending."""
    return name.rpartition("/")[2].rpartition(".")[0]


def class_of(name: str) -> str:
    """Return the folder in which a file lies, which is its class."""
    return name.rpartition("/")[0].rpartition("/")[2]


def held_out(key: str) -> bool:
    """Return whether a sample is for validation: about one in ten, by its key alone, so that each reader holds out the same ones."""
    return zlib.crc32(key.encode()) % 10 == 0
