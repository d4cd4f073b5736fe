"""Versions of the journal's records: from what an earlier Outrider wrote to what this one folds."""

from __future__ import annotations

from collections.abc import Mapping
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
