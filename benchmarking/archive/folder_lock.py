"""The lock of an experiment's folder: one controller at a time, and who it is for the others."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from backends.common.file_lock import NoLocksError, try_lock
from benchmarking.export.files import utc
from definitions.errors import UserError

_NAME = "lock"
_LOCKS = Path("/proc/locks")
_ELSEWHERE = "give a folder on another disk: --results_dir"


class FolderInUseError(UserError):
    """Another controller is at work in the folder."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """Hold the folder of an experiment, which is made where there is none, and give the path of its lock.

    Raises:
        FolderInUseError: another controller has it.
        UserError: the folder cannot be written, or its file system has no locks.
    """
    path = folder / _NAME
    is_new = not path.exists()
    descriptor = _opened(path)
    try:
        while try_lock(descriptor, fcntl.LOCK_EX, path, _ELSEWHERE):
            if _is_at(descriptor, path):
                break
            # Whoever gave up an experiment that never began removed the file after we had opened it: what we hold guards nothing.
            os.close(descriptor)
            descriptor = _opened(path)
        else:
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another process"
            raise FolderInUseError(f"{folder} is in use", f"{holder} runs this experiment", "wait for it, or use another tag")
        with contextlib.suppress(OSError):  # on a full disk nothing says which process has it
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()}, since {utc(time.time())},\n".encode(), 0)
        yield path
    except NoLocksError:
        # Where nothing can be locked nobody is at work, and nothing is left of the try.
        if is_new:
            path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def is_held(folder: Path) -> bool:
    """Return whether a controller on this machine is at work in the folder of an experiment, without getting into its way."""
    path = folder / _NAME
    try:
        inode = path.stat().st_ino
        held = _LOCKS.read_text(encoding="ascii")
    except OSError:
        return False
    # To try the lock would keep a controller out that begins at that very moment.
    return any(words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode) for words in map(str.split, held.splitlines()))


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UserError(f"cannot write {path}", str(error), "check the folder's permissions, or give another --results_dir") from error


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
