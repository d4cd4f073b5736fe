"""What the jobs of the latest run of a benchmark left on the disk, so that the next one knows what it will need."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from backends.failures import Outcome
from benchmarking.controller.disk_space import LeftFiles, left_files
from benchmarking.controller.sqlite_journal import latest_records
from definitions.errors import UserError

_MOST_JOBS = 64
_MOST_RUNS = 3
"""Runs that are looked into, the latest first: some were of a back-end or a version that measured nothing."""


@dataclass(frozen=True)
class EarlierFiles:
    """What the jobs of a tag left, the latest first."""

    tag: str
    left: tuple[LeftFiles, ...]


def earlier_files(results_dir: Path, benchmark: str, backend: str) -> EarlierFiles | None:
    """Return what the latest run of a benchmark on a back-end left; None where there is none, or it is not known.

    Args:
        results_dir: folder of all results.
        benchmark: its name.
        backend: whose jobs they were.
    """
    journals: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError), os.scandir(results_dir) as tags:
        for tag in tags:
            journals += _journals(Path(tag.path) / benchmark, backend)
    for _, path in sorted(journals, reverse=True)[:_MOST_RUNS]:
        found = _left(path)
        if found:
            return EarlierFiles(path.parent.parent.parent.name, found)
    return None


def _journals(folder: Path, backend: str) -> list[tuple[float, Path]]:
    """Return the journals of a benchmark's experiments on a back-end, each with when it was last written."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as experiments:
        for one in experiments:
            if one.name.rsplit("-", 2)[1:2] == [backend]:
                path = Path(one.path) / "journal.sqlite"
                with contextlib.suppress(OSError):
                    found.append((path.stat().st_mtime, path))
    return found


def _left(path: Path) -> tuple[LeftFiles, ...]:
    try:
        records = latest_records(path, "closed", _MOST_JOBS)
    except UserError:
        return ()
    bodies = [record.body for record in records if record.body["outcome"] != Outcome.FAILED]
    return tuple(found for body in bodies if (found := left_files(body.get("usage") or {})) is not None)
