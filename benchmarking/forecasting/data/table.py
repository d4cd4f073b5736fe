"""Canary runs as data, and reading them from a CSV table that anybody may have measured."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from definitions.errors import UserError, did_you_mean

COMPLETED, OUT_OF_MEMORY = "completed", "out_of_memory"

_COMPLETED_WORDS = ("", "completed", "complete", "ok", "success", "succeeded", "done")
_MEMORY_WORDS = ("out_of_memory", "oom", "infeasible", "outofmemory", "out of memory")


@dataclass(frozen=True)
class Canary:
    """One measured run of a configuration at a fraction of the full job; None is what was not measured.

    Args:
        configuration: name of the configuration; its canaries have it in common.
        fraction: nominal share of the data, in (0, 1]; `rows`, `bytes`: what was really read.
        repeat: number of the repeated measurement.
        startup_s, load_s, train_s, checkpoint_s: seconds by phase; `total_s`: from start to end.
        steps: optimiser steps or rounds; `step_s`: seconds of a steady one.
        cpu_s: processor seconds; `rss_bytes`, `gpu_bytes`: peaks; `cpu_util`, `gpu_util`: means, in percent or as shares.
        status: `completed`, `out_of_memory`, or why the run says nothing (`stopped`, `failed`, `interrupted`, ...).
        family: of the algorithm, see `families`; empty where unknown.
        about: whatever else is known, for tables of raw measurements.
    """

    configuration: str
    fraction: float
    repeat: int = 0
    rows: float | None = None
    bytes: float | None = None
    startup_s: float | None = None
    load_s: float | None = None
    train_s: float | None = None
    checkpoint_s: float | None = None
    total_s: float | None = None
    steps: float | None = None
    step_s: float | None = None
    cpu_s: float | None = None
    rss_bytes: float | None = None
    gpu_bytes: float | None = None
    cpu_util: float | None = None
    gpu_util: float | None = None
    status: str = COMPLETED
    instance_type: str = ""
    instance_count: int = 1
    family: str = ""
    about: Mapping[str, Any] = field(default_factory=dict, compare=False)


NUMBERS = (
    "rows", "bytes", "startup_s", "load_s", "train_s", "checkpoint_s", "total_s", "steps", "step_s", "cpu_s", "rss_bytes", "gpu_bytes",
    "cpu_util", "gpu_util",
)  # fmt: skip
"""Columns that hold measurements; any of them may be missing."""

CPU_COLUMNS = ("startup_cpu_s", "load_cpu_s", "train_cpu_s", "checkpoint_cpu_s")
"""Further columns, for processor time by phase; the reporter's sampler measures it."""

COLUMNS = ("configuration", "fraction", "repeat", *NUMBERS, "status", "instance_type", "instance_count", "family")


@dataclass(frozen=True)
class CanaryTable:
    """Canaries, and what was wrong with some rows, by configuration (`""` for the whole table)."""

    canaries: tuple[Canary, ...]
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_table(path: Path) -> CanaryTable:
    """Return the canaries in a CSV file with some of `COLUMNS`.

    Raises:
        UserError: unreadable, no rows, a column missing, or a value that cannot be; names file and line.
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
    for line, row in enumerate(reader, 2):
        if not any((text or "").strip() for text in row.values() if isinstance(text, str)):
            continue
        canary, wrong = _canary(f"{where}, line {line}", row)
        canaries.append(canary)
        notes += [(canary.configuration, f"line {line}: {text}") for text in wrong]
    if not canaries:
        raise UserError(f"{where}: there are no rows", "a forecast needs measured canaries", "columns: " + ", ".join(COLUMNS))
    return checked(canaries, notes, has_repeats="repeat" in header)


def _canary(where: str, row: Mapping[str, Any]) -> tuple[Canary, list[str]]:
    name = (row["configuration"] or "").strip()
    if not name:
        raise UserError(f"{where}: the configuration has no name", "canaries are grouped by it", "fill in the column `configuration`")
    fraction = _number(row["fraction"])
    if fraction is None or not 0 < fraction <= 1:
        advice = "write 1 % as 0.01" if fraction is not None and fraction > 1 else "give the share of the data that the run used"
        raise UserError(f"{where}: fraction is {row['fraction']!r}", "it must be above 0 and at most 1", advice)
    values: dict[str, Any] = {}
    wrong = []
    for column in NUMBERS:
        text = (row.get(column) or "").strip()
        value = _number(text)
        if text and value is None and text.lower() not in ("nan", "none", "null", "-"):
            raise UserError(f"{where}: {column} is {text!r}", "it must be a number, or empty where it was not measured")
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


def checked(canaries: Iterable[Canary], notes: Iterable[tuple[str, str]] = (), *, has_repeats: bool = True) -> CanaryTable:
    """Return the table without rows that are there twice, and with phases that cannot be taken out.

    Args:
        canaries: as they were measured.
        notes: (configuration, what was wrong) so far.
        has_repeats: whether rows say which repeat they are; only then is an equal row known to be the same one.
    """
    found: list[Canary] = []
    seen: set[Canary] = set()
    gathered = list(notes)
    twice: dict[str, int] = {}
    for canary in canaries:
        if has_repeats and canary in seen:
            twice[canary.configuration] = twice.get(canary.configuration, 0) + 1
            continue
        seen.add(canary)
        found.append(canary)
    gathered += [(name, f"{count} duplicated rows were dropped") for name, count in twice.items()]
    result = []
    for canary in found:
        phases = [value for name in ("startup_s", "load_s", "train_s", "checkpoint_s") if (value := getattr(canary, name)) is not None]
        if canary.total_s is not None and phases and math.fsum(phases) > canary.total_s * 1.02 + 0.01:
            gathered.append(
                (canary.configuration, f"fraction {canary.fraction:g}: the phases take longer than the total, so they were not used")
            )
            canary = dataclasses.replace(canary, startup_s=None, load_s=None, train_s=None, checkpoint_s=None, steps=None, step_s=None)
        result.append(canary)
    by_name: dict[str, list[str]] = {}
    for name, text in gathered:
        by_name.setdefault(name, []).append(text)
    return CanaryTable(tuple(result), {name: tuple(dict.fromkeys(texts)) for name, texts in by_name.items()})


def by_configuration(canaries: Sequence[Canary]) -> dict[str, list[Canary]]:
    """Return the canaries of each configuration, in order of appearance."""
    groups: dict[str, list[Canary]] = {}
    for canary in canaries:
        groups.setdefault(canary.configuration, []).append(canary)
    return groups
