"""A small process that outlives its controller just long enough to end the controller's jobs. Standard library only.

The controller tells it through its standard input: `+<session>` a job began, `-<session>` it is gone, `bye` all is well.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

LONGEST_S = 60.0


def main(token: str, controller: int) -> None:
    """Wait until the controller says goodbye or is gone; in the second case kill its jobs' processes until none is left."""
    # What ends the controller's terminal must not end this process before it has done its work.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sessions = _listen(controller)
    if sessions is None:
        return
    # Imported only now: most watchdogs hear a goodbye and never need it.
    from backends.common import process_tree

    deadline = time.monotonic() + LONGEST_S
    pause_s = 0.005
    clean = 0
    # Twice nothing found: a process that forked during the first look is seen by the second.
    while clean < 2 and time.monotonic() < deadline:
        left = [process for process in process_tree.find(f"{token}.".encode(), sessions) if process.alive]
        for process in left:
            process_tree.send(process, signal.SIGKILL)
        clean = 0 if left else clean + 1
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.2)


def _listen(controller: int) -> set[int] | None:
    """Return the sessions of the jobs that were running when the controller died; None where it said goodbye."""
    sessions: set[int] = set()
    poller = select.poll()
    poller.register(0, select.POLLIN)
    # A forked child of the controller may hold the pipe open, so the controller itself is watched too.
    exit_descriptor = None
    if hasattr(os, "pidfd_open"):
        try:
            exit_descriptor = os.pidfd_open(controller)
            poller.register(exit_descriptor, select.POLLIN)
        except ProcessLookupError:
            pass
    said = b""
    while True:
        ready = [descriptor for descriptor, _ in poller.poll()]
        data = os.read(0, 65536) if 0 in ready else b""
        said += data
        *words, said = said.split(b"\n")
        for word in words:
            if word == b"bye":
                return None
            change = sessions.add if word[:1] == b"+" else sessions.discard
            change(int(word[1:]))
        if not data:
            return sessions


if __name__ == "__main__":
    root = __file__
    for _ in range(3):
        root = os.path.dirname(os.path.abspath(root))  # noqa: PTH100, PTH120 (pathlib would double the time that this takes to start)
    sys.path.insert(0, root)
    main(sys.argv[1], int(sys.argv[2]))
