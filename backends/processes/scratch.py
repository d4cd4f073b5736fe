"""The folder among a machine's temporary files that several who run jobs there share; whoever leaves it last deletes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

LOCK = "lock"
VARIABLE = "OUTRIDER_NODE_SCRATCH"
"""`<descriptor of a shared lock>:<folder>`; the lock is whoever's that has it open."""


class ScratchFolder:
    """This process's part of the folder.

    Args:
        environ: has the variable, or not where nothing is relative to such a folder.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        lock, _, folder = environ.get(VARIABLE, "").rpartition(":")
        self._lock = int(lock) if lock else None
        self._folder = folder
        if self._lock is not None:
            os.set_inheritable(self._lock, False)  # else what a job leaves behind would hold it

    def within(self, path: str) -> Path:
        """Return a path that is relative to the folder, or absolute."""
        return Path(self._folder, path)

    def leave(self, own: str) -> None:
        """Delete what is this process's own, where it is in the folder, and the whole where nobody else is in it."""
        if self._lock is None:
            return
        if not Path(own).is_absolute():
            shutil.rmtree(self.within(own), ignore_errors=True)
            with contextlib.suppress(OSError):
                self.within(own).parent.rmdir()  # where no other part of the same is left in it
        with contextlib.suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The lock goes last: whoever comes meanwhile waits for it, and would else bring into a folder that is being deleted.
            for path in self.within("").iterdir():
                if path.is_dir():
                    # Moved first, as a part that is left where this process is killed would look like the whole.
                    shutil.rmtree(path.rename(f"{path}-{os.getpid()}-deleted"), ignore_errors=True)
                elif path.name != LOCK:
                    path.unlink()
            self.within(LOCK).unlink()
            self.within("").rmdir()
