"""From an encoded image to a tensor of the size that a model takes."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any


@dataclass(frozen=True)
class LoadImage:
    """Decodes an image to uint8 (height, width, 3) of a fixed size; a class, so that it can be sent to workers.

    Args:
        image_size: height and width; an image of another size is scaled to it.
    """

    image_size: int

    def __call__(self, content: Any) -> Any:
        """Return the image that encoded bytes, those of a `.npy` file, or an array hold.

        Raises:
            Exception: it is damaged; Pillow raises `UnidentifiedImageError`, `OSError`, `SyntaxError` and others.
        """
        import torch

        pixels = torch.from_numpy(_array(content))
        size = (self.image_size, self.image_size)
        if tuple(pixels.shape[:2]) == size:
            return pixels
        channels_first = pixels.permute(2, 0, 1)[None].float()
        scaled = torch.nn.functional.interpolate(channels_first, size, mode="bilinear", antialias=True)
        return scaled[0].permute(1, 2, 0).round().clamp(0, 255).to(torch.uint8)


def pixels_of(values: Any, device: str) -> Any:
    """Return images (batch, height, width, 3) as uint8 as (batch, 3, height, width) in [0, 1] on a device."""
    return values.to(device, non_blocking=True).permute(0, 3, 1, 2).float().div_(255.0)


def _array(content: Any) -> Any:
    import numpy as np
    from PIL import Image

    if isinstance(content, np.ndarray):
        return content
    if content[:6] == b"\x93NUMPY":
        return np.load(BytesIO(content), allow_pickle=False)
    with Image.open(BytesIO(content)) as image:
        return np.array(image.convert("RGB"))
