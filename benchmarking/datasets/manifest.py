"""What a generated set consists of: names, sizes and checksums of its files, in parts that can be made anew one by one."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from definitions import strict_json
from definitions.files import write_atomically

FILE = "manifest.json"
VERSION = 1

MADE_S = 1_000_000_000
"""Modification time of all files of a set (2001-09-09): one that has another was touched since, and its checksum is looked at."""

_BLOCK = 1 << 20


@dataclass(frozen=True)
class FileEntry:
    """One file.

    Args:
        name: relative to the set's data; `size_bytes`: of the file.
        checksum: CRC-32 of its content: tells damage, not malice.
    """

    name: str
    size_bytes: int
    checksum: int


@dataclass(frozen=True)
class Manifest:
    """All files of a set.

    Args:
        key: names the specification and the packages that it was made with.
        parts: files of each part, in the order of their numbers.
        per_file: samples of a file, which the parts were cut by.
        samples: of the set, without copies; `classes`: their number, None where there are none.
    """

    key: str
    parts: tuple[tuple[FileEntry, ...], ...]
    per_file: int
    samples: int
    classes: int | None

    @property
    def entries(self) -> Iterator[FileEntry]:
        """All of them."""
        return (entry for part in self.parts for entry in part)

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(entry.size_bytes for entry in self.entries)


@dataclass(frozen=True)
class Damage:
    """What is wrong with a set's files: names of those that are missing and changed, and of those that are none of it."""

    missing: tuple[str, ...]
    changed: tuple[str, ...]
    foreign: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.foreign)

    def __str__(self) -> str:
        kinds = {"missing": self.missing, "changed": self.changed, "not of this set": self.foreign}
        return ", ".join(f"{_files(names)} {what}" for what, names in kinds.items() if names)


def _files(names: Sequence[str]) -> str:
    return f"{len(names)} file{'s' if len(names) != 1 else ''} ({names[0]}{', ...' if len(names) > 1 else ''})"


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest into a set's folder; raises `UserError` where the disk refuses."""
    parts = [[[entry.name, entry.size_bytes, f"{entry.checksum:08x}"] for entry in part] for part in manifest.parts]
    facts = {"version": VERSION, "key": manifest.key, "per_file": manifest.per_file, "samples": manifest.samples}
    write_atomically(folder / FILE, strict_json.dumps({**facts, "classes": manifest.classes, "parts": parts}))


def read(folder: Path) -> Manifest | None:
    """Return the manifest of a set's folder, or None where there is none that can be read."""
    try:
        found = strict_json.loads((folder / FILE).read_text(encoding="utf-8"))
        if found["version"] != VERSION:
            return None
        parts = tuple(entries_of(part) for part in found["parts"])
        return Manifest(str(found["key"]), parts, int(found["per_file"]), int(found["samples"]), found["classes"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def entries_of(rows: Any) -> tuple[FileEntry, ...]:
    """Return entries as JSON has them; raises ValueError or TypeError for other things."""
    return tuple(FileEntry(str(name), int(size), int(checksum, 16)) for name, size, checksum in rows)


def check(data: Path, manifest: Manifest, *, verify: bool = False) -> Damage:
    """Return what is wrong with a set's files.

    Sizes are compared always, checksums where a file was touched since it was made, and with `verify` of all files.

    Args:
        data: folder of the files.
        manifest: what they should be.
        verify: whether to read every file.
    """
    missing, changed = [], []
    for entry in manifest.entries:
        path = data / entry.name
        try:
            stat = path.stat()
        except OSError:
            missing.append(entry.name)
            continue
        if stat.st_size != entry.size_bytes:
            changed.append(entry.name)
            continue
        is_touched = int(stat.st_mtime) != MADE_S
        if not is_touched and not verify:
            continue
        if checksum_of(path) != entry.checksum:
            changed.append(entry.name)
        elif is_touched and os.access(path, os.W_OK):
            mark(path)
    known = {entry.name for entry in manifest.entries}
    there = (path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file())
    return Damage(tuple(missing), tuple(changed), tuple(sorted(name for name in there if name not in known)))


def checksum_of(path: Path) -> int:
    """Return the CRC-32 of a file; -1 where it cannot be read."""
    found = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                found = zlib.crc32(block, found)
    except OSError:
        return -1
    return found


def mark(path: Path) -> None:
    """Note on a file that it is as it was made."""
    os.utime(path, (MADE_S, MADE_S))
