"""Makes the `images` data sets: JPEG crops of the photographs that scikit-learn ships, as files or as TAR shards."""

from __future__ import annotations

import io
import random
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from definitions.errors import UserError
from definitions.schema import ImagesDataset

VERSION = 1
"""Raised whenever other bytes come out for the same specification, so that older caches do not count."""

_QUALITY = 90


def write_images(spec: ImagesDataset, folder: Path) -> None:
    """Write the data set into an empty folder: `<class>/<index>.jpg`, or `shard-<number>.tar` of `<index>.jpg` and `<index>.cls`."""
    plain = ImagesDataset(type="images").model_copy(update=dict.fromkeys(("format", "samples", "image_size", "shard_size", "seed")))
    if (
        spec.format not in ("jpg", "tar")
        or spec.model_copy(update=dict.fromkeys(("format", "samples", "image_size", "shard_size", "seed"))) != plain
    ):
        raise UserError(
            "a data set of type images of another form than JPEG crops of photographs", "it cannot be made yet", "use jpg or tar"
        )
    samples = _samples(spec)
    if spec.layout == "shards":
        _write_shards(samples, folder, spec.shard_size)
        return
    for key, _, class_name, jpeg in samples:
        path = folder / class_name / f"{key}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(jpeg)


def libraries() -> dict[str, str]:
    """Return the versions of what decides about the bytes, besides the specification; raises `UserError` where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return {name: version(name) for name in ("pillow", "scikit-learn")}
    except PackageNotFoundError as error:
        raise UserError(
            "a data set of type images was asked for", f"the package {error.name} is not installed", "pip install pillow scikit-learn"
        ) from error


def _samples(spec: ImagesDataset) -> Iterator[tuple[str, int, str, bytes]]:
    from PIL import Image

    photographs = _photographs()
    size = (spec.image_size, spec.image_size)
    for index in range(spec.samples):
        # a generator for each sample, so that the first n samples do not depend on how many there are
        random_source = random.Random(f"{spec.seed}/{index}")
        label = index % len(photographs)
        class_name, photograph = photographs[label]
        longest = min(photograph.size)
        side = random_source.randint(min(spec.image_size, longest) * 3 // 4, longest)
        left, top = (random_source.randint(0, extent - side) for extent in photograph.size)
        crop = photograph.resize(size, Image.Resampling.BILINEAR, box=(left, top, left + side, top + side))
        buffer = io.BytesIO()
        crop.save(buffer, "JPEG", quality=_QUALITY)
        yield f"{index:06d}", label, class_name, buffer.getvalue()


def _photographs() -> list[tuple[str, Any]]:
    from PIL import Image
    from sklearn.datasets import load_sample_images

    shipped = load_sample_images()
    named = zip((Path(name).stem for name in shipped.filenames), shipped.images, strict=True)
    return [(name, Image.fromarray(pixels)) for name, pixels in sorted(named, key=lambda pair: pair[0])]


def _write_shards(samples: Iterator[tuple[str, int, str, bytes]], folder: Path, shard_bytes: int) -> None:
    number, shard = 0, None
    try:
        for key, label, _, jpeg in samples:
            members = ((f"{key}.jpg", jpeg), (f"{key}.cls", str(label).encode()))
            # a member takes a header block and whole 512-byte blocks
            needed_bytes = sum(512 + -(-len(data) // 512) * 512 for _, data in members)
            if shard is not None and shard.offset and shard.offset + needed_bytes > shard_bytes:
                shard.close()
                shard = None
            if shard is None:
                shard = tarfile.open(folder / f"shard-{number:05d}.tar", "w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
                number += 1
            for name, data in members:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                shard.addfile(info, io.BytesIO(data))
    finally:
        if shard is not None:
            shard.close()
