"""From the content of a sample to a tensor: of an encoded image one of the size that a model takes."""

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


@dataclass(frozen=True)
class LoadContent:
    """Decodes images as `LoadImage` does, and makes tensors of rows of numbers and of bytes that are none.

    Args:
        image_size: of images.
        content: of a sample: `bytes` for what nothing decodes.
    """

    image_size: int
    content: str = ""

    def __call__(self, content: Any) -> Any:
        """Return a tensor: of an image uint8 (height, width, 3), of a row its numbers (columns,), of other bytes uint8 (bytes,).

        Raises:
            Exception: an image is damaged.
        """
        import numpy as np
        import torch

        if isinstance(content, np.ndarray) and content.ndim < 2:
            return torch.from_numpy(content)
        if self.content == "bytes":
            return torch.frombuffer(bytearray(content), dtype=torch.uint8)
        return LoadImage(self.image_size)(content)


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
