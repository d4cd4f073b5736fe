"""Generation of a set of noise images: ours into a manifest's parts, against encoding each image, by processor seconds; and on two cores.

The peer makes each image anew, as s3torch-datagen does: even noise of numpy, encoded by Pillow with its defaults, kept in memory. `memory`
is that for ours; the others write files and take checksums too, which counts against them. Sizes of files and times of decoding are
compared, as cheap images would be another set; and all checksums are looked at, as equal images would be.

Files of a round are emptied and stay until the end: for half a minute ext4 gives nobody the inodes of files that were deleted, and
looks at each of them whenever a file is made, which then takes five times as long.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import _common  # noqa: F401  # puts the repository on the path
import numpy as np
from PIL import Image

from benchmarking.datasets.generating import Generator
from benchmarking.datasets.making_pool import make_parts
from benchmarking.datasets.noise import NoiseImages
from definitions.datasets import ImagesDataset


def peer(count: int, width: int, height: int, seed: int) -> list[bytes]:
    generator = np.random.RandomState(seed)
    made = []
    for _ in range(count):
        buffer = io.BytesIO()
        Image.fromarray(generator.randint(0, high=256, size=(height, width, 3), dtype=np.uint8)).save(buffer, format="JPEG")
        made.append(buffer.getvalue())
    return made


def made(spec: ImagesDataset) -> int:
    """Return the bytes of all images, made as the peer makes them: in memory."""
    source = NoiseImages(spec)
    return sum(len(b"".join(source.sample(index).content)) for index in range(spec.samples))


def ours(spec: ImagesDataset, folder: Path) -> list:
    generator = Generator(spec)
    return [entry for number in range(generator.parts.count) for entry in generator.write_part(number, folder)]


def decoding_s(images: list[bytes]) -> float:
    begun = time.process_time()
    for image in images:
        np.asarray(Image.open(io.BytesIO(image)).convert("RGB"))
    return (time.process_time() - begun) / len(images)


def emptied(folder: Path) -> None:
    """Free the room of all files below a folder without deleting one."""
    for path in folder.rglob("*"):
        if path.is_file():
            os.truncate(path, 0)


def text(values: list[float], form: str = ".0f") -> str:
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--resolution", default="496x387")
    parser.add_argument("--times", type=int, default=4, help="times as many images for the comparison of one process with two")
    parser.add_argument("--folder", type=Path, help="where files are written (default: the temporary folder)")
    given = parser.parse_args()
    spec = ImagesDataset(type="images", content="noise", samples=given.samples, resolution=given.resolution)
    width, height = spec.pixels
    rates: dict[str, list[float]] = {name: [] for name in ("peer", "memory", "files", "tar", "tfrecord")}
    decoding: list[float] = []
    sizes: list[float] = []
    two_cores: list[float] = []
    scratch = Path(tempfile.mkdtemp(prefix="generation-", dir=given.folder))
    try:
        for number in range(given.rounds):
            begun = time.process_time()
            theirs = peer(given.samples // 16, width, height, number)
            rates["peer"].append(len(theirs) / (time.process_time() - begun))
            begun = time.process_time()
            made(spec.model_copy(update={"seed": number}))
            rates["memory"].append(given.samples / (time.process_time() - begun))
            for name, form in (("files", "jpg"), ("tar", "tar"), ("tfrecord", "tfrecord")):
                folder = scratch / f"{name}-{number}"
                folder.mkdir()
                begun = time.process_time()
                entries = ours(spec.model_copy(update={"format": form, "seed": number}), folder)
                rates[name].append(given.samples / (time.process_time() - begun))
                if name == "files":
                    assert len({(entry.checksum, entry.size_bytes) for entry in entries}) == given.samples, "two images are alike"
                    sizes.append(statistics.mean(entry.size_bytes for entry in entries) / statistics.mean(map(len, theirs)))
                    some = [(folder / entry.name).read_bytes() for entry in entries[:: len(entries) // 100]]
                    decoding.append(decoding_s(some) / decoding_s(theirs[: len(some)]))
                emptied(folder)
            walls = []
            many = spec.model_copy(update={"samples": given.samples * given.times})
            for processes in (1, 2):
                folder = scratch / f"parts-{number}-{processes}"
                folder.mkdir()
                begun = time.perf_counter()
                generator = Generator(many)
                make_parts(generator, folder, range(generator.parts.count), processes, lambda part, entries: None)
                walls.append(time.perf_counter() - begun)
                emptied(folder)
            two_cores.append(walls[0] / walls[1])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{given.samples} images {given.resolution}, {given.rounds} rounds in turn; load average {os.getloadavg()[0]:.1f}")
    for name, values in rates.items():
        ratios = [value / theirs for value, theirs in zip(values, rates["peer"], strict=True)]
        print(f"{name:>9}: {text(values)} images per processor second, {text(ratios, '.1f')} times the peer")
    print(f"size {text(sizes, '.4f')} and decoding {text(decoding, '.3f')} times the peer's; no two alike")
    print(f"two processes {text(two_cores, '.2f')} times as fast as one, by the wall, their start included")


if __name__ == "__main__":
    main()
