"""Whether objects that are kept whole while they are read fit into this machine's memory. Pure, but for the question how much is left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .stores.base import StoredName


def memory_problem(entries: Sequence[StoredName], readers: int, available_bytes: int | None) -> str | None:
    """Return why the largest objects cannot be read at once, or None where they can, or nobody knows.

    Args:
        entries: of the channel.
        readers: objects that are read at once: loader workers times their threads.
        available_bytes: of memory; None where that is not known.
    """
    largest = max(entries, key=lambda one: one.size, default=None)
    if largest is None or available_bytes is None:
        return None
    at_once = sum(sorted((max(one.size, 0) for one in entries), reverse=True)[:readers])
    if at_once <= available_bytes:
        return None
    beside = f", and {readers} of its kind are read at once" if readers > 1 else ""
    return (
        f"{largest.name} has {largest.size / 1e9:.2f} GB{beside}: the S3 connector keeps what it reads in one go in memory, and "
        f"{available_bytes / 1e9:.2f} GB are left; use s3_reader range_based, fewer loader_workers, or smaller shards"
    )


def available_bytes(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return the bytes of memory that this machine can give without swapping; None where it does not tell."""
    try:
        for line in meminfo.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None
