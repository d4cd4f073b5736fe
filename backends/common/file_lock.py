"""Locks of files that never wait, and that tell "somebody else has it" from "this file system has no locks"."""

from __future__ import annotations

import fcntl
from pathlib import Path

from definitions.errors import UserError


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
