"""Finds and signals the processes of a job by what Linux tells of them: parent, session, start time, environment. Standard library only.

Where there is no `/proc` everything is found empty and only process groups are signalled.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

_PROC = "/proc"
_LOOK_AGAIN_S = 0.005
MARK_VARIABLE = "OUTRIDER_CONTROLLER"
"""Environment variable that carries the marks by which a job's processes are found."""


class Process(NamedTuple):
    """One process as `/proc/<pid>/stat` shows it; `start_ticks` since boot tells it from a later one with the same number."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start_ticks: int

    @property
    def alive(self) -> bool:
        """Whether it still runs, as against waiting to be reaped."""
        return self.state not in "ZX"


def read_process(pid: int) -> Process | None:
    """Return what is known of a process, or None where there is none."""
    try:
        fields = _content(f"{_PROC}/{pid}/stat").rsplit(b")", 1)[1].split()
        return Process(pid, fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))
    except (OSError, IndexError, ValueError):
        return None


def all_processes() -> dict[int, Process]:
    """Return every process of the machine, by number."""
    try:
        names = os.listdir(_PROC)  # noqa: PTH208 (done often, so in the cheapest way)
    except OSError:
        return {}
    found = (read_process(int(name)) for name in names if name.isdigit())
    return {process.pid: process for process in found if process is not None}


def children(pid: int) -> list[int]:
    """Return the numbers of the children that the first thread of a process has, orphans given to it included."""
    try:
        return [int(number) for number in _content(f"{_PROC}/{pid}/task/{pid}/children").split()]
    except OSError:
        return []


def carries(pid: int, mark: bytes) -> bool:
    """Return whether a process has the mark in its environment."""
    try:
        return mark in _content(f"{_PROC}/{pid}/environ")
    except OSError:
        return False


def find(mark: bytes, sessions: Collection[int] = (), known: Iterable[Process] = ()) -> list[Process]:
    """Return the processes that carry the mark, belong to one of the sessions, are known, or descend from such; not only living ones.

    Args:
        mark: bytes that only the processes sought have in their environment.
        sessions: numbers of sessions that belong to them whole.
        known: processes seen earlier; one that has ended, or whose number another process has got, is not found.
    """
    processes = all_processes()
    # Three ways in, as each can be evaded: seen before (and the same by its start), in the session, or with the mark.
    ours = {process.pid for process in known if (now := processes.get(process.pid)) and now.start_ticks == process.start_ticks}
    ours |= {pid for pid, process in processes.items() if process.session in sessions or carries(pid, mark)}
    # A controller within a job of another one carries that one's mark itself.
    ours.discard(os.getpid())
    pending = list(ours)
    offspring: dict[int, list[int]] = {}
    for process in processes.values():
        offspring.setdefault(process.parent, []).append(process.pid)
    # And whoever descends from those, found in one snapshot, so that the search ends however fast they fork.
    while pending:
        for pid in offspring.get(pending.pop(), ()):
            if pid not in ours:
                ours.add(pid)
                pending.append(pid)
    return [processes[pid] for pid in sorted(ours)]


def descendants(pid: int) -> list[Process]:
    """Return a process and its living descendants, found through their parents alone; cheap, but blind for orphans."""
    found: list[Process] = []
    pending = [pid]
    while pending:
        process = read_process(pending.pop())
        if process is not None and process.alive:
            found.append(process)
            pending += _children_of_all_threads(process.pid)
    return found


def send(process: Process, number: signal.Signals) -> bool:
    """Send a signal to exactly this process; return whether it was still there."""
    try:
        if not hasattr(os, "pidfd_open"):
            os.kill(process.pid, number)
            return True
        descriptor = os.pidfd_open(process.pid)
    except (ProcessLookupError, PermissionError):
        return False
    try:
        # Compared while the descriptor is open: the number can then no longer pass to another process before the signal.
        now = read_process(process.pid)
        if now is None or now.start_ticks != process.start_ticks:
            return False
        signal.pidfd_send_signal(descriptor, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(descriptor)
    return True


def kill_until_gone(find_them: Callable[[], Iterable[Process]], timeout_s: float) -> bool:
    """Kill processes until none of them is found alive; return whether that was reached in time.

    Args:
        find_them: looks for them; asked anew each time, as what is being killed may have forked once more.
        timeout_s: most seconds.
    """
    give_up_at = time.monotonic() + timeout_s
    while left := [process for process in find_them() if process.alive]:
        for process in left:
            send(process, signal.SIGKILL)
        # A process that was killed lives on until it is next scheduled, so that the signal alone says nothing.
        if time.monotonic() >= give_up_at:
            return False
        time.sleep(_LOOK_AGAIN_S)
    return True


def send_group(group: int, number: int) -> bool:
    """Send a signal (0: none, to ask only) to a process group; return whether it has members."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _children_of_all_threads(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"{_PROC}/{pid}/task"):  # noqa: PTH208
            found += [int(number) for number in _content(f"{_PROC}/{pid}/task/{thread}/children").split()]
    except OSError:
        pass
    return found


def _content(path: str) -> bytes:
    # The cheapest way there is, as this is done for every process of the machine.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, 65536)
        while content and (more := os.read(descriptor, 65536)):
            content += more
        return content
    finally:
        os.close(descriptor)
