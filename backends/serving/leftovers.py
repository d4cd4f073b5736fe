"""What servers leave outside of their folder when they are killed: Triton's regions in /dev/shm, multi-model-server's sockets."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path

from backends.common import process_tree

SHARED_MEMORY = Path("/dev/shm")
_NAME = re.compile(r"outrider-(\d+)-(\d+)-.*")


def prefix_of(pid: int) -> str:
    """Return what the names of leftovers begin with whose server a process has started."""
    process = process_tree.read_process(pid)
    return f"outrider-{pid}-{process.start_ticks if process else 0}-"


def sweep(folder: Path = SHARED_MEMORY, mine: str = "") -> list[str]:
    """Delete the leftovers of starters that no longer run, and return their names.

    Args:
        folder: where they lie, among others' files.
        mine: prefix of those to be deleted although their starter, this process, runs.
    """
    try:
        names = os.listdir(folder)  # noqa: PTH208 (names alone)
    except OSError:
        return []
    gone = [name for name in names if (match := _NAME.fullmatch(name)) and ((mine and name.startswith(mine)) or not _runs(match))]
    for name in gone:
        with contextlib.suppress(OSError):
            if (folder / name).is_dir() and not (folder / name).is_symlink():
                shutil.rmtree(folder / name)
            else:
                (folder / name).unlink()
    return gone


def _runs(match: re.Match[str]) -> bool:
    # The start tells it from a later process that was given the same number.
    process = process_tree.read_process(int(match[1]))
    return process is not None and process.alive and process.start_ticks == int(match[2])
