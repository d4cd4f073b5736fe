"""The controller's end of the process that tells a tracker: it never waits for it, but for a few seconds at the very end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.tracking.worker import command
from definitions import strict_json

_TIMEOUT_S = 25.0
"""Seconds that the process may take to tell the rest, and a little more than it gives itself."""


class TrackingProcess:
    """Tells a tracker of experiments in a process of its own, from its making to `close`.

    Args:
        kind: of tracker.
        say: takes a line for people, from another thread.
        environ: of the process.
        arguments: its command line in place of the usual one.
    """

    def __init__(self, kind: str, say: Callable[[str], None], environ: Mapping[str, str], arguments: Sequence[str] | None = None) -> None:
        self._kind, self._say = kind, say
        self._left: list[str] | None = None
        self._error = ""
        self._broken = False
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        # Of a session of its own: what a terminal sends to the controller must not end it in the middle of a request.
        self._child = subprocess.Popen(
            [*(arguments or command(kind))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**environ},
            start_new_session=True,
        )
        assert self._child.stdin is not None
        # A process that hangs must not make a full pipe the controller's trouble.
        os.set_blocking(self._child.stdin.fileno(), False)
        self._thread = threading.Thread(target=self._listen, name="tracking", daemon=True)
        self._thread.start()

    @property
    def process_id(self) -> int:
        """Process id of the process."""
        return self._child.pid

    def follow(self, folder: Path) -> None:
        """Have the tracker told of an experiment from now on."""
        self._order(follow=str(folder.absolute()))

    def follow_all(self, tag_folder: Path) -> None:
        """Have it told of all experiments of a tag, also of those that are made later."""
        self._order(follow_all=str(tag_folder.absolute()))

    def close(self, *, once: bool = False, timeout_s: float | None = _TIMEOUT_S) -> tuple[list[str] | None, str]:
        """Wait until the tracker has all, at most so many seconds, and end the process.

        Args:
            once: whether it tries several times where the tracker does not answer.
            timeout_s: None to wait as long as it takes.

        Returns:
            Folders of the experiments of which the tracker lacks something, None where that is not known, and the last error.
        """
        if once:
            self._order(once=True)
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        try:
            self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._thread.join(5.0)
        assert self._child.stdout is not None
        self._child.stdout.close()
        if self._left is None and not self._error:
            self._error = f"the process that tells it ended with {self._child.returncode}{self._last_words()}"
        self._stderr.close()
        return self._left, self._error

    def _last_words(self) -> str:
        """Return the last line that the process wrote, after a colon; empty where it wrote none."""
        self._stderr.seek(max(0, os.fstat(self._stderr.fileno()).st_size - 2000))
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def _order(self, **order: Any) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write((strict_json.dumps(order) + "\n").encode())
            self._child.stdin.flush()
        except OSError as error:
            if not self._broken:
                self._broken = True
                self._say(f"{self._kind} is not told any more, as the process that does so is gone or hangs ({error})")

    def _listen(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            message = strict_json.loads(line.decode("utf-8", "replace"))
            if "say" in message:
                self._say(message["say"])
            elif "left" in message:
                self._left, self._error = message["left"], message["error"]
