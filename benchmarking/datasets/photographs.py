"""Crops of the photographs that scikit-learn ships: images with content that a model can tell apart, one class a photograph."""

from __future__ import annotations

import importlib.util
import io
import random
from pathlib import Path
from typing import Any

from benchmarking.datasets.made_sample import MadeSample, key_of
from definitions.datasets import ImagesDataset


class Photographs:
    """Makes crops; a generator for each sample, so that the first n samples do not depend on how many there are."""

    def __init__(self, spec: ImagesDataset) -> None:
        self._spec, self.samples = spec, spec.samples
        self.classes: int | None = spec.class_count
        self._shipped = _shipped()

    def sample(self, index: int) -> MadeSample:
        """Return the crop of this number. Further classes are the same photographs in other hues."""
        from PIL import Image

        spec = self._spec
        source = random.Random(f"{spec.seed}/{index}")
        label = index % spec.class_count
        class_name, photograph = self._shipped[label % len(self._shipped)]
        # Nothing is drawn where nothing is to vary, so that the crops of one size are what they always were.
        factor = source.uniform(1 - spec.spread, 1 + spec.spread) if spec.spread else 1.0
        width, height = (max(1, round(extent * factor)) for extent in spec.pixels)
        tallest = min(photograph.height, photograph.width * height // width) or 1
        crop_height = source.randint(max(1, min(height, tallest) * 3 // 4), tallest)
        crop_width = max(1, min(photograph.width, crop_height * width // height))
        left, top = source.randint(0, photograph.width - crop_width), source.randint(0, photograph.height - crop_height)
        crop = photograph.resize((width, height), Image.Resampling.BILINEAR, box=(left, top, left + crop_width, top + crop_height))
        hue = label // len(self._shipped)
        if hue:
            crop = _in_hue(crop, hue * 256 // -(-spec.class_count // len(self._shipped)))
            class_name = f"{class_name}-{hue:03d}"
        shape = (height, width, 3) if spec.inside == "raw" else None
        ending = "npy" if spec.inside == "raw" else spec.inside
        return MadeSample(key_of(index, spec.samples), class_name, label, (_encoded(crop, spec),), ending, shape)


def _encoded(image: Any, spec: ImagesDataset) -> bytes:
    if spec.inside == "raw":
        return bytes(image.tobytes())
    buffer = io.BytesIO()
    if spec.inside == "png":
        image.save(buffer, "PNG")
    else:
        image.save(buffer, "JPEG", quality=spec.encoder_quality)
    return buffer.getvalue()


def _in_hue(image: Any, shift: int) -> Any:
    """Return the image with all hues turned by `shift` of 256 steps."""
    from PIL import Image

    hue, saturation, value = image.convert("HSV").split()
    return Image.merge("HSV", (hue.point(lambda old: (old + shift) % 256), saturation, value)).convert("RGB")


def _shipped() -> list[tuple[str, Any]]:
    # Found without importing scikit-learn, which takes a second of processor time, in each process that makes images.
    from PIL import Image

    package = importlib.util.find_spec("sklearn")
    if package is None:
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
    (root,) = package.submodule_search_locations or [""]
    return [(path.stem, Image.open(path).convert("RGB")) for path in sorted(Path(root, "datasets", "images").glob("*.jpg"))]
