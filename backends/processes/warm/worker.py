"""The controller's side of one warm worker: starts it, hands it jobs, notices its end."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from backends.common import process_tree
from backends.common.child_process import Child, ForkedProcess, affinity, end_descriptor, wait_for_end
from backends.common.command_line import StartCommand
from backends.processes.warm import wire
from backends.processes.warm.eligibility import mark_placeholder, worker_environment

_MESSAGE_S = 10.0
_GOODBYE_S = 1.0


@dataclass(frozen=True)
class ProcessSpec:
    """How a job's first process is started.

    Args:
        program: what starts it cold, and what a fork would run.
        folder: its working directory.
        cores: those that it may run on.
        mark: what its processes are found by.
        source_dir: where a module is looked for.
    """

    program: StartCommand
    folder: Path
    environment: Mapping[str, str]
    cores: Sequence[int]
    mark: str
    source_dir: str = ""

    @cached_property
    def import_folder(self) -> str:
        """The folder from which its own modules are imported: a script's own, else that of the source."""
        script = self.program.script
        return self.source_dir if script is None else os.path.dirname(os.path.realpath(script))  # noqa: PTH120 (a fifth of the time)


class WarmWorkerError(Exception):
    """A worker cannot start a job; the message says why. `lasting`: nor any other one."""

    def __init__(self, message: str, lasting: bool) -> None:
        super().__init__(message)
        self.lasting = lasting


class WarmWorker:
    """A process that imports modules and then forks jobs; its jobs are children of this process, which adopts orphans.

    Args:
        preload: names of modules.
        first: the first job; the worker is started in its environment and does the imports on its cores.
        python: the interpreter.
        token: what the marks of all jobs begin with.
        allowed: the cores that jobs may have.
        log: file for what the imports print.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, preload: Sequence[str], first: ProcessSpec, *, python: str, token: str, allowed: Sequence[int], log: Path) -> None:
        self._placeholder = mark_placeholder(token)
        self._killed = False
        self._asked: deque[tuple[str, int]] = deque()
        self._connection, theirs = socket.socketpair()
        self._connection.settimeout(_MESSAGE_S)
        command = [python, str(Path(__file__).with_name("zygote.py")), str(theirs.fileno())]
        order = {
            "preload": [*preload],
            "script_folder": first.import_folder,
            "script": str(first.program.script or ""),
            "cores": [*allowed],
            "placeholder": self._placeholder,
        }
        try:
            with theirs, affinity(first.cores), log.open("ab") as output:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    # A folder that no module has for a reason of its own: those that note where they work note this one, and are told.
                    cwd=log.parent,
                    env=worker_environment(first.environment, first.mark, self._placeholder),
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            # Not awaited: the imports take seconds, and the reactor says when the answer is there.
            wire.send(self._connection, order)
        except BaseException:
            self._connection.close()
            raise

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._process.pid

    @property
    def descriptor(self) -> int:
        """Becomes readable when the imports are done, and when the worker has ended."""
        return self._connection.fileno()

    def outcome(self) -> tuple[str, str]:
        """Return, once the descriptor is readable for the first time, why it can start no job, and which module is to blame; or nothing."""
        try:
            received = wire.receive(self._connection)
        except (OSError, ValueError, EOFError, TypeError) as error:
            return str(error), ""
        if received is None:
            return self._last_words(), ""
        return str(received[0].get("refused") or ""), str(received[0].get("module") or "")

    def ask(self, launch: ProcessSpec, imports: str = "") -> None:
        """Ask for a job; `answer` tells of its process. Further ones may be asked for meanwhile.

        Args:
            launch: how it is started.
            imports: file that it writes its imports and their times to; empty for none.

        Raises:
            WarmWorkerError: the worker is gone or takes no requests.
            OSError: this process lacks descriptors.
        """
        request = {
            "script": str(launch.program.script or ""),
            "module": launch.program.module,
            "arguments": [*launch.program.arguments],
            "folder": str(launch.folder),
            "environment": dict(launch.environment),
            "cores": [*launch.cores],
            "mark": launch.mark,
            "imports": imports,
        }
        read_end, write_end = os.pipe()
        self._asked.append((launch.mark, read_end))
        try:
            wire.send(self._connection, request, [write_end])
        except OSError as error:
            raise WarmWorkerError(f"it does not answer: {error}", lasting=True) from error
        finally:
            # The reader sees the end of the output only when no process has this end open.
            os.close(write_end)

    def answer(self) -> tuple[Child, float]:
        """Return, once the descriptor is readable, the process of the job that was asked for first, and for how many seconds it has run.

        Raises:
            WarmWorkerError: no process was started for it, or the worker has ended.
        """
        try:
            received = wire.receive(self._connection)
        except (OSError, ValueError, EOFError, TypeError) as error:
            raise WarmWorkerError(f"it does not answer: {error}", lasting=True) from error
        if received is None or not self._asked:
            raise WarmWorkerError(self._last_words() if received is None else "it says what nobody asked for", lasting=True)
        pid = received[0].get("pid")
        if isinstance(pid, int):
            # A job that is somebody else's child could be neither waited for nor reaped here.
            process = process_tree.read_process(pid)
            if process is None or process.parent != os.getpid():
                raise WarmWorkerError("this process does not become the parent of its jobs", lasting=True)
        _, read_end = self._asked.popleft()
        if not isinstance(pid, int):
            os.close(read_end)
            raise WarmWorkerError(str(received[0].get("refused")), lasting=False)
        os.set_blocking(read_end, False)
        forked = ForkedProcess(pid)
        return Child(forked, read_end, end_descriptor(forked)), max(0.0, time.monotonic() - float(received[0]["began_s"]))

    def abandon(self) -> None:
        """End the worker, and what it may have started of the jobs that it was asked for and has not told of."""
        self.kill()
        for mark, read_end in self._asked:
            # Found by the mark alone, as the number was not told; whoever was not marked yet was killed with the worker.
            family = process_tree.find(mark.encode())
            for process in family:
                process_tree.send(process, signal.SIGKILL)
            _reap(process.pid for process in family)
            os.close(read_end)
        self._asked.clear()

    def close(self) -> None:
        """End the worker; jobs go on."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
        if not wait_for_end(self._process, _GOODBYE_S):
            self.kill()

    def kill(self) -> None:
        """End the worker at once, whatever it is doing."""
        if self._killed:
            return
        self._killed = True
        # Found before the first is killed, as the waiting copy is known through its parent.
        family = process_tree.find(self._placeholder.encode(), {self._process.pid})
        for process in family:
            process_tree.send(process, signal.SIGKILL)
        self._process.wait()
        _reap(process.pid for process in family)

    def _last_words(self) -> str:
        wait_for_end(self._process, _GOODBYE_S)
        code = self._process.returncode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"it was ended by signal {signal.Signals(-code).name}"
        return "it ended" if code is None else f"it ended with exit code {code}"


def _reap(pids: Iterable[int]) -> None:
    """Wait for killed processes that have become children of this one; others do that for theirs."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
