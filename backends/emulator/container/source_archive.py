"""Unpacks a job's source: files, folders and links that stay within it, and no more of them than a source may have."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from backends.emulator.container.paths import ML, resolve

MOST_BYTES = 5 << 30
"""What an archive may come to when it is unpacked."""
MOST_MEMBERS = 200_000
_MOST_AT_ONCE = 16 << 20
_CODE = f"{ML}/code"


def unpack(archive: Path, ml: Path, most_bytes: int = MOST_BYTES, most_members: int = MOST_MEMBERS) -> None:
    """Unpack a TAR file, compressed by gzip or not, into the folder of the source.

    Args:
        archive: a file that may be hostile.
        ml: the real place of /opt/ml.
        most_bytes: that it may come to.
        most_members: that it may have.

    Raises:
        tarfile.TarError: it is none, comes to too much, or has a member that leads out of the source or is neither file, folder nor link.
        OSError: it cannot be read, or written out.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_broken_is_said())
        file = stack.enter_context(archive.open("rb"))
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        content = stack.enter_context(gzip.GzipFile(fileobj=file)) if packed else file
        bounded = cast("IO[bytes]", _Bounded(content, most_bytes))
        tar = stack.enter_context(tarfile.open(fileobj=bounded, mode="r:"))
        taken = 0
        for number, member in enumerate(tar):
            taken += member.size
            if number >= most_members or taken > most_bytes:
                raise tarfile.TarError(f"it comes to more than {most_members} files or {most_bytes} bytes")
            _take(tar, member, ml)


@contextlib.contextmanager
def _broken_is_said() -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, ValueError) as error:
        raise tarfile.TarError(f"it is broken: {error}") from error


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, ml: Path) -> None:
    name = f"{_CODE}/{member.name}"
    place = None if member.name.startswith("/") or "\0" in member.name else resolve(ml, name, _CODE)
    if place is None:
        raise tarfile.TarError(f"{member.name} leads out of the source")
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if member.isfile():
        source = tar.extractfile(member)
        if source is not None:
            place.unlink(missing_ok=True)
            with source, place.open("xb") as target:
                shutil.copyfileobj(source, target)
            place.chmod(0o755 if member.mode & 0o100 else 0o644)
            os.utime(place, (member.mtime, member.mtime))
        return
    if member.issym():
        parent = name.rpartition("/")[0]
        if member.linkname.startswith("/") or resolve(ml, f"{parent}/{member.linkname}", _CODE) is None:
            raise tarfile.TarError(f"{member.name} is a link that leads out of the source")
        place.unlink(missing_ok=True)
        place.symlink_to(member.linkname)
        return
    linked = resolve(ml, f"{_CODE}/{member.linkname}", _CODE) if member.islnk() and not member.linkname.startswith("/") else None
    if linked is None or not linked.is_file():
        raise tarfile.TarError(f"{member.name} is no file, folder or link within the source")
    if linked != place:
        place.unlink(missing_ok=True)
        shutil.copy2(linked, place)


class _Bounded:
    """A stream of which neither much is read at once nor more in all than is allowed: a header may say that it is gigabytes long."""

    def __init__(self, stream: Any, most: int) -> None:
        self._stream, self._most = stream, most + (most >> 2) + _MOST_AT_ONCE  # headers and padding come on top

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > _MOST_AT_ONCE or self._stream.tell() > self._most:
            raise tarfile.TarError("it says that it is longer than it may be")
        return cast("bytes", self._stream.read(size))

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence != 0 or offset > self._most:
            raise tarfile.TarError("it says that it is longer than it may be")
        return cast("int", self._stream.seek(offset))

    def tell(self) -> int:
        return cast("int", self._stream.tell())
