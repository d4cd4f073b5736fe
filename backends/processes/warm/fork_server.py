"""The warm worker's side: do the imports once, then fork a job for each request. Standard library only.

Worker -> waiting copy -> job: the copy is forked before it is needed, and its end makes the job a child of the controller, which has
made itself the parent of orphans. So the controller waits for a job as for any child of its own.
"""

from __future__ import annotations

import gc
import os
import sys
import time

from backends.processes.warm import job_process, noted_facts, safety, script_code, thread_pools, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping, Sequence
    from typing import Any

_NO_MORE = 3


def serve(connection: socket) -> tuple[str, str, script_code.ScriptCode] | None:
    """Serve requests until the controller has gone, then return None.

    In the process of each job return its script and its module, of which one is empty, and the code of the first job's script.
    """
    received = wire.receive(connection)
    if received is None:
        return None
    order = received[0]
    started_with = dict(os.environ)
    refused, module = _prepare(order, connection.fileno())
    # Forks have their environment where this process has its own, so that the place is looked for once.
    address = None if refused else _place_of(order["placeholder"])
    if not refused and address is None:
        refused = "importing hid the environment that others see"
    changed = job_process.changes(started_with, os.environ)
    loaded = thread_pools.ThreadPools(started_with)
    noted = noted_facts.NotedFacts()
    code = script_code.ScriptCode("" if refused else order["script"])
    # A collection in a job would touch, and so copy, every page of what was imported; at its end that took most of a second.
    gc.collect()
    gc.freeze()
    wire.send(connection, {"refused": refused, "module": module})
    while not refused:
        # Back on all cores: the imports ran on those of the first job.
        os.sched_setaffinity(0, order["cores"])
        read_end, write_end = os.pipe()
        copy = os.fork()
        if copy == 0:
            os.close(read_end)
            request = _await_request(connection, write_end, address or 0, len(order["placeholder"]))
            try:
                job_process.take_over(*request, changed, loaded, noted)
            finally:
                connection.close()
            return str(request[0]["script"]), str(request[0]["module"]), code
        os.close(write_end)
        # The answer ends when both the copy and the job have closed it, so what is read here is whole.
        with open(read_end, "rb") as file:  # noqa: PTH123 (a descriptor)
            said = file.read()
        # Waited for before the controller is told: from the copy's end on the job is an orphan, and so the controller's child.
        _, status = os.waitpid(copy, 0)
        ended = os.waitstatus_to_exitcode(status)
        if ended == _NO_MORE:
            return None
        pid, _, began = said.partition(b" ")
        if pid.isdigit():
            wire.send(connection, {"pid": int(pid), "began_s": float(began)})
        else:
            wire.send(connection, {"refused": said.decode() or "the job's process ended at once"})
        if ended != 0:
            return None  # its request may be unread, and must not become a second job
    return None


def _prepare(order: Mapping[str, Any], control: int) -> tuple[str, str]:
    """Do the imports as the script itself would; return why no job can be forked from this process, and which module is to blame."""
    hidden = safety.shadowed(order["script_folder"], {name.split(".")[0] for name in sys.modules})
    if hidden:
        return hidden, ""
    if _place_of(order["placeholder"]) is None:
        return "its environment cannot be marked", ""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = order["script_folder"]
    # A module that notes what the program is called finds the script, not this file.
    sys.argv[:] = [order["script"] or "-m"]
    known = {0, 1, 2, control}
    for name in order["preload"]:
        try:
            __import__(name)
        except BaseException as error:  # noqa: BLE001 (whatever it is, it is the reason to be told)
            return f"{name} cannot be imported: {type(error).__name__}: {error}", name
        reason = safety.unsafe(known)
        if reason:
            return f"importing {name} {reason}", name
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return "", ""


def _await_request(connection: socket, answer: int, address: int, width: int) -> tuple[dict[str, Any], int]:
    """In the waiting copy: take the next request and return in the job's process; the copy itself ends."""
    try:
        received = wire.receive(connection)
    except OSError:
        received = None
    if received is None:
        os._exit(_NO_MORE)
    request, descriptors = received
    try:  # noqa: SIM105 (contextlib would be one more module in each job)
        os.sched_setaffinity(0, request["cores"])
    except OSError:
        pass  # cores that this machine has not, as those of a job that is tied to none: it runs on all, as it does cold
    try:
        job = os.fork()
    except OSError as error:
        os.write(answer, f"cannot be forked: {error}".encode())
        os._exit(0)
    # The copy ends at once, which makes the job an orphan that the controller adopts.
    if job != 0:
        os._exit(0)
    try:
        os.setsid()
        _mark(address, width, request["mark"])
    except OSError as error:
        os.write(answer, f"cannot be forked: {error}".encode())
        os._exit(0)
    # Only after session and mark are set: from this answer on the controller finds the job by both.
    os.write(answer, f"{os.getpid()} {time.monotonic()!r}".encode())
    os.close(answer)
    return request, descriptors[0]


def _place_of(placeholder: str) -> int | None:
    """Return the address of the mark in the environment that others see of this process; None where it is not to be found."""
    try:
        with open("/proc/self/environ", "rb") as file, open("/proc/self/stat", "rb") as stat:  # noqa: PTH123 (pathlib would be one more module in each job)
            at = file.read().find(placeholder.encode())
            begins = int(stat.read().rsplit(b")", 1)[1].split()[47])
    except (OSError, ValueError, IndexError):
        return None
    return begins + at if at >= 0 and begins > 0 else None


def _mark(address: int, width: int, mark: str) -> None:
    # Others find a job's processes by the environment that they were started with, and a forked process has that of the worker.
    if len(mark) > width:
        raise OSError("its environment cannot be marked")
    with open("/proc/self/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
        memory.seek(address)
        memory.write(mark.ljust(width, "-").encode())


def forget(loaded: Sequence[str]) -> None:
    """Remove our own modules, so that a script that has modules of the same names imports its own."""
    for name in loaded:
        sys.modules.pop(name, None)
