"""How much of a disk files take, and how much of it is left."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

_MOST_FILES = 10_000
"""Files that are looked at; a folder of more is told by these, as looking must not delay what is measured."""

_BLOCK_BYTES = 512
"""Unit of `st_blocks`, whatever the file system's own."""


def taken_bytes(paths: Sequence[Path | str], without: str = "") -> int:
    """Return the bytes of disk that files and folders take with all that is in them; what is not there takes none.

    Args:
        paths: of the files and folders.
        without: one that is left out where it lies in them.
    """
    found, seen = 0, 0
    left = [str(path) for path in paths]
    while left and seen < _MOST_FILES:
        folder = left.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    seen += 1
                    if not entry.is_dir(follow_symlinks=False):
                        found += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                    elif entry.path != without:
                        left.append(entry.path)
        except NotADirectoryError:
            found += os.stat(folder, follow_symlinks=False).st_blocks * _BLOCK_BYTES  # noqa: PTH116 (between two jobs, in the cheapest way)
        except OSError:
            continue  # gone meanwhile
    return found


def remove_folder(path: str) -> None:
    """Delete a folder with all that is in it; what is not there, or cannot be deleted, is left as it is."""
    # Most folders that nobody wrote to are empty, and walking one costs ten times as much as this.
    try:
        os.rmdir(path)  # noqa: PTH106 (between two jobs, in the cheapest way)
    except FileNotFoundError:
        return
    except OSError:
        import shutil

        shutil.rmtree(path, ignore_errors=True)


def free_bytes(path: Path) -> int | None:
    """Return the bytes that may still be written beside a path, or where it would be made; None where that is not known."""
    place = path.absolute()
    for folder in (place, *place.parents):
        try:
            found = os.statvfs(folder)
        except OSError:
            continue
        return found.f_bavail * found.f_frsize
    return None
