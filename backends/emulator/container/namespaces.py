"""Runs a program in a container's stead: with a /opt/ml and a process namespace of its own where that is allowed, else as a process group.

What is started dies with the thread that started it, and with it all that it has started.
"""

from __future__ import annotations

import contextlib
import enum
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.common import process_tree

MARK = "OUTRIDER_EMULATED_JOB"
_GONE_S = 5.0
_SCRIPT = Path(__file__).with_name("container.sh")


class Isolation(enum.StrEnum):
    """How much of a container there is: private mounts and processes by root or by a user of an own user namespace, or neither."""

    ROOT = "root"
    USER = "user"
    NONE = "none"


@dataclass
class ContainerProcess:
    """A program that runs.

    Args:
        output: descriptor of what it prints, not blocking; `ended`: descriptor that is readable when it is over.
        mark: what all its processes have in their environment.
        stopped: file by which a launcher that has not got so far yet learns that it is to end the program.
    """

    popen: subprocess.Popen[bytes]
    output: int
    ended: int
    isolation: Isolation
    mark: str
    stopped: Path

    def terminate(self) -> None:
        """Ask the program, and not what it has started, to end."""
        if self.isolation is Isolation.NONE:
            with contextlib.suppress(ProcessLookupError):
                self.popen.send_signal(signal.SIGTERM)
            return
        with contextlib.suppress(OSError):
            self.stopped.touch()
        for pid in process_tree.children(self.popen.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def kill(self) -> None:
        """End the program and all that it has started."""
        if self.isolation is Isolation.NONE:
            process_tree.send_group(self.popen.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self.popen.kill()

    def pause(self, stop: bool) -> None:
        """Stop the program, or let it go on."""
        number = signal.SIGSTOP if stop else signal.SIGCONT
        if self.isolation is Isolation.NONE:
            process_tree.send_group(self.popen.pid, number)
            return
        for pid in process_tree.children(self.popen.pid):
            for process in process_tree.descendants(pid)[1:]:
                process_tree.send(process, number)

    def reap(self) -> int:
        """Return the exit code, negative for a signal, and end whatever is left."""
        code = self.popen.wait()
        os.close(self.ended)
        if self.isolation is Isolation.NONE or code < 0:
            # Of a launcher that was killed, what it launched is killed by the system a moment later. Until then it may be making folders
            # that whoever called believes to be free to delete. The mark whole, as that of host 1 begins that of host 10.
            sessions = (self.popen.pid,) if self.isolation is Isolation.NONE else ()
            process_tree.kill_until_gone(lambda: process_tree.find(f"{self.mark}\0".encode(), sessions), _GONE_S)
        elif code > 128:
            code = 128 - code
        return code


def best_isolation(asked: str) -> Isolation:
    """Return the most that this machine allows of what is asked for (`auto`, `user`, `never`), by trying; takes some 20 ms."""
    if asked == "never" or sys.platform != "linux" or not all(shutil.which(name) for name in ("unshare", "setpriv", "mount", "sh")):
        return Isolation.NONE
    for isolation in (Isolation.ROOT, Isolation.USER) if asked == "auto" and os.geteuid() == 0 else (Isolation.USER,):
        with tempfile.TemporaryDirectory() as folder:
            ml, stage = Path(folder, "ml"), Path(folder, "stage")
            for path in (ml, stage):
                path.mkdir()
            (ml / "seen").touch()
            command = _command(isolation, ml, stage, None, "/", ["test", "-e", "/opt/ml/seen"])
            done = subprocess.run(command, capture_output=True, check=False)
            if done.returncode == 0:
                return isolation
    return Isolation.NONE


def spawn(
    command: Sequence[str],
    environment: Mapping[str, str],
    ml: Path,
    stage: Path,
    cache: Path | None,
    folder: str,
    isolation: Isolation,
    closed: str = "",
) -> ContainerProcess:
    """Start a program.

    Args:
        command: what to run.
        environment: all its variables.
        isolation: how much of a container it gets.
        ml: what it sees as /opt/ml, and where that is with no isolation.
        stage: an empty folder for the launcher's use.
        cache: the warm pool's cache, where there is one.
        folder: where the program starts, in its own view.
        closed: a folder that it cannot write to, where it has mounts of its own; empty for none.

    Raises:
        OSError: the system refused.
    """
    full = _command(isolation, ml, stage, cache, folder, command, closed)
    read_end, write_end = os.pipe()
    try:
        popen = subprocess.Popen(
            full,
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=subprocess.STDOUT,
            cwd=folder if isolation is Isolation.NONE else "/",
            env=dict(environment),
            start_new_session=True,
        )
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    os.set_blocking(read_end, False)
    from backends.common.child_process import end_descriptor

    return ContainerProcess(popen, read_end, end_descriptor(popen), isolation, f"{MARK}={environment.get(MARK, '')}", ml.parent / "stopped")


def _command(
    isolation: Isolation, ml: Path, stage: Path, cache: Path | None, folder: str, command: Sequence[str], closed: str = ""
) -> list[str]:
    dying = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    if isolation is Isolation.NONE:
        return [*dying, *command]
    user = ["--user", "--map-root-user"] if isolation is Isolation.USER else []
    apart = ["unshare", *user, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [*dying, *apart, "/bin/sh", str(_SCRIPT), str(ml), str(stage), str(cache or ""), folder, closed, *command]
