"""Which files of a source folder travel to jobs, and what is known of each."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.common.secret_strings import holds_secret_setting
from backends.common.source_tree import IGNORE_FILE, files_below, look_through
from definitions.errors import UserError

MAX_BYTES = 200_000_000

_LARGEST = 5
_LARGEST_KEY = 20_000
_LOOKED_AT = 2000
_SETTINGS = ("", ".ini", ".cfg", ".conf", ".cnf", ".toml", ".yaml", ".yml", ".json", ".properties")
_KEY = re.compile(rb"""(?:\s*|\s*\{[^{}]*"private_key"\s*:\s*")-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----""")


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


@dataclass(frozen=True)
class Entries:
    """What travels, by name, and the names of what stays behind as it may hold a secret."""

    files: tuple[Entry, ...]
    secrets: tuple[str, ...]


def entries_of(source_dir: Path, reporter: Path, include: Sequence[str] = ()) -> Entries:
    """Return what travels and what does not; arguments and errors as of `packing.pack`."""
    found = list(look_through(source_dir, include))
    files = [one for one in found if not one.is_secret and one.name != reporter.name]
    _check_size(source_dir, [(one.name, one.path) for one in files])
    root = source_dir.resolve()
    keys = {one.name for one in files if not one.is_named and _holds_secret(one.path)}
    entries = [_entry(one.name, one.path, root) for one in files if one.name not in keys]
    entries.append(_entry(reporter.name, reporter, None))
    entries.sort(key=lambda entry: os.fsencode(entry.name))
    return Entries(tuple(entries), tuple(sorted([*keys, *(one.name for one in found if one.is_secret)])))


def secrets_in(source_dir: Path, include: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of what stays behind as it may hold a secret; raises `OSError` where that cannot be looked at."""
    found = list(look_through(source_dir, include))
    return tuple(sorted(one.name for one in found if one.is_secret or (not one.is_named and _holds_secret(one.path))))


def check_source(source_dir: Path, include: Sequence[str] = ()) -> set[str]:
    """Return the names of what would travel, read by no more than names and sizes.

    Raises:
        UserError: it cannot travel: it is too large, a link leads out of it, or it cannot be read.
    """
    try:
        files = list(files_below(source_dir, include))
        _check_size(source_dir, files)
    except OSError as error:
        raise UserError(f"source_dir {source_dir}: it cannot be read", str(error), "check the path") from error
    root = source_dir.resolve()
    for name, path in files:
        if path.is_symlink():
            _link(name, path, root)
    return {name for name, _ in files}


def _holds_secret(path: Path) -> bool:
    """Return whether a small file begins as a private key, is a cloud account's JSON with one, or is one of settings with a secret."""
    if path.is_symlink() or path.stat().st_size > _LARGEST_KEY:
        return False
    with path.open("rb") as file:
        content = file.read(_LARGEST_KEY)
    if _KEY.match(content[:_LOOKED_AT]) is not None:
        return True
    return path.suffix.lower() in _SETTINGS and holds_secret_setting(content.decode("utf-8", "replace"))


def _check_size(source_dir: Path, files: Sequence[tuple[str, Path]]) -> None:
    sizes = [(name, path.lstat().st_size) for name, path in files if not path.is_symlink()]
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
