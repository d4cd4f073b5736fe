"""What a job's process leaves in its folder, so that the next controller can end it and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backends.common import process_tree

_NAME = "process.json"
COMMAND_FILE = "command"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIMEOUT_S = 5.0


class ProcessRecords:
    """Writes traces, and ends what earlier controllers left. A trace tells a process from a later one that got its number."""

    def __init__(self) -> None:
        self._boot_id = _boot_id()

    def write(self, folder: Path, pid: int, mark: str, start_ticks: int) -> None:
        """Write down a job's first process, which started so many ticks after boot."""
        trace = {"pid": pid, "mark": mark, "started_ticks": [start_ticks, start_ticks], "boot_id": self._boot_id}
        with contextlib.suppress(OSError):
            # Between two jobs, so in the cheapest way.
            descriptor = os.open(f"{folder}/{_NAME}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            try:
                os.write(descriptor, json.dumps(trace).encode())
            finally:
                os.close(descriptor)

    def write_command(self, folder: Path, line: str) -> None:
        """Write down how the job in a folder can be run again by hand."""
        with contextlib.suppress(OSError):
            descriptor = os.open(f"{folder}/{COMMAND_FILE}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, f"{line}\n".encode())
            finally:
                os.close(descriptor)

    def kill_leftovers(self, folders: Sequence[Path]) -> None:
        """Kill what still runs of the jobs in these folders, and wait a moment for it to be gone."""
        found = [trace for folder in folders if (trace := self._read(folder)) is not None]
        process_tree.kill_until_gone(lambda: [process for trace in found for process in _processes(trace)], _TIMEOUT_S)

    def _read(self, folder: Path) -> dict[str, Any] | None:
        try:
            trace = json.loads((folder / _NAME).read_text(encoding="utf-8"))
            first, last = trace["started_ticks"]
            # A short mark would match strangers, and after a boot all numbers mean other processes.
            known = all(isinstance(number, int) for number in (trace["pid"], first, last)) and len(trace["mark"]) > 16
            return trace if known and trace["boot_id"] == self._boot_id else None
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _processes(trace: dict[str, Any]) -> list[process_tree.Process]:
    leader = process_tree.read_process(trace["pid"])
    first, last = trace["started_ticks"]
    # The session counts only where its leader is the very process that was started, not a later one with its number.
    same = leader is not None and first <= leader.start_ticks <= last
    return process_tree.find(trace["mark"].encode(), {trace["pid"]} if same else ())


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text(encoding="utf-8").strip()
    except OSError:
        return os.uname().nodename
