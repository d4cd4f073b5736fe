"""Tables of measured runs that the simulated back-end replays: the interface, and one read from CSV."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from backends.failures import Cause
from backends.progress import ProgressLine
from definitions.columns import column_in
from definitions.errors import UserError

_BOOKKEEPING = frozenset(
    {
        "trial",
        "job",
        "attempt",
        "incarnation",
        "rank",
        "sequence",
        "at",
        "after_stop",
        "repeat",
        "level",
        "elapsed_s",
        "duration_s",
        "cause",
    }
)


@dataclass(frozen=True)
class Run:
    """One measured run.

    Args:
        reports: (seconds since the start, metrics), in order.
        duration_s: seconds from start to end.
        cause: why it failed; None where it was completed.
        progress: what it said of how far it is, in order.
    """

    reports: Sequence[tuple[float, Mapping[str, Any]]]
    duration_s: float
    cause: Cause | None = None
    progress: Sequence[ProgressLine] = ()


class RunTable(Protocol):
    """Knows how the run of a configuration goes."""

    def run(self, configuration: Mapping[str, Any], level: float | None, repeat: int) -> Run | None:
        """Return the run of a configuration at a per-job level (None where there is none), or None where it is unknown."""
        ...


class CsvTable:
    """Runs read from CSV: one row a report, rows of one run together identified by configuration, level, repeat and trial.

    Columns: each configuration key; `elapsed_s`, seconds since the start of the run; optionally `level` (per-job fidelity), `repeat`,
    `trial`, `duration_s` (of the run; else its last `elapsed_s`), `cause` (why the run failed). Every other column is a metric; an
    empty cell is a metric that the report lacks. The `reports.csv` of an earlier experiment is such a table.

    Args:
        path: the CSV file.
        keys: the configuration's keys.

    Raises:
        UserError: unreadable, no rows, or a column missing; names file and line.
    """

    def __init__(self, path: Path, keys: Sequence[str]) -> None:
        self._keys = tuple(keys)
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"table {path}", f"cannot be read: {error}", "give the path of a CSV file of measured runs") from error
        if not rows:
            raise UserError(f"table {path}", "has no rows", "give a CSV file of measured runs, e.g. the reports.csv of an experiment")
        columns = {key: column_in(key, rows[0]) for key in keys}
        missing = [name for name in ("elapsed_s", *columns.values()) if name not in rows[0]]
        if missing:
            raise UserError(
                f"table {path}", f"lacks the columns {', '.join(missing)}", f"it has {', '.join(str(name) for name in rows[0])}"
            )
        self._runs = _group(path, rows, tuple(columns.values()))

    def run(self, configuration: Mapping[str, Any], level: float | None, repeat: int) -> Run | None:
        """Return the measured run, the repeats of a configuration being used in turn."""
        found = self._runs.get((tuple(_cell(configuration.get(key)) for key in self._keys), _level(level)))
        return found[repeat % len(found)] if found else None


def _group(path: Path, rows: Sequence[Mapping[str, str]], keys: Sequence[str]) -> dict[tuple[Any, ...], list[Run]]:
    grouped: dict[tuple[Any, ...], dict[tuple[str, str], list[tuple[int, Mapping[str, str]]]]] = {}
    for line, row in enumerate(rows, 2):
        identity = (tuple(_cell(_parse(row[key])) for key in keys), _level(_parse(row.get("level") or "")))
        grouped.setdefault(identity, {}).setdefault((row.get("trial") or "", row.get("repeat") or ""), []).append((line, row))
    return {identity: [_run(path, run, keys) for run in runs.values()] for identity, runs in grouped.items()}


def _run(path: Path, rows: Sequence[tuple[int, Mapping[str, str]]], keys: Sequence[str]) -> Run:
    reports: list[tuple[float, Mapping[str, Any]]] = []
    duration_s, cause, before_s, life = 0.0, None, 0.0, None
    for line, row in sorted(rows, key=lambda entry: (*_life(entry[1]), _whole(entry[1].get("sequence")))):
        if life is not None and _life(row) != life:
            before_s = duration_s  # another attempt or incarnation: its clock starts anew
        life = _life(row)
        elapsed_s = _parse(row["elapsed_s"])
        if not isinstance(elapsed_s, (int, float)) or elapsed_s < 0:
            raise UserError(f"table {path}:{line}", f"elapsed_s is {row['elapsed_s']!r}", "it must be seconds since the start of the run")
        metrics = {
            name: _parse(text)
            for name, text in row.items()
            if name and text not in ("", None) and name not in keys and name not in _BOOKKEEPING
        }
        if metrics:
            reports.append((before_s + float(elapsed_s), metrics))
        duration_s = max(duration_s, before_s + float(elapsed_s), float(_parse(row.get("duration_s") or "0")))
        if row.get("cause"):
            try:
                cause = Cause(row["cause"])
            except ValueError as error:
                raise UserError(f"table {path}:{line}", f"unknown cause {row['cause']!r}", "causes: " + ", ".join(Cause)) from error
    return Run(tuple(sorted(reports, key=lambda report: report[0])), duration_s, cause)


def _life(row: Mapping[str, str]) -> tuple[int, int]:
    return _whole(row.get("attempt")), _whole(row.get("incarnation"))


def _whole(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0


def _parse(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"True": True, "true": True, "False": False, "false": False, "": None}.get(text, text)


def _cell(value: Any) -> Any:
    # 32 and 32.0 hash alike, as they should; True and 1 must not.
    return ("bool", value) if isinstance(value, bool) else value


def _level(value: Any) -> float | None:
    return None if value is None else round(float(value), 12)
