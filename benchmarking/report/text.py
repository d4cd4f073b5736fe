"""Plain-text tables and numbers for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return an aligned table; numbers to the right, text to the left."""
    cells = [[shown(value) for value in row] for row in rows]
    widths = [max(len(header[column]), *(len(row[column]) for row in cells), 0) for column in range(len(header))]
    right = [bool(rows) and all(isinstance(row[column], (int, float, type(None))) for row in rows) for column in range(len(header))]
    lines = [list(header), ["-" * width for width in widths], *cells]
    return "\n".join(
        "  ".join(
            text.rjust(width) if to_right else text.ljust(width) for text, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def shown(value: Any) -> str:
    """Return a value for a table, on one line: four significant digits, `-` for what is absent, and no letter that moves the cursor."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool) or not isinstance(value, float):
        text = str(value)
        return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
    if not math.isfinite(value):
        return str(value)
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.4g}"
    value += 0.0  # so that minus zero has no sign
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{digits}f}"


def dollars(value: float | None) -> str:
    """Return money with as many digits as it takes, e.g. `$0.00012`, `$1.25`; `unknown` for None."""
    if value is None:
        return "unknown"
    if value == 0 or abs(value) >= 1:
        return f"${value:.2f}"
    return f"${value:.{max(2, 1 - math.floor(math.log10(abs(value))))}f}"


def duration(seconds: float) -> str:
    """Return seconds as `42 s`, `3 min 10 s` or `2 h 5 min`."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def configuration_text(configuration: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the given keys of a configuration as `key=value key=value`."""
    return " ".join(f"{key}={shown(key_value(configuration, key))}" for key in keys)


def key_value(configuration: Mapping[str, Any], key: str) -> Any:
    """Return what a table shows of a key: empty text and null as a definition writes them, None (shown `-`) where the key is not there."""
    if key not in configuration:
        return None
    value = configuration[key]
    return "null" if value is None else f"'{value}'" if value in ("", "null") else value
