"""CSV of results, as files and as text, and how values stand in their cells."""

from __future__ import annotations

import csv
import datetime
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from definitions import strict_json
from definitions.files import replacing


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file row by row; it appears whole.

    Raises:
        UserError: the folder cannot be written, or the disk is full; the old file stands.
    """
    with replacing(path) as file:
        _write(file, header, rows)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the same as text, without the last line feed."""
    text = io.StringIO()
    _write(text, header, rows)
    return text.getvalue().removesuffix("\n")


def _write(file: IO[str], header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([cell(value) for value in row] for row in rows)


def cell(value: Any) -> str:
    """Return a CSV cell: empty for what is absent, `nan` and `inf` as reported, JSON for what has parts, numbers without a locale."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(value) if math.isfinite(value) else ("nan" if math.isnan(value) else ("inf" if value > 0 else "-inf"))
    if isinstance(value, (dict, list, tuple)):
        return strict_json.dumps(value)
    # The csv module quotes no carriage return (progress bars print them) where lines end in a line feed, and readers then see two rows.
    return str(value).replace("\r\n", "\n").replace("\r", "\n")


def utc(seconds: float | None) -> str | None:
    """Return seconds since the epoch as ISO 8601 in UTC with milliseconds, e.g. `2026-11-27T22:04:29.123Z`."""
    if seconds is None:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
