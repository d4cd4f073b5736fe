"""A controller as a child of its supervisor: started, asked to end, and cleared away with all that it leaves behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from backends.common.memory import take_first
from backends.common.process_tree import Process, descendants, kill_until_gone
from backends.common.subreaper import Subreaper
from launch.remote.lives import Asked

TAKEN_BY = 300
"""By how much the kernel takes the controller before its supervisor where memory is short; trials beside it come before both."""
_SIGNALS = {Asked.WIND_DOWN: signal.SIGTERM, Asked.DETACH: signal.SIGUSR1, Asked.HAND_OVER: signal.SIGUSR1}
_LEFT_S = 10.0
_LINES = 3


class ControllerProcess:
    """A running controller.

    What its process leaves behind, parts of a study that had processes of their own say, is killed after its end: whoever is started next
    must find nobody at work. Training jobs are no processes of this machine, and run on.

    Args:
        words: the command.
        folder: where it starts.
        environ: all its variables.
        errors: takes what it writes to its stderr.
        ended: called once, from a thread, with its exit code, negative for a signal.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(
        self, words: Sequence[str], folder: Path, environ: Mapping[str, str], errors: IO[bytes], ended: Callable[[int], None]
    ) -> None:
        Subreaper().claim()
        self._errors, self._ended = errors, ended
        self._last: deque[str] = deque(maxlen=_LINES)
        self._process = subprocess.Popen(
            words, cwd=folder, env=dict(environ), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        take_first(self._process.pid, TAKEN_BY)
        self._reading = threading.Thread(target=self._read, name="controller-errors", daemon=True)
        self._reading.start()
        threading.Thread(target=self._wait, name="controller", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._process.pid

    def ask(self, what: Asked) -> None:
        """Ask it to end in that way."""
        self._process.send_signal(_SIGNALS[what])

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def last_words(self) -> str:
        """Return the last lines of its stderr on one line, where it has ended."""
        return " ".join(" ".join(self._last).split())

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.decode("utf-8", "replace").strip()
            if text:
                self._last.append(text)
            with contextlib.suppress(OSError, ValueError):
                self._errors.write(line)
                self._errors.flush()

    def _wait(self) -> None:
        code = self._process.wait()
        kill_until_gone(_left_behind, _LEFT_S)
        self._reading.join(_LEFT_S)
        self._ended(code)


def _left_behind() -> list[Process]:
    """Return what descends from this process, once what has ended is read."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return [process for process in descendants(os.getpid()) if process.pid != os.getpid()]
