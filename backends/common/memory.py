"""How much memory a job's processes use, and how much this machine has."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Files that tell how much memory a container may use, of cgroups version 2 and 1."""


def machine_bytes(limits: Sequence[Path] = CGROUP_LIMITS) -> int:
    """Return the memory of this machine, or of the container that this process runs in where that has less.

    Args:
        limits: files that may hold the container's limit in bytes.
    """
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    # Without a limit version 2 says `max`, and version 1 a number larger than any machine.
    for path in limits:
        try:
            text = path.read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if text.isdigit():
            total = min(total, int(text))
    return total


def kernel_kills() -> int:
    """Return how many processes the kernel has killed for lack of memory since boot; 0 where it does not tell."""
    # Of the whole machine, so that a rise says that somebody was killed, not who: asked only when a job has died of a KILL.
    try:
        found = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def take_first(pid: int, by: int) -> None:
    """Have the kernel take a process, and those that it starts, before others where memory is short.

    Args:
        pid: of the process.
        by: how much sooner than one of which nothing is said, from 0 to 1000. Where the kernel cannot be asked, nothing is done.
    """
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(f"{by}\n", encoding="ascii")


def resident_bytes(pids: Iterable[int]) -> tuple[int, int]:
    """Return the processes' resident memory: the sum of what they have now, and the largest peak of a single one.

    Pages that processes share are counted for each of them, so the sum is an upper bound.
    """
    total = peak = 0
    for pid in pids:
        # The peak is the kernel's own, which misses nothing between two looks; a process that is gone has neither.
        fields = _kilobytes(f"/proc/{pid}/status", (b"VmHWM:", b"VmRSS:"))
        peak = max(peak, fields.get(b"VmHWM:", 0))
        total += fields.get(b"VmRSS:", 0)
    # Together they have had at least what they have now, and what the largest has had alone.
    return total, max(peak, total)


def proportional_bytes(pids: Iterable[int]) -> int:
    """Return the processes' resident memory with shared pages divided among those who share them; dearer than `resident_bytes`."""
    total = 0
    for pid in pids:
        # For this the kernel walks all pages of the process, which takes the longer the more it has.
        fields = _kilobytes(f"/proc/{pid}/smaps_rollup", (b"Pss:",))
        total += fields[b"Pss:"] if b"Pss:" in fields else resident_bytes([pid])[0]
    return total


def _kilobytes(path: str, names: tuple[bytes, ...]) -> dict[bytes, int]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (read several times a second for each process)
            lines = file.read().split(b"\n")
    except OSError:
        return {}
    return {line.split()[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith(names)}
