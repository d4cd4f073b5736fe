"""A server's program: started with its output in a log file, watched, and ended with all that it has started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.common import process_tree
from backends.common.child_process import affinity
from backends.common.process_tree import MARK_VARIABLE
from backends.common.watchdog import Watchdog
from backends.serving.base import ServerFailedError, ServerOptions

_KILL_S = 5.0
_TAIL_BYTES = 4000


class ServerProgram:
    """One program and its descendants. It stays in the starter's session, so that whoever ends that session ends it too.

    Args:
        command: all its words.
        environment: whole.
        options: of the server.

    Raises:
        ServerFailedError: it could not be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], options: ServerOptions) -> None:
        self._log = options.log
        options.folder.mkdir(parents=True, exist_ok=True)
        cores = options.cores or tuple(sorted(os.sched_getaffinity(0)))
        self._token = f"serving-{secrets.token_hex(8)}"
        self._watchdog = Watchdog(self._token)
        self._known: dict[int, process_tree.Process] = {}
        try:
            with options.log.open("ab") as log, affinity(cores):
                # Its standard input is a pipe that ends when this process does, for those that look at it.
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=options.folder,
                    env={**environment, MARK_VARIABLE: f"{environment.get(MARK_VARIABLE, '')}{self._token}.;"},
                )
        except OSError as error:
            raise ServerFailedError(f"{command[0]} cannot be started: {error}") from error
        # Not all servers end with their standard input, and the processes of their models do not end with them.
        self._watchdog.start()

    def pids(self) -> list[int]:
        """Return the numbers of its living processes."""
        return [process.pid for process in self._living()]

    def has_ended(self) -> bool:
        """Return whether its first process has ended."""
        return self._process.poll() is not None

    def last_words(self) -> str:
        """Return how it ended, where it has, and the end of its log."""
        code = self._process.poll()
        said = "" if code is None else f"ended by signal {-code}; " if code < 0 else f"ended with exit code {code}; "
        return f"{said}the end of {self._log}:\n{tail_of(self._log)}"

    def kill(self) -> None:
        """Kill it with all its descendants, and wait until they are gone."""
        # Asked to end, a server may take its time for requests that nobody waits for any more; nothing that it holds has to be kept.
        with contextlib.suppress(ProcessLookupError):
            self._living()
            self._process.kill()
        process_tree.kill_until_gone(self._living, _KILL_S)
        process_tree.kill_until_gone(lambda: process_tree.find(self._token.encode()), _KILL_S)
        self._watchdog.close(goodbye=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_S)
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _living(self) -> list[process_tree.Process]:
        """Return its living processes; those seen before are looked for where their parent has ended."""
        found = {} if self._process.poll() is not None else {one.pid: one for one in process_tree.descendants(self._process.pid)}
        for one in self._known.values():
            if one.pid in found:
                continue
            now = process_tree.read_process(one.pid)
            if now is not None and now.alive and now.start_ticks == one.start_ticks:
                found |= {child.pid: child for child in process_tree.descendants(now.pid)}
        self._known = found
        return [*found.values()]


def tail_of(log: Path) -> str:
    """Return the last lines of a log file."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return "(no log)"


def ignore_stops() -> None:
    """Leave the end of this process to whoever started it: a signal to a whole process group comes to all at once."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


async def until_input_ends() -> None:
    """Return when standard input ends, as it does with whoever started this process."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(1 << 16):
        pass
