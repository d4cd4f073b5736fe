"""Whether a controller is at work in an experiment's folder, found out without touching what it locks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from benchmarking.archive.stop_requests import is_listening

_LOCKS = Path("/proc/locks")
_LOCK = "lock"
_HELD = re.compile(r"FLOCK\s+\S+\s+WRITE\s+\S+\s+([0-9a-f]+):([0-9a-f]+):(\d+)")


def held_files(locks: Path = _LOCKS) -> frozenset[tuple[int, int, int]]:
    """Return (major, minor, inode) of the files that processes of this machine have locked; empty where the kernel does not tell."""
    try:
        text = locks.read_text(encoding="ascii", errors="replace")
    except OSError:
        return frozenset()
    return frozenset((int(major, 16), int(minor, 16), int(inode)) for major, minor, inode in _HELD.findall(text))


def is_run(folder: Path, held: frozenset[tuple[int, int, int]], listening: Callable[[Path], bool] = is_listening) -> bool:
    """Return whether a process of this machine runs the experiment in a folder.

    The lock is not tried, as even a shared one would turn away a controller that begins at that instant.

    Args:
        folder: of the experiment.
        held: what `held_files` returned.
        listening: whether a controller there takes requests: it does once it has begun.
    """
    try:
        found = (folder / _LOCK).stat()
    except OSError:
        return False
    return (os.major(found.st_dev), os.minor(found.st_dev), found.st_ino) in held or listening(folder)
