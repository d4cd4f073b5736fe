"""Tables of numbers made with a seed, kept on disk in blocks, and read by the fraction."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

FEATURES = 20
BLOCK_ROWS = 10_000
_NOISE = 0.7


class Table(NamedTuple):
    """Part of a table: `x` (n, 20) as float32, `y` (n,) of 0 and 1, and the bytes that were read for it."""

    x: Any
    y: Any
    read_bytes: int


def tables_folder(environ: Mapping[str, str]) -> Path:
    """Return where generated tables are kept: within the cache of generated data sets."""
    cache = environ.get("OUTRIDER_CACHE")
    return (Path(cache) if cache else Path("~/.cache/outrider").expanduser()) / "tables"


def make_block(number: int, seed: int) -> Any:
    """Return a block (10,000, 21): features, and in the last column whether a bumpy function of five of them is above 0.

    The function has a wave, a product, a square and a slope; normal noise keeps the least possible error at 0.157.

    Args:
        number: which block; each is independent of the others.
        seed: of the whole table.
    """
    import numpy as np

    source = np.random.default_rng((seed, number))
    x = source.standard_normal((BLOCK_ROWS, FEATURES), dtype=np.float32)
    height = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * (x[:, 3] ** 2 - 1) + 0.3 * x[:, 4]
    label = height + _NOISE * source.standard_normal(BLOCK_ROWS, dtype=np.float32) > 0
    return np.column_stack([x, label]).astype(np.float32)


def prepare(folder: Path, rows: int, seed: int) -> list[Path]:
    """Return the files of a table of so many rows, making those that are not there.

    Several jobs may do this at once: each file appears whole, and always with the same content.
    """
    import numpy as np

    home = folder / f"seed-{seed}"
    home.mkdir(parents=True, exist_ok=True)
    paths = [home / f"block-{number:05d}.npy" for number in range(math.ceil(rows / BLOCK_ROWS))]
    for number, path in enumerate(paths):
        if not path.exists():
            part = path.with_name(f"{path.name}.{os.getpid()}")
            with part.open("wb") as file:
                np.save(file, make_block(number, seed))
            part.replace(path)
    return paths


def read(paths: list[Path], rows: int) -> Table:
    """Return the first rows of a table, reading no file beyond the last that is needed.

    Raises:
        SystemExit: there are no files.
    """
    import numpy as np

    found: list[Any] = []
    count, read_bytes = 0, 0
    for path in paths:
        if count >= rows:
            break
        block = np.load(path)
        read_bytes += path.stat().st_size
        found.append(block[: rows - count])
        count += len(found[-1])
    if not found:
        raise SystemExit("the table has no files (*.npy)")
    table = np.concatenate(found)
    return Table(table[:, :-1], table[:, -1].astype(np.int64), read_bytes)
