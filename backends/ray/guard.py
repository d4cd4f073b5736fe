"""Makes sure that a cluster of this machine does not outlive whoever started it, also where that is killed: its processes, its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from backends.common import process_tree
from backends.common.child_process import wait_for_end
from backends.common.process_tree import MARK_VARIABLE

_SCRIPT = Path(__file__).with_name("guard_process.py")
_END_S = 30.0


class ClusterGuard:
    """The controller's end of a small process that waits for the controller's end.

    Args:
        token: what all processes of the cluster carry in their environment.
        folder: of the cluster, deleted with it.
    """

    def __init__(self, token: str, folder: str) -> None:
        self._token = token
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT), token, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )

    def mark(self) -> dict[str, str]:
        """Return the variable that processes are found by."""
        return {MARK_VARIABLE: f"{os.environ.get(MARK_VARIABLE, '')}{self._token}.0;"}

    def note(self) -> None:
        """Tell it what this process has started by now, as the marks of some cannot be read."""
        if self._process.stdin is not None:
            mark = f"{self._token}.".encode()
            roots = [child for child in process_tree.children(os.getpid()) if process_tree.carries(child, mark)]
            lines = "".join(f"{one.pid} {one.start_ticks}\n" for root in roots for one in process_tree.descendants(root))
            self._process.stdin.write(lines.encode())
            self._process.stdin.flush()

    def close(self) -> None:
        """Let it end what is left of the cluster, and wait for that."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if not wait_for_end(self._process, _END_S):
            self._process.kill()
            self._process.wait()
