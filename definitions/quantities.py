"""Counts, sizes and shares as people write and read them: `2k` samples, `8MiB` shards, `1%`."""

from __future__ import annotations

import re
from typing import Any

_COUNTS = {"": 1, **{p: 1000**k for k, p in enumerate("kmg", 1)}, **{f"{p}i": 1024**k for k, p in enumerate("kmg", 1)}}
_SIZES = {"": 1, "b": 1, **{f"{p}b": 1000**k for k, p in enumerate("kmgt", 1)}, **{f"{p}ib": 1024**k for k, p in enumerate("kmgt", 1)}}
_FORM = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*")


def parse_count(value: Any) -> int:
    """Return a count given as a whole number or as `2k`, `1.5M`, `4Ki`; raises ValueError for anything else."""
    return _parse(value, _COUNTS, "a count such as 2000 or 2k")


def parse_size(value: Any) -> int:
    """Return bytes given as a whole number or as `8MiB`, `64kB`; raises ValueError for anything else."""
    return _parse(value, _SIZES, "a size such as 65536 or 8MiB")


def parse_share(value: Any) -> float:
    """Return a share below 1 given as a number or as `1%`; raises ValueError for anything else."""
    text = str(value)
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if isinstance(value, bool) or not 0.0 <= share < 1.0:
        raise ValueError(f"needs a share below 1, such as 1% or 0.01; {value!r} was given")
    return share


def size_text(size_bytes: float) -> str:
    """Return bytes with the largest unit, in steps of 1024, of which there is one: `512 B`, `1.5 GiB`."""
    value, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def _parse(value: Any, units: dict[str, int], wanted: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2].lower() not in units:
        raise ValueError(f"{value!r} is not {wanted}")
    amount = float(match[1]) * units[match[2].lower()]
    if amount != int(amount):
        raise ValueError(f"{value!r} is not a whole number")
    return int(amount)
