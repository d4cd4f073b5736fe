"""Which files of a source folder travel to jobs, and what is known of each."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.common.source_tree import IGNORE_FILE, files_below
from definitions.errors import UserError

MAX_BYTES = 200_000_000

_LARGEST = 5


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
    found = [item for item in files_below(source_dir) if item[0] != reporter.name]
    found.append((reporter.name, reporter))
    found.sort(key=lambda item: os.fsencode(item[0]))
    _check_size(source_dir, [(name, path.stat().st_size) for name, path in found if not path.is_symlink() or name == reporter.name])
    root = source_dir.resolve()
    return tuple(_entry(name, path, root if path != reporter else None) for name, path in found)


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
