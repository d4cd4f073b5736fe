"""Which objects of a data set a canary reads: whole objects, the same ones for every configuration, where a channel is `sampled`."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from definitions import strict_json
from definitions.errors import UserError
from definitions.files import making_folder

LEAST_PARTITIONS = 10
"""Objects that a data set needs, as one of fewer is more than a tenth of the data however small a fraction is asked for."""


@dataclass(frozen=True)
class Sample:
    """A part of a data set.

    Args:
        objects: names, in order; `bytes`: of them together.
        fraction: their share of all bytes, which is what was really sampled.
    """

    objects: tuple[str, ...]
    bytes: int
    fraction: float


def choose(objects: Sequence[tuple[str, int]], fraction: float, seed: int, repeat: int) -> Sample:
    """Return the objects of a sample: a seeded order, cut where their bytes come nearest to the fraction; never none.

    A larger fraction of the same seed and repeat contains the smaller one. Configurations do not enter, so that their samples are paired.

    Args:
        objects: (name, bytes) of all objects.
        fraction: in (0, 1], share of the bytes that is asked for.
        seed: of the experiment.
        repeat: number of the repeated measurement; each has an order of its own.

    Raises:
        UserError: fewer objects than `LEAST_PARTITIONS`, for a fraction below 1.
    """
    total = sum(size for _, size in objects)
    if fraction >= 1.0:
        return Sample(tuple(sorted(name for name, _ in objects)), total, 1.0)
    check_partitions(len(objects))
    order = sorted(objects)
    random.Random(f"sample-{seed}-{repeat}").shuffle(order)
    wanted, taken = total * fraction, 0
    chosen: list[str] = []
    for name, size in order:
        if chosen and abs(taken + size - wanted) >= abs(taken - wanted):
            break
        chosen.append(name)
        taken += size
    return Sample(tuple(sorted(chosen)), taken, taken / total if total else len(chosen) / len(objects))


def sample_name(fraction: float, seed: int, repeat: int) -> str:
    """Return what a sample is called in tables, and how the name of its folder with the manifest begins."""
    return f"{fraction:.6g}-s{seed}-r{repeat}"


def check_partitions(count: int) -> None:
    """Raise `UserError` where a data set has too few objects to be sampled by whole objects."""
    if count < LEAST_PARTITIONS:
        raise UserError(
            f"a data set of {count} objects cannot be sampled by whole objects",
            f"one of them is {1 / max(count, 1):.0%} of it, and a canary reads much less; at least {LEAST_PARTITIONS} are needed",
            "store it in more shards, or let the script use a fraction of its rows and leave out `sampled`",
        )


def sample_folder(folder: Path, cache: Path, fraction: float, seed: int, repeat: int) -> Path:
    """Return a folder with links to the sampled files of another one, and beside it `manifest.json` with their names, bytes and share.

    Raises:
        UserError: too few files.
    """
    files = {path.relative_to(folder).as_posix(): path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file()}
    sample = choose(list(files.items()), fraction, seed, repeat)
    identity = strict_json.dumps([str(folder), sorted(files.items()), fraction, seed, repeat])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    final = cache / "samples" / f"{sample_name(fraction, seed, repeat)}-{digest}"
    if not (final / "data").is_dir():
        with making_folder(final) as making:
            for name in sample.objects:
                link = making / "data" / name
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to((folder / name).resolve())
            manifest = {"objects": sample.objects, "bytes": sample.bytes, "fraction": sample.fraction, "asked": fraction}
            (making / "manifest.json").write_text(strict_json.dumps(manifest), encoding="utf-8")
    return final / "data"
