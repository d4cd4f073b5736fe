"""Versions of the journal's records: from what an earlier Outrider wrote to what this one folds."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 2
"""What is written. In version 1, a suggestion's level and repeat were two reserved keys of its configuration."""

READABLE_VERSIONS = (1, SCHEMA_VERSION)

CHANGED_KINDS = ("suggest",)
"""Kinds of records that differ between the readable versions."""


def upgraded(version: int, kind: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the body of a record as the present version has it.

    Args:
        version: of the journal that it is from, one of `READABLE_VERSIONS`.
        kind: of the record.
        body: as it was written.
    """
    if version == SCHEMA_VERSION or kind not in CHANGED_KINDS or "configuration" not in body:
        return body
    configuration = {key: value for key, value in body["configuration"].items() if key not in ("fidelity", "repeat")}
    given = body["configuration"]
    if body.get("resume"):
        return {**body, "configuration": configuration}
    return {**body, "configuration": configuration, "level": given.get("fidelity"), "repeat": given.get("repeat", 0)}


def is_being_made(path: Path) -> bool:
    """Return whether a journal has no table yet: another process makes it at this moment, or was killed when it did."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
            return found.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
    except sqlite3.Error:
        return False
