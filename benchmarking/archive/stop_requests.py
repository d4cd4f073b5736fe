"""How another process of the same user asks a running experiment to stop: a named pipe in its folder, which nobody else may write to."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from backends.failures import Cause

_NAME = "stop"
_MOST_BYTES = 4096
_OVER, _ALL, _ALONE = b"over", b"all", b"alone"


@contextlib.contextmanager
def listening(folder: Path, stop: Callable[[int | None, Cause], None]) -> Iterator[None]:
    """Inside the block, requests for the experiment in a folder are passed on; where the file system has no pipes, none can be made.

    Args:
        folder: of the experiment, which this process has locked.
        stop: called in another thread, with the number of the trial that is to stop, None for the whole experiment; and with the cause:
            of a trial or of all, `OUTSIDE`; of this experiment and not the others of its command, `ALONE`.
    """
    path = folder / _NAME
    try:
        # One that a killed controller has left may be anything by now.
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        # Also opened for writing, so that a reader without writers waits instead of finding an end.
        pipe = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        yield
        return
    thread = threading.Thread(target=_listen, args=(pipe, stop), name="stop-requests", daemon=True)
    thread.start()
    try:
        yield
    finally:
        # First unlinked, so that no request comes that nobody reads.
        path.unlink(missing_ok=True)
        os.write(pipe, _OVER + b"\n")
        thread.join()
        os.close(pipe)


def _listen(pipe: int, stop: Callable[[int | None, Cause], None]) -> None:
    left = b""
    while True:
        *lines, left = (left + os.read(pipe, _MOST_BYTES)).split(b"\n")
        for line in lines:
            if line == _OVER:
                return
            if line in (_ALL, _ALONE) or line.isdigit():
                stop(int(line) if line.isdigit() else None, Cause.ALONE if line == _ALONE else Cause.OUTSIDE)
        left = left[-_MOST_BYTES:]


def is_listening(folder: Path) -> bool:
    """Return whether a controller of the experiment in a folder runs on this machine and takes requests."""
    pipe = _open(folder)
    if pipe is None:
        return False
    os.close(pipe)
    return True


def ask(folder: Path, trial: int | None, *, alone: bool = False) -> bool:
    """Ask the controller of the experiment in a folder to stop a trial, or all where it is None; return whether there was one.

    Args:
        folder: of the experiment.
        trial: its number.
        alone: whether the other experiments of the same command are to go on.
    """
    pipe = _open(folder)
    if pipe is None:
        return False
    try:
        os.write(pipe, (_ALONE if alone else _ALL) + b"\n" if trial is None else b"%d\n" % trial)
    except OSError:
        return False
    finally:
        os.close(pipe)
    return True


def _open(folder: Path) -> int | None:
    try:
        pipe = os.open(folder / _NAME, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None  # there is no pipe, or nobody at its other end
    if stat.S_ISFIFO(os.fstat(pipe).st_mode):
        return pipe
    os.close(pipe)
    return None
