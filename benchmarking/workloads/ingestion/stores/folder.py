"""Files on a disk or a mounted file system."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .base import StoredName


@dataclass(frozen=True)
class Folder:
    """Files on a disk or a mounted file system."""

    root: str

    def entries(self) -> list[StoredName]:
        """Return the paths of all files below the folder; links are followed. Raises `OSError` where a folder cannot be read."""
        found: list[StoredName] = []
        folders = [self.root]
        while folders:
            with os.scandir(folders.pop()) as inside:
                for one in inside:
                    if one.is_dir():
                        folders.append(one.path)
                    elif one.is_file():
                        found.append(StoredName(one.path))
        return found

    def open(self, name: str) -> Any:
        """Open a file by its path; raises `OSError` where that fails."""
        return Path(name).open("rb")
