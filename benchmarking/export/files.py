"""Writing result files: atomically, so that a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import contextlib
import csv
import datetime
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from definitions import strict_json
from definitions.errors import UserError


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content.

    Raises:
        UserError: the folder cannot be written, or the disk is full; the old content stands.
    """
    with _replacing(path) as file:
        file.write(text)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file atomically, row by row; raises `UserError` as `write_atomically` does."""
    with _replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([cell(value) for value in row] for row in rows)


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[IO[str]]:
    """Give a new file to write to, which takes the path's place when all went well and vanishes otherwise."""
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        # What UTF-8 cannot hold (half a character in a script's message) is written as an escape rather than not at all.
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            advice = "check the folder's permissions and the room on the disk, or give another --results_dir"
            raise UserError(f"cannot write {path}", str(error), advice) from error
        raise


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
