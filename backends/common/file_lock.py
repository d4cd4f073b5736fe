"""Locks of files, which tell "somebody else has it" from "this file system has no locks", and wait for no longer than is said."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from definitions.errors import UserError

_PAUSE_S = 0.05


class NoLocksError(UserError):
    """A file system has no locks."""


def try_lock(descriptor: int, kind: int, file: str | Path, advice: str) -> bool:
    """Lock an open file, and return whether that went well; False where somebody else has it.

    Args:
        descriptor: of the file.
        kind: `fcntl.LOCK_EX` or `fcntl.LOCK_SH`.
        file: its path, for the message.
        advice: what to do where it cannot be locked at all.

    Raises:
        NoLocksError: the file system has no locks (Lustre mounted without `flock`, some NFS).
    """
    # Of the open file and not of the process (as `fcntl.lockf`'s are): closing another descriptor of it does not let go of it.
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    # Somebody else has it: the one error that says nothing about the file system.
    except BlockingIOError:
        return False
    except OSError as error:
        path = Path(file)
        raise NoLocksError(f"the file system of {path.parent} has no locks", f"{path.name}: {error}", advice) from error
    return True


@contextlib.contextmanager
def locked_within(
    path: Path, most_s: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
) -> Iterator[int | None]:
    """Inside the block this process alone has a file, which is made where it does not exist; gives its descriptor.

    Args:
        path: of the file.
        most_s: seconds to wait for who has it; after them the block gets None, and goes on without it.
        clock: seconds.
        sleep: waits so many.

    Raises:
        OSError: it cannot be made.
        NoLocksError: the file system has no locks.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    taken, until = False, clock() + most_s
    try:
        while not (taken := try_lock(descriptor, fcntl.LOCK_EX, path, "")) and clock() < until:
            sleep(_PAUSE_S)
        yield descriptor if taken else None
    finally:
        if taken:
            # Unlocked and not only closed: a forked child of this process may have the descriptor too.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
