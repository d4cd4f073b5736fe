"""An emulator beside a shell: `eval "$(outrider emulate --exports)"` starts one that ends with the shell that it was started from."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

EXPORTS = "exports"
"""File in an emulator's folder that says what to export."""
_ROOT = Path(__file__).resolve().parent.parent


def start(arguments: Sequence[str], folder: Path | None) -> str:
    """Start an emulator in the background, or find the one that runs on a folder, and return what to export as lines.

    Args:
        arguments: of `outrider emulate`.
        folder: that it is to keep its data in; None for none.
    """
    from backends.emulator.core.private import LOCK, in_use

    if folder is not None and in_use(folder / LOCK) and (folder / EXPORTS).is_file():
        return (folder / EXPORTS).read_text(encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from launch.__main__ import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "emulate", *arguments, "--while", str(shell_of(os.getppid()))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C is for what the shell runs in front
    )
    assert process.stdout is not None
    with process.stdout:
        return process.stdout.read()


def shell_of(pid: int, proc: Path = Path("/proc")) -> int:
    """Return the shell that a process belongs to: of one that a shell has forked for a substitution, that shell.

    Args:
        pid: of the process.
        proc: where the system shows its processes.
    """
    while True:
        try:
            parent = int((proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
            same = (proc / str(pid) / "cmdline").read_bytes() == (proc / str(parent) / "cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            return pid
        if not same:
            return pid
        pid = parent


def end_with(pid: int, end: Callable[[], None]) -> None:
    """Call `end` from a thread once a process is no more."""
    try:
        watched = os.pidfd_open(pid)
    except OSError:
        end()
        return

    def wait() -> None:
        select.select([watched], [], [])
        end()

    threading.Thread(target=wait, daemon=True).start()


def let_go() -> None:
    """Let go of the caller's output, who waits for its end."""
    sys.stdout.flush()
    sys.stderr.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)
