"""Which files of a source folder travel to jobs, and what is known of each."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from definitions.errors import UserError

IGNORE_FILE = ".outriderignore"
MAX_BYTES = 200_000_000

_LARGEST = 5
_IGNORED = (
    ".git", ".hg", ".svn", "__pycache__", "*.py[co]", ".venv", "venv", "/results", ".ipynb_checkpoints", "node_modules",
    ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store", IGNORE_FILE,
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One file or link of a package.

    Args:
        name: within the package, parts separated by `/`.
        path: of the file; None for a link.
        link: what the link says, relative to its own folder; empty for a file.
        mode: 0o644 or 0o755.
        size_bytes: of the file; `digest`: SHA-256 of its content.
    """

    name: str
    path: Path | None
    link: str
    mode: int
    size_bytes: int
    digest: str


def entries_of(source_dir: Path, reporter: Path) -> tuple[Entry, ...]:
    """Return what travels, by name; arguments and errors as of `packing.pack`."""
    found = [item for item in _walk(source_dir, _patterns(source_dir)) if item[0] != reporter.name]
    found.append((reporter.name, reporter))
    found.sort(key=lambda item: os.fsencode(item[0]))
    _check_size(source_dir, [(name, path.stat().st_size) for name, path in found if not path.is_symlink() or name == reporter.name])
    root = source_dir.resolve()
    return tuple(_entry(name, path, root if path != reporter else None) for name, path in found)


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


def _walk(source_dir: Path, patterns: Sequence[str]) -> Iterator[tuple[str, Path]]:
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


def _check_size(source_dir: Path, sizes: Sequence[tuple[str, int]]) -> None:
    total = sum(size for _, size in sizes)
    if total <= MAX_BYTES:
        return
    largest = sorted(sizes, key=lambda item: -item[1])[:_LARGEST]
    raise UserError(
        f"source_dir {source_dir}: {total / 1e6:.0f} MB would travel to each job, at most {MAX_BYTES / 1e6:.0f} MB can",
        "the largest: " + ", ".join(f"{name} ({size / 1e6:.1f} MB)" for name, size in largest),
        f"leave out what the script does not need by lines in {IGNORE_FILE}; data belong into `datasets`",
    )


def _entry(name: str, path: Path, root: Path | None) -> Entry:
    """Return the entry of a file or, below `root`, a link."""
    if root is not None and path.is_symlink():
        return Entry(name, None, _link(name, path, root), 0o644, 0, "")
    executable = root is not None and bool(path.stat().st_mode & stat.S_IXUSR)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Entry(name, path, "", 0o755 if executable else 0o644, path.stat().st_size, digest)


def _link(name: str, path: Path, root: Path) -> str:
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:
        raise UserError(f"{path}: it is a link that leads nowhere", str(error), f"remove it, or name it in {IGNORE_FILE}") from error
    if target != root and root not in target.parents:
        raise UserError(
            f"{path}: it is a link out of the source folder, to {target}",
            "a job gets what is in the folder",
            f"copy it, name {name} in {IGNORE_FILE}, or give data as `datasets`",
        )
    return os.path.relpath(target, path.parent.resolve())
