"""Writing result files: atomically, so that a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import csv
import datetime
import math
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from definitions.errors import UserError

_ADVICE = "check the folder's permissions and the room on the disk, or give another --results_dir"


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content.

    Raises:
        UserError: the folder cannot be written, or the disk is full; the old content stands.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise UserError(
            f"cannot write {path}", str(error), "check the folder's permissions and the room on the disk, or give --results_dir"
        ) from error


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file atomically, row by row; raises `UserError` as `write_atomically` does."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows([cell(value) for value in row] for row in rows)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"cannot write {path}", str(error), _ADVICE) from error


def cell(value: Any) -> str:
    """Return a CSV cell: empty for what is absent, `nan` and `inf` as reported, numbers without a locale."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(value) if math.isfinite(value) else ("nan" if math.isnan(value) else ("inf" if value > 0 else "-inf"))
    return str(value)


def utc(seconds: float | None) -> str | None:
    """Return seconds since the epoch as ISO 8601 in UTC with milliseconds, e.g. `2026-11-27T22:04:29.123Z`."""
    if seconds is None:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
