"""Which files below a source folder are its code: all but what is generated, hidden by habit, or named in the folder's own list."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from definitions.errors import UserError

IGNORE_FILE = ".outriderignore"

_IGNORED = (
    ".git", ".hg", ".svn", "__pycache__", "*.py[co]", ".venv", "venv", "/results", ".ipynb_checkpoints", "node_modules",
    ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store", IGNORE_FILE,
)  # fmt: skip


def files_below(source_dir: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name within the folder and the path of each file and link that belongs to the code, by folder.

    Raises:
        OSError: a folder cannot be read.
        UserError: the folder's list of what to leave out is wrong.
    """
    patterns = _patterns(source_dir)

    def fail(error: OSError) -> None:
        raise error

    for folder, names, files in os.walk(source_dir, onerror=fail):
        here = Path(folder).relative_to(source_dir)
        names[:] = [name for name in names if not _ignored((here / name).as_posix(), True, patterns)]
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in [*files, *links]:
            path, inside = Path(folder, name), (here / name).as_posix()
            regular = path.is_symlink() or stat.S_ISREG(path.lstat().st_mode)  # sockets and pipes do not travel
            if regular and not _ignored(inside, False, patterns):
                yield inside, path


def _patterns(source_dir: Path) -> list[str]:
    path = source_dir / IGNORE_FILE
    if not path.is_file():
        return list(_IGNORED)
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    own = [line for line in lines if line and not line.startswith("#")]
    for line in own:
        if line.startswith("!"):
            raise UserError(f"{path}: {line!r}", "patterns only leave out; none brings back", "name what is to be left out instead")
    return [*_IGNORED, *own]


def _ignored(name: str, is_folder: bool, patterns: Sequence[str]) -> bool:
    for pattern in patterns:
        if pattern.endswith("/") and not is_folder:
            continue
        bare = pattern.rstrip("/")
        subject = name if "/" in bare else name.rpartition("/")[2]
        if fnmatch.fnmatchcase(subject, bare.removeprefix("/")):
            return True
    return False
