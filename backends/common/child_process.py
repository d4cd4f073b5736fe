"""Starts a job's process and notices its end without asking again and again."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast


class ProcessHandle(Protocol):
    """What a job's first process is known by: its number, and its exit code once it is reaped."""

    pid: int
    returncode: int | None


@dataclass
class ForkedProcess:
    """A process that was forked for this one and not started by it."""

    pid: int
    returncode: int | None = None


@dataclass
class Child:
    """A job's first process, which leads a session of its own.

    Args:
        process: a child of this process.
        output: descriptor from which its output and errors are read, not blocking.
        ended: descriptor that becomes readable when the process has ended.
    """

    process: ProcessHandle
    output: int
    ended: int
    usage: resource.struct_rusage | None = None

    @property
    def pid(self) -> int:
        """Its process number, which is also its session's and its group's."""
        return self.process.pid

    def has_ended(self) -> bool:
        """Return whether the process has ended, without reaping it."""
        return bool(select.select([self.ended], [], [], 0.0)[0])

    def reap(self) -> int | None:
        """Wait for the end and return the exit code, negative for a signal; None where another part of this program took it.

        From then on the process's number may be used again.
        """
        if self.process.returncode is None:
            try:
                _, status, self.usage = os.wait4(self.process.pid, 0)
            except ChildProcessError:
                return None
            self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode

    def cpu_s(self) -> float | None:
        """Return the processor seconds of the process and of those that it waited for, once it is reaped; None where not known."""
        return self.usage.ru_utime + self.usage.ru_stime if self.usage else None

    def peak_bytes(self) -> int:
        """Return the largest resident memory of one process, once it is reaped; 0 where not known."""
        if self.usage is None or sys.platform == "darwin":
            return 0
        # A fork of the warm worker has what was imported there in its memory, as if it had imported it itself.
        if isinstance(self.process, ForkedProcess):
            return self.usage.ru_maxrss * 1024
        # A new process starts out with the peak of the one that forked it, so only what is above that is its own.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return self.usage.ru_maxrss * 1024 if self.usage.ru_maxrss > own else 0


def spawn(command: Sequence[str], folder: Path, environment: Mapping[str, str], cores: Sequence[int]) -> Child:
    """Start a command in a new session, on the given cores from its first instruction.

    Raises:
        OSError: the system refused.
    """
    # The pipe's writing end is closed here in any case: the reader sees its end only when no process has it open.
    read_end, write_end = os.pipe()
    try:
        with affinity(cores):
            popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=write_end,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    os.set_blocking(read_end, False)
    return Child(cast(ProcessHandle, popen), read_end, end_descriptor(cast(ProcessHandle, popen)))


@contextlib.contextmanager
def affinity(cores: Sequence[int]) -> Iterator[None]:
    """Let this thread, and so what it starts, run on these cores alone for a while; where the system cannot, do nothing."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    # Set here and inherited, as a child that set its own would run its first instructions elsewhere.
    try:
        os.sched_setaffinity(0, cores)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, before)


def end_descriptor(process: ProcessHandle, pidfd: bool = hasattr(os, "pidfd_open")) -> int:
    """Return a descriptor that becomes readable when the process has ended: a pidfd, else a pipe that a waiting thread closes."""
    if pidfd:
        return os.pidfd_open(process.pid)
    # Without a pidfd a thread waits, but leaves the child unreaped (WNOWAIT) where it can, as its usage is still to be read.
    read_end, write_end = os.pipe()

    def wait() -> None:
        if isinstance(process, subprocess.Popen):
            process.wait()
        else:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        os.close(write_end)

    threading.Thread(target=wait, name=f"wait-{process.pid}", daemon=True).start()
    return read_end


def wait_for_end(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    """Wait for a process that was told to end, and reap it; return whether it ended in time.

    Args:
        process: a child of this process.
        timeout_s: most seconds.
    """
    # `Popen.wait` with a time-out asks again and again, ever less often, and so takes up to twice as long as the process.
    if process.poll() is None and hasattr(os, "pidfd_open"):
        descriptor = os.pidfd_open(process.pid)
        try:
            select.select([descriptor], [], [], timeout_s)
        finally:
            os.close(descriptor)
        return process.poll() is not None
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def allowed_cores() -> tuple[int, ...]:
    """Return the cores that this process may use, in ascending order."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))
