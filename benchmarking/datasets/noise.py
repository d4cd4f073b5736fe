"""Images of noise, no two alike, made without encoding each: JPEGs whose rows come from a few encoded ones, in an order of their own.

A restart marker ends what an entropy coder carries over, so segments between markers can change places between images that were encoded
alike (ITU-T T.81, B.2.1 and E.1.4). Each image decodes like one that was encoded whole, and has as many bytes. Raw images and PNGs are
permuted by rows of pixels.
"""

from __future__ import annotations

import io
import re
from typing import Any

from benchmarking.datasets.made_sample import MadeSample, digits, key_of
from definitions.datasets import ImagesDataset

_BASES = 16
"""Images that are encoded for each size: their rows are what all others are made of."""
_LEVELS = 16
"""Sizes between the smallest and the largest, where there is a spread."""
_SCAN_HEADER = re.compile(rb"\xff\xda(..)", re.DOTALL)
_MARKER = re.compile(rb"\xff[\xd0-\xd7]")


class NoiseImages:
    """Makes images of evenly distributed noise; its `sample` goes by seed and number alone."""

    def __init__(self, spec: ImagesDataset) -> None:
        self._spec, self.samples = spec, spec.samples
        self.classes: int | None = spec.class_count
        self._pools: dict[tuple[int, int], Any] = {}
        self._pool = {"jpg": _jpeg_pool, "png": _pixel_pool, "raw": _pixel_pool}[spec.inside]

    def sample(self, index: int) -> MadeSample:
        """Return the image of this number; its class says nothing of what is in it."""
        spec = self._spec
        size = self._size(index)
        pool = self._pools.get(size)
        if pool is None:
            pool = self._pools[size] = self._pool(size, spec)
        label = index % spec.class_count
        content = _made(pool, index, spec, size)
        shape = (size[1], size[0], 3) if spec.inside == "raw" else None
        ending = "npy" if spec.inside == "raw" else spec.inside
        return MadeSample(key_of(index, spec.samples), f"class-{label:04d}", label, content, ending, shape)

    def _size(self, index: int) -> tuple[int, int]:
        width, height = self._spec.pixels
        if not self._spec.spread:
            return width, height
        level = digits(self._spec.seed, index, 1, _LEVELS, 0)[0]
        factor = 1 + self._spec.spread * (2 * level / (_LEVELS - 1) - 1)
        return max(1, round(width * factor)), max(1, round(height * factor))


def _made(pool: Any, index: int, spec: ImagesDataset, size: tuple[int, int]) -> tuple[bytes, ...]:
    rows, segments = pool["rows"], pool["segments"]
    try:
        chosen = digits(spec.seed, index, rows, max(1, len(segments)), spec.samples)
    except ValueError:
        # So few rows that orders of them would repeat: small, and cheap to encode one by one.
        return (_encoded(_noise((spec.seed, *size, index, 1), size), spec, restarts=False),)
    if spec.inside == "jpg":
        parts = [pool["head"]]
        for segment, marker in zip(chosen, pool["markers"], strict=True):
            parts += (segments[segment], marker)
        return (*parts, pool["last"][digits(spec.seed, index, 1, _BASES, 0)[0]], b"\xff\xd9")
    pixels = segments[list(chosen)]
    return (pixels.tobytes(),) if spec.inside == "raw" else (_encoded(pixels, spec, restarts=False),)


def _noise(seed: tuple[int, ...], size: tuple[int, int]) -> Any:
    import numpy as np

    return np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)


def _encoded(pixels: Any, spec: ImagesDataset, *, restarts: bool) -> bytes:
    from PIL import Image

    if spec.inside == "raw":
        return bytes(pixels.tobytes())
    buffer = io.BytesIO()
    if spec.inside == "png":
        # Noise does not compress, whatever time is spent on it.
        Image.fromarray(pixels).save(buffer, "PNG", compress_level=1)
    else:
        Image.fromarray(pixels).save(buffer, "JPEG", quality=spec.encoder_quality, **({"restart_marker_rows": 1} if restarts else {}))
    return buffer.getvalue()


def _jpeg_pool(size: tuple[int, int], spec: ImagesDataset) -> dict[str, Any]:
    """Return the head that all images of a size share, segments of rows but the last, what follows each, and segments of last rows.

    The last row may be lower than the others, and then has fewer bytes.
    """
    segments: list[bytes] = []
    last: list[bytes] = []
    head = b""
    for base in range(_BASES):
        jpeg = _encoded(_noise((spec.seed, *size, base), size), spec, restarts=True)
        found = _SCAN_HEADER.search(jpeg, jpeg.index(b"\xff\xc4"))
        assert found is not None, "an encoder always writes the header of a scan"
        start = found.start() + 2 + int.from_bytes(found[1], "big")
        head = jpeg[:start]
        # Within a scan 0xff is followed by 0x00, but for markers.
        *rows, lowest = _MARKER.split(jpeg[start:-2])
        segments += rows
        last.append(lowest)
    rows_each = len(segments) // _BASES
    markers = [bytes((0xFF, 0xD0 + row % 8)) for row in range(rows_each)]
    # Segments that are alike would make images that are.
    is_distinct = len(set(segments)) == len(segments)
    return {"rows": rows_each if is_distinct else 0, "segments": segments, "head": head, "markers": markers, "last": last}


def _pixel_pool(size: tuple[int, int], spec: ImagesDataset) -> dict[str, Any]:
    import numpy as np

    rows = np.concatenate([_noise((spec.seed, *size, base), size) for base in range(_BASES)])
    return {"rows": size[1], "segments": rows}
