"""Canaries from a CSV table that anybody may have measured."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarking.forecasting.data.canary import COLUMNS, COMPLETED, CPU_COLUMNS, NUMBERS, OUT_OF_MEMORY, Canary, CanaryTable, checked
from definitions.errors import UserError, did_you_mean

_COMPLETED_WORDS = ("", "completed", "complete", "ok", "success", "succeeded", "done")
_MEMORY_WORDS = ("out_of_memory", "oom", "infeasible", "outofmemory", "out of memory")


def read_table(path: Path) -> CanaryTable:
    """Return the canaries in a CSV file with some of `COLUMNS`.

    Raises:
        UserError: unreadable, no rows, a column missing, or a value that cannot be; names file, line and column.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"table {path}", f"cannot be read: {error}", "give the CSV file of canary runs") from error
    return parse_table(text, str(path))


def parse_table(text: str, where: str = "table") -> CanaryTable:
    """Return the canaries in CSV text; see `read_table`."""
    reader = csv.DictReader(io.StringIO(text))
    header = reader.fieldnames or ()
    for name in ("configuration", "fraction"):
        if name not in header:
            found = ", ".join(header) or "nothing"
            advice = did_you_mean(name, list(header)) if header else "columns: " + ", ".join(COLUMNS)
            raise UserError(f"{where}: there is no column {name!r}", f"it has {found}", advice)
    if not any(name in header for name in NUMBERS):
        raise UserError(f"{where}: nothing was measured", f"it has {', '.join(header)}", "columns: " + ", ".join(NUMBERS))
    canaries, notes = [], []
    try:
        for row in reader:
            if not any((text or "").strip() for text in row.values() if isinstance(text, str)):
                continue
            # A cell may have lines of its own; this is the last one of the row.
            line = reader.line_num
            canary, wrong = _canary(_Place(where, line, tuple(header)), row)
            canaries.append(canary)
            notes += [(canary.configuration, f"line {line}: {text}") for text in wrong]
    except csv.Error as error:
        raise UserError(f"{where}:{reader.line_num}", f"is no CSV: {error}", "write it as a spreadsheet does, with commas") from error
    if not canaries:
        raise UserError(f"{where}: there are no rows", "a forecast needs measured canaries", "columns: " + ", ".join(COLUMNS))
    return checked(canaries, notes, has_repeats="repeat" in header)


class _Place(NamedTuple):
    """A row of a table."""

    table: str
    line: int
    header: tuple[str, ...]

    def of(self, column: str) -> str:
        """Return file, line and number of the column, as editors jump to."""
        return f"{self.table}:{self.line}:{self.header.index(column) + 1}"


def _canary(place: _Place, row: Mapping[str, Any]) -> tuple[Canary, list[str]]:
    name = (row["configuration"] or "").strip()
    if not name:
        raise UserError(
            f"{place.of('configuration')}: the configuration has no name",
            "canaries are grouped by it",
            "fill in the column `configuration`",
        )
    fraction = _number(row["fraction"])
    if fraction is None or not 0 < fraction <= 1:
        advice = "write 1 % as 0.01" if fraction is not None and fraction > 1 else "give the share of the data that the run used"
        raise UserError(f"{place.of('fraction')}: fraction is {row['fraction']!r}", "it must be above 0 and at most 1", advice)
    values: dict[str, Any] = {}
    wrong = []
    for column in NUMBERS:
        text = (row.get(column) or "").strip()
        value = _number(text)
        if text and value is None and text.lower() not in ("nan", "none", "null", "-"):
            raise UserError(f"{place.of(column)}: {column} is {text!r}", "it must be a number, or empty where it was not measured")
        if value is not None and value < 0:
            # -1 is what canary_training writes for a metric that was not there.
            wrong.append(f"{column} = {value:g} is negative and was left out")
            value = None
        if text and value is None and not wrong:
            wrong.append(f"{column} is not a finite number and was left out")
        values[column] = value
    cpu = {name: value for name in CPU_COLUMNS if (value := _number((row.get(name) or "").strip())) is not None and value >= 0}
    count = _number((row.get("instance_count") or "").strip())
    canary = Canary(
        configuration=name,
        fraction=fraction,
        repeat=int(_number((row.get("repeat") or "").strip()) or 0),
        **values,
        status=status_of(row.get("status") or ""),
        instance_type=(row.get("instance_type") or "").strip(),
        instance_count=max(1, int(count or 1)),
        family=(row.get("family") or "").strip(),
        about=cpu,
    )
    return canary, wrong


def status_of(word: str) -> str:
    """Return `completed`, `out_of_memory`, or the word in small letters: a run that says nothing about the full job."""
    small = word.strip().lower()
    if small in _COMPLETED_WORDS:
        return COMPLETED
    return OUT_OF_MEMORY if small in _MEMORY_WORDS else small


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
