"""File mode where no platform does it: all objects are copied to the disk before the first is read, by the AWS CRT."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .base import ATTEMPTS, StoredName, is_gone
from .s3_connector import S3Connector

_AT_ONCE = 16
_PART_BYTES = 8 << 20
"""As large as those that the client asks for by itself."""
_DONE = ".complete"


def download(uri: str, entries: Sequence[StoredName], store: S3Connector, folder: Path) -> int:
    """Copy objects into a folder, under their names below the URI, and return the bytes copied; nothing where another process did.

    Args:
        uri: of the channel.
        entries: what to copy.
        store: where from.
        folder: where to; processes of one job share it, and the first of them copies.

    Raises:
        SystemExit: the disk has no room for it, the folder above it is another user's, or an object cannot be had.
        OSError: the folder cannot be written.
    """
    _make_private(folder)
    with (folder.parent / f"{folder.name}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder.parent / f"{folder.name}{_DONE}").exists():
            return 0
        wanted, free = sum(max(one.size, 0) for one in entries), shutil.disk_usage(folder).free
        if wanted > free:
            raise SystemExit(
                f"file mode copies {uri} to the disk before training: {wanted / 1e9:.2f} GB, and {folder} has {free / 1e9:.2f} GB left; "
                f"set OUTRIDER_SCRATCH to a larger disk, or use fastfile or s3_iterable"
            )
        for path in {(folder / below(one.name, uri)).parent for one in entries}:
            path.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            jobs = ((one, part) for one in entries for part in parts_of(one.size))
            copied = sum(pool.map(lambda job: _copied(job[0], job[1], store, folder / below(job[0].name, uri)), jobs))
        (folder.parent / f"{folder.name}{_DONE}").touch()
        return copied


def parts_of(size: int) -> list[slice]:
    """Return the parts in which an object of so many bytes is copied: as they are under way, and in memory, at once."""
    if size < 0:
        return [slice(None)]
    return [slice(first, min(first + _PART_BYTES, size)) for first in range(0, size, _PART_BYTES)] or [slice(0, 0)]


def _copied(entry: StoredName, part: slice, store: S3Connector, path: Path) -> int:
    """Copy a part of an object to its place in a file, and return its bytes; raises `SystemExit` with its name where it cannot be had."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as target:
        os.ftruncate(target.fileno(), max(entry.size, 0))
        if not entry.size:  # an empty object has no first byte that could be asked for
            return 0
        for attempt in range(1, ATTEMPTS + 1):
            target.seek(part.start or 0)
            try:
                return sum(target.write(block) for block in store.blocks(entry.name, part))
            except OSError:
                raise  # the disk's, not the store's
            except Exception as error:  # the client has classes of its own
                if attempt == ATTEMPTS or is_gone(error):
                    what = f"it cannot be copied to the disk, as file mode does before training: {type(error).__name__}: {error}"
                    raise SystemExit(f"{entry.name}: {what}") from error
        raise AssertionError("the last attempt returns or raises")


def below(name: str, uri: str) -> str:
    """Return an object's name relative to the channel's URI; a prefix that ends within a name takes the whole last part."""
    root = uri if uri.endswith("/") else uri.rpartition("/")[0] + "/"
    if name.startswith(uri + "/"):
        root = uri + "/"
    relative = name.removeprefix(root)
    if ".." in relative.split("/") or relative.startswith("/"):
        raise SystemExit(f"{name}: its name leads out of the folder that it would be copied to")
    return relative


def scratch_folder(uri: str, environ: Mapping[str, str], what: str = "file") -> Path:
    """Return where this job keeps a copy of a channel: below OUTRIDER_SCRATCH, else the folder for temporary files.

    Args:
        uri: of the channel.
        environ: of the job, which processes of one job have in common.
        what: keeps it, as part of its name.
    """
    base = environ.get("OUTRIDER_SCRATCH") or tempfile.gettempdir()
    job = environ.get("OUTRIDER_JOB") or f"process-{os.getpid()}"
    mark = hashlib.sha256(f"{job}\0{environ.get('OUTRIDER_ATTEMPT', '')}\0{uri}".encode()).hexdigest()[:16]
    return Path(base) / f"outrider-{what}-{mark}" / "data"


class ScratchUse:
    """Says that this process reads a scratch folder; the last one that does removes it.

    Args:
        folder: as `scratch_folder` says.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        _make_private(folder)
        self._lock = (folder.parent / "in-use").open("w", encoding="utf-8")
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def close(self) -> None:
        """Remove the folder where nobody else reads it."""
        with self._lock, contextlib.suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(self._folder.parent, ignore_errors=True)


def _make_private(folder: Path) -> None:
    """Make a folder in one that only this user can enter, as others may write to the folder for temporary files."""
    above = folder.parent
    above.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        above.mkdir(mode=0o700)
    facts = above.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        raise SystemExit(
            f"{above}: another user of this machine has made it, or can write to it, and may have put anything there; "
            "delete it, or set OUTRIDER_SCRATCH to a folder of your own"
        )
    folder.mkdir(exist_ok=True)
