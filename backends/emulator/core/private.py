"""Files and folders that no other user of the machine can read, and temporary ones that go with their owner, or at the next one's start."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from backends.common.file_lock import try_lock
from definitions.errors import UserError

LOCK = "emulator.lock"
PREFIX = "outrider-emulator-"
_MAKING = ".making-outrider-emulator-"


def private_folder(path: Path, ours: Iterable[str] = ()) -> Path:
    """Make a folder that only its owner can enter, and return it.

    One that exists already is closed to others where it is this user's, and empty or one of ours: not one with other things in it.

    Args:
        path: of the folder; folders above it are made too.
        ours: names of which one at least is in a folder of ours; empty where every folder of this name is.

    Raises:
        UserError: a file is in its place.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise UserError(f"the folder {path}", "a file of this name is there", "give another folder")
    names = {entry.name for entry in path.iterdir()} if ours else set()
    if found.st_uid == os.geteuid() and found.st_mode & 0o077 and not (names and names.isdisjoint(ours)):
        path.chmod(0o700)
    return path


def private_file(path: Path) -> Path:
    """Make an empty file that only its owner can read, or close one that exists to all others; return it."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
    return path


class FolderLock:
    """Keeps a second emulator off a folder; the system releases it when the process dies.

    Raises:
        UserError: another emulator uses the folder.
    """

    def __init__(self, folder: Path) -> None:
        path = private_file(folder / LOCK)
        self._file = path.open("w", encoding="utf-8")
        taken = False
        try:
            taken = try_lock(self._file.fileno(), fcntl.LOCK_EX, path, "give a folder on another disk")
        finally:
            if not taken:
                self._file.close()
        if not taken:
            raise UserError(
                f"the emulator's folder {folder}: it is in use",
                "another emulator runs on it",
                "stop that one, or give another folder",
            )

    def close(self) -> None:
        """Release the folder."""
        self._file.close()


def in_use(path: Path) -> bool:
    """Return whether somebody holds the lock of a file."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


class TemporaryFolder:
    """A private temporary folder for as long as the block lasts; those of owners that were killed are removed first.

    Args:
        place: where such folders are.
    """

    def __init__(self, place: Path | None = None) -> None:
        self._place = place or Path(tempfile.gettempdir())
        remove_leftovers(self._place)
        # It gets its name once it is locked: another that starts just now must not take it for a leftover.
        making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=self._place))
        self._lock = FolderLock(making)
        self.path = (making.parent / f"{PREFIX}{making.name.removeprefix(_MAKING)}").resolve()
        making.rename(self.path)

    def close(self) -> None:
        """Delete it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def remove_leftovers(place: Path) -> list[str]:
    """Delete the temporary folders of this user's emulators that are no more, and return their names."""
    removed = []
    for folder in temporary_folders(place):
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            # Whoever holds the lock lives, in whatever namespace its process id means something.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder.name)
        except OSError:
            continue
        finally:
            os.close(lock)
    return removed


def temporary_folders(place: Path) -> list[Path]:
    """Return the temporary folders of this user's emulators: no links, and nobody else's."""
    found = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                with contextlib.suppress(OSError):
                    facts = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid():
                        found.append(Path(entry.path))
    return sorted(found)
