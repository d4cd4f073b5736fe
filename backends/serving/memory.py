"""How much memory a server takes, whatever else runs on the machine beside it."""

from __future__ import annotations

from collections.abc import Iterable

from backends.common.memory import proportional_bytes


def tree_bytes(pids: Iterable[int]) -> int:
    """Return the memory of the processes of one tree: pages of their own, and those of files.

    Their own pages are divided among those of the tree that share them. Pages of files, mostly of libraries, count once, as many as the
    process has that has most: divided by all who map them, as `proportional_bytes` does, they would be fewer when another server runs.
    """
    total = files = 0
    for pid in pids:
        fields = _fields(pid)
        if "Pss_Anon" not in fields:
            # An older kernel, which does not tell them apart.
            total += proportional_bytes([pid])
            continue
        total += fields["Pss_Anon"] + fields["Pss_Shmem"]
        files = max(files, fields["Rss"] - fields["Pss_Anon"] - fields["Pss_Shmem"])
    return total + files


def _fields(pid: int) -> dict[str, int]:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123 (read for each process while requests wait)
            rows = [line.split() for line in file.read().splitlines()[1:]]
    except (OSError, ValueError):
        return {}
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if len(row) == 3}
