"""Packs a source folder, the reporter and the entry point: the same content is the same package on every machine."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from backends.common.source_tree import IGNORE_FILE
from backends.sagemaker.code.source_files import Entry, entries_of
from definitions.errors import UserError

START = Path(__file__).parents[1] / "container" / "outrider_start.py"
REPORTER = Path(__file__).parents[2] / "reporter" / "outrider_report.py"
ARCHIVE = "source.tar.gz"
MODULES = "outrider_modules.zip"

_ROOT = Path(__file__).parents[3]
_OF_MODULES = (
    "definitions/__init__.py",
    "definitions/file_source.py",
    "backends/__init__.py",
    "backends/common/__init__.py",
    "backends/common/requirements.py",
    "backends/common/script_mode.py",
    "backends/common/staged_run.py",
    "backends/metrics/__init__.py",
    "backends/metrics/gathering.py",
    "backends/metrics/files/*.py",
    "backends/sagemaker/__init__.py",
    "backends/sagemaker/container/__init__.py",
    "backends/sagemaker/container/runner.py",
)

_FORM = "1"  # to be raised where the same content is to become another archive
_COMPRESSION = 4
"""gzip's level. Of our own modules, 8 MB: 0.07 s for 1.72 MB; at 9 it takes 0.30 s for 1.62 MB, which no line sends so much sooner."""


@dataclass(frozen=True)
class Package:
    """What travels to every job of an experiment.

    Args:
        hash: 16 hexadecimal digits that name the content, the bootstrap included.
        entries: by name.
        secrets: names of what stays behind, as it may hold a secret.
    """

    hash: str
    entries: tuple[Entry, ...]
    secrets: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        """Size of all files, not compressed."""
        return sum(entry.size_bytes for entry in self.entries)

    def write(self, file: IO[bytes]) -> None:
        """Write the archive, which is made only now as most packages are uploaded already.

        Raises:
            UserError: a file is not what it was when the package was made.
        """
        with (
            gzip.GzipFile(fileobj=cast(BinaryIO, file), mode="wb", compresslevel=_COMPRESSION, filename="", mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for entry in self.entries:
                _add(tar, entry)


def pack(source_dir: Path, include: Sequence[str] = (), reporter: Path = REPORTER) -> Package:
    """Return the package of a source folder.

    Left out are version control, caches, virtual environments, results, what may hold a secret, and what the patterns in a
    `.outriderignore` match, in the words of .gitignore.

    Args:
        source_dir: the folder; a requirements.txt in it travels along.
        include: patterns of what travels all the same.
        reporter: put at its top in place of a file of the same name.

    Raises:
        UserError: there is no such folder, it is too large, cannot be read, or a link leads out of it.
    """
    if not source_dir.is_dir():
        raise UserError(f"source_dir {source_dir}: there is no such folder")
    try:
        found = entries_of(source_dir, reporter, include)
        beside = [hashlib.sha256(content).hexdigest() for content in (START.read_bytes(), modules())]
        digest = hashlib.sha256("\0".join([_FORM, *beside]).encode())
    except OSError as error:
        raise UserError(
            f"source_dir {source_dir}: it cannot be packed", str(error), f"or leave it out by a line in {IGNORE_FILE}"
        ) from error
    for entry in found.files:
        digest.update(
            b"\0".join([b"", os.fsencode(entry.name), f"{entry.mode:o}".encode(), os.fsencode(entry.link), entry.digest.encode()])
        )
    return Package(digest.hexdigest()[:16], found.files, found.secrets)


def modules() -> bytes:
    """Return the archive from which `outrider_start.py` imports; its bytes follow from their content."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for pattern in _OF_MODULES for path in _ROOT.glob(pattern)):
            info = zipfile.ZipInfo(str(path.relative_to(_ROOT)))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, path.read_bytes())
    return packed.getvalue()


def _add(tar: tarfile.TarFile, entry: Entry) -> None:
    # A new TarInfo has no owner and the time 0.
    info = tarfile.TarInfo(entry.name)
    info.mode = entry.mode
    if entry.path is None:
        info.type, info.linkname = tarfile.SYMTYPE, entry.link
        tar.addfile(info)
        return
    info.size = entry.size_bytes
    try:
        with entry.path.open("rb") as file:
            content = _Digested(file)
            tar.addfile(info, cast(BinaryIO, content))
            same = content.digest.hexdigest() == entry.digest
    except OSError:
        same = False
    if not same:
        raise UserError(
            f"{entry.path}: it was changed or removed while it was packed",
            "",
            "start again when nothing writes there; what jobs do not need is left out by a line in .outriderignore",
        )


class _Digested(io.RawIOBase):
    """A file that computes the digest of what is read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.digest.update(block)
        return block
