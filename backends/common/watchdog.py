"""Starts the watchdog and keeps it informed, so that jobs do not outlive their controller."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from backends.common.child_process import wait_for_end

_GOODBYE_S = 2.0


class Watchdog:
    """The controller's end of the watchdog. What cannot be reported to it is not fatal: it also looks for the controller's mark.

    Args:
        token: what the jobs of this controller are marked with.
    """

    def __init__(self, token: str) -> None:
        self._token = token
        self._process: subprocess.Popen[bytes] | None = None
        self._reported: set[int] = set()

    @property
    def pid(self) -> int | None:
        """The watchdog's process number; None while there is none."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the watchdog, unless it runs."""
        if self._process is None or self._process.poll() is not None:
            self._reported = set()
            self._start()

    def update(self, sessions: set[int]) -> None:
        """Say in which sessions jobs run now; what has not changed is not reported again."""
        words = [f"-{session}\n" for session in self._reported - sessions] + [f"+{session}\n" for session in sessions - self._reported]
        if words and self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                os.write(self._process.stdin.fileno(), "".join(words).encode())
        # Also where the write failed: the watchdog still finds the jobs by their mark.
        self._reported = sessions

    def close(self, goodbye: bool) -> None:
        """Say goodbye and wait for the watchdog to end; without goodbye it kills what is left."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        with contextlib.suppress(OSError):
            # The end of the pipe without this word is what a controller's death looks like.
            if goodbye:
                os.write(process.stdin.fileno(), b"bye\n")
        with contextlib.suppress(OSError):
            process.stdin.close()
        if not goodbye:
            return
        if not wait_for_end(process, _GOODBYE_S):
            process.kill()
            process.wait()

    def _start(self) -> None:
        script = Path(__file__).with_name("watchdog_process.py")
        command = [sys.executable, "-I", "-S", str(script), self._token, str(os.getpid())]
        quiet = subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, env={}, cwd="/", bufsize=0, start_new_session=True
            )
        except OSError:
            self._process = None
            return
        if self._process.stdin is not None:
            # A watchdog that is stuck must not stop the controller too.
            os.set_blocking(self._process.stdin.fileno(), False)
