"""Packs folders for nodes: the same content is the same archive, and is brought to a node once."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backends.common.source_tree import IGNORE_FILE, files_below
from definitions.errors import UserError
from definitions.quantities import size_text

MOST_BYTES = 500 * 1024**2
"""What Ray itself takes for a working directory at most."""

_ROOT = Path(__file__).resolve().parents[2]
_OURS = ("definitions", "backends")


@dataclass(frozen=True)
class Parcel:
    """An archive, the digest of its content, and the bytes of each file in it."""

    digest: str
    archive: bytes
    sizes: Mapping[str, int] = field(default_factory=dict)


def parcel_of(source_dir: Path, include: Sequence[str] = (), most_bytes: int = MOST_BYTES) -> Parcel:
    """Return the archive of a source folder, without what is generated, secret or left out by its own list.

    Raises:
        UserError: it is too large, is not there or cannot be read.
    """
    try:
        return _packed(checked(source_dir, include, most_bytes))
    except OSError as error:
        raise UserError(f"source_dir {source_dir}: it cannot be packed", str(error)) from error


def checked(source_dir: Path, include: Sequence[str] = (), most_bytes: int = MOST_BYTES) -> list[tuple[str, Path]]:
    """Return the files of a source folder that are brought to nodes, by their names in it; none is read.

    Raises:
        UserError: they are too large together, or the folder is not there.
    """
    try:
        found = list(files_below(source_dir, include))
        sizes = {name: path.lstat().st_size for name, path in found}
        if sum(sizes.values()) > most_bytes:
            largest = ", ".join(f"{name} ({size_text(sizes[name])})" for name in sorted(sizes, key=lambda name: -sizes[name])[:3])
            raise UserError(
                f"source_dir {source_dir}: it is too large to be brought to nodes",
                f"it has {size_text(sum(sizes.values()))}, at most {size_text(most_bytes)} are; the largest files: {largest}",
                f"name what is not needed in {IGNORE_FILE}, and keep data where all nodes can read them",
            )
        return found
    except OSError as error:
        raise UserError(f"source_dir {source_dir}: it cannot be packed", str(error)) from error


def own_code() -> Parcel:
    """Return the archive of what runs jobs on a node."""
    files = ((path.relative_to(_ROOT).as_posix(), path) for name in _OURS for path in sorted((_ROOT / name).rglob("*")) if path.is_file())
    return _packed([(name, path) for name, path in files if "__pycache__" not in name])


def _packed(files: Iterable[tuple[str, Path]]) -> Parcel:
    digest, packed = hashlib.sha256(), io.BytesIO()
    sizes: dict[str, int] = {}
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, path in sorted(files):
            facts = path.lstat()
            info = tarfile.TarInfo(name)
            info.mode = facts.st_mode & 0o777
            if path.is_symlink():
                info.type, info.linkname, content = tarfile.SYMTYPE, str(path.readlink()), b""
            else:
                content = path.read_bytes()
                info.size = len(content)
            sizes[name] = len(content)
            digest.update(f"{name}\0{info.mode:o}\0{info.linkname}\0{len(content)}\0".encode())
            digest.update(content)
            tar.addfile(info, io.BytesIO(content) if content else None)
    return Parcel(digest.hexdigest()[:32], packed.getvalue(), sizes)
