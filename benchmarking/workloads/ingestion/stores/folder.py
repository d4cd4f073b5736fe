"""Files on a disk or a mounted file system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Folder:
    """Files on a disk or a mounted file system."""

    root: str

    def names(self) -> list[str]:
        """Return the paths of all files below the folder, in no particular order."""
        return [str(path) for path in Path(self.root).rglob("*") if path.is_file()]

    def open(self, name: str) -> Any:
        """Open a file by its path; raises `OSError` where that fails."""
        return Path(name).open("rb")
