"""What of an experiment's folder came from where: a small file in it, so that a second look fetches what is new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from definitions import strict_json
from definitions.files import write_atomically

NAME = ".restored.json"
_VERSION = 1


@dataclass(frozen=True)
class Restored:
    """How far a folder is.

    Args:
        uri: of the run that it came from.
        number: of the last segment whose records the journal has; 0 where it is not made of segments, or was written to since.
        last: sequence number of its last record.
        files: ETag of each file that was fetched, by name.
    """

    uri: str = ""
    number: int = 0
    last: int = 0
    files: Mapping[str, str] = field(default_factory=dict)


def read_restored(folder: Path) -> Restored:
    """Return how far a folder is; as if nothing were known where that cannot be read."""
    try:
        known = strict_json.loads((folder / NAME).read_text(encoding="utf-8"))
        if known["schema_version"] != _VERSION:
            return Restored()
        return Restored(str(known["uri"]), int(known["number"]), int(known["last"]), {**known["files"]})
    except (OSError, KeyError, TypeError, ValueError):
        return Restored()


def note_restored(folder: Path, restored: Restored) -> None:
    """Write down how far a folder is; raises `UserError` where it cannot be written."""
    known = {
        "schema_version": _VERSION,
        "uri": restored.uri,
        "number": restored.number,
        "last": restored.last,
        "files": dict(restored.files),
    }
    write_atomically(folder / NAME, strict_json.dumps(known) + "\n")
