"""On which file system and device a folder lies, and how much is free there. Standard library only."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def file_system_of(folder: Path, mounts: Path = _MOUNTS) -> dict[str, Any]:
    """Return `type`, `device` (None where it is none of this machine's own), `free_bytes` and `total_bytes`; what is not told is None.

    Args:
        folder: that is asked about; of one that is not there yet, what it will be made in.
        mounts: the kernel's list of what is mounted.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    kind, device = mount_of(there.resolve(), mounts)
    try:
        usage = shutil.disk_usage(there)
    except OSError:
        return {"type": kind, "device": device, "free_bytes": None, "total_bytes": None}
    return {"type": kind, "device": device, "free_bytes": usage.free, "total_bytes": usage.total}


def mount_of(path: Path, mounts: Path) -> tuple[str | None, str | None]:
    """Return type and device of the innermost mount that a path lies in; of two on one place, the later lies on top."""
    found: tuple[int, str | None, str | None] = (-1, None, None)
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None, None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, source = before.split(), after.split()
        if len(fields) < 5 or len(source) < 2:
            continue
        point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4])
        if len(point) >= found[0] and (path == Path(point) or Path(point) in path.parents):
            # A server's address would name somebody's machine.
            found = len(point), source[0], source[1] if source[1].startswith("/dev/") else None
    return found[1], found[2]


def named_places(cache: Path, checkpoints: Path) -> dict[str, dict[str, Any]]:
    """Return the file systems of an experiment's `cache` and `checkpoints`, by these words.

    Args:
        cache: folder for generated data.
        checkpoints: folder of the trials' checkpoints.
    """
    return {"cache": file_system_of(cache), "checkpoints": file_system_of(checkpoints)}
