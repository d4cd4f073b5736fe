"""Runs programs in a container, and passes on to them the signals that stop a job. Standard library only, Python 3.8 or later."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from backends.common.staged_run import PeakMemory

# Types are named in annotations only: a job must not pay for importing `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO, Any

_LINGER_S = 115.0  # the service kills what is left 120 s after TERM


class Runner:
    """Runs programs one after another in process groups of their own, and forwards TERM and INT to the one that runs."""

    def __init__(self) -> None:
        self._group = 0
        self._waiting: list[int] = []
        self.stopped = 0  # number of the last signal
        self.usage: Any = None  # of the last program
        self.peak_rss_bytes = 0  # of the same, with what it started

    def listen(self) -> None:
        """Forward from now on; the first process of a container would ignore signals that it does not handle."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._forward)

    def run(self, command: Sequence[str], folder: Path, environment: Mapping[str, str], output: IO[bytes] | None = None) -> int:
        """Return the exit code, 128 + n for signal n; raises OSError where the program cannot be started."""
        self.usage = None
        if self.stopped:
            return 128 + self.stopped
        errors = None if output is None else subprocess.STDOUT
        child = subprocess.Popen(command, cwd=str(folder), env=dict(environment), start_new_session=True, stdout=output, stderr=errors)
        self._group = child.pid
        self._send()  # what came while there was nobody to forward it to
        peak = PeakMemory(child.pid)
        peak.start()
        code = self._wait(child)
        self.peak_rss_bytes = peak.end_bytes(self.usage.ru_maxrss * 1024)
        if self.stopped:
            self._await_group()
        self._group = 0
        return code

    def _wait(self, child: subprocess.Popen[bytes]) -> int:
        # A signal that comes just before a blocking wait is not noticed by it, and would be forwarded when the script has ended. Here each
        # writes a byte before anything else happens, so that the wait for a byte ends whenever the signal came.
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        before = signal.signal(signal.SIGCHLD, lambda *_: None)
        told = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        try:
            while True:
                # As the first process it inherits orphans, which stay for ever unless somebody waits for them.
                pid, status, self.usage = os.wait4(-1, os.WNOHANG)
                if pid == child.pid:
                    break
                if pid == 0:
                    select.select([reading], [], [])
                    with contextlib.suppress(BlockingIOError):
                        os.read(reading, 512)
        finally:
            signal.set_wakeup_fd(told)
            signal.signal(signal.SIGCHLD, before)
            os.close(reading)
            os.close(writing)
        child.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return child.returncode if child.returncode >= 0 else 128 - child.returncode

    def _await_group(self) -> None:
        """Wait for what the script has started, as it may still write its checkpoint, and dies with this process's container."""
        end = time.monotonic() + _LINGER_S
        while time.monotonic() < end:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if not _lives(self._group):
                return
            time.sleep(0.02)

    def _forward(self, number: int, _: Any) -> None:
        self.stopped = number
        self._waiting.append(number)
        self._send()

    def _send(self) -> None:
        # A signal may come at any point of this; each is popped, and so sent, once.
        while self._group and self._waiting:
            with contextlib.suppress(ProcessLookupError, PermissionError, IndexError):
                os.killpg(self._group, self._waiting.pop(0))


def _lives(group: int) -> bool:
    """Return whether a process group has a process that has not ended; where another is its parent, an ended one stays until it is read."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    processes = [*Path("/proc").glob("[0-9]*/stat")]
    for path in processes:
        with contextlib.suppress(OSError, ValueError):
            # After the name, which may hold anything, come state, parent and group.
            state, _, of = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:3]
            if int(of) == group and state not in "ZX":
                return True
    return not processes
