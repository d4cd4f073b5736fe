"""How many cores this process may use: those of its affinity, and no more than the CPU quota of its container pays for."""

from __future__ import annotations

import math
import platform
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from backends.common.child_process import allowed_cores


def usable_cores() -> tuple[int, ...]:
    """Return the cores on which jobs may be started, in ascending order."""
    return within_quota(allowed_cores(), cpu_quota(), platform.node())


def within_quota(cores: Sequence[int], quota: float | None, host: str) -> tuple[int, ...]:
    """Return as many of the cores as a quota pays for in full, at least one.

    Args:
        cores: of the affinity, in ascending order.
        quota: cores' worth of time that the container gets; None where nothing limits it.
        host: name of the machine or container. Containers of one machine see the same cores, so that each begins at another one.
    """
    if quota is None or quota >= len(cores):
        return tuple(cores)
    count = max(1, math.floor(quota + 1e-9))
    first = zlib.crc32(host.encode()) % len(cores)
    return tuple(sorted([*cores, *cores][first : first + count]))


def cpu_quota(process: Path = Path("/proc/self"), root: Path = Path("/")) -> float | None:
    """Return how many cores' worth of time the control groups of this process get (versions 1 and 2); None where nothing limits it.

    Groups are nested, and the smallest quota on the way up counts. Source: Linux, admin-guide/cgroup-v2 (`cpu.max`) and
    scheduler/sched-bwc (`cpu.cfs_quota_us`, `cpu.cfs_period_us`).

    Args:
        process: its folder in /proc, with `cgroup` and `mountinfo`.
        root: what the mount points are below.
    """
    try:
        groups = (process / "cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
        mounts = (process / "mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    quotas = [quota for folder in _folders(groups, mounts, root) if (quota := _quota_of(folder)) is not None]
    return min(quotas, default=None)


def quota_text(quota: float | None, affinity: int) -> str:
    """Return a sentence about a quota that takes something away; empty where none does.

    Args:
        quota: cores' worth of time; None where nothing limits it.
        affinity: cores that the process may run on.
    """
    if quota is None or quota >= affinity:
        return ""
    if quota < 1:
        return f"CPU quota of this container: {quota:g} of a core, so what runs is throttled, and times and speeds are of the throttling"
    used = math.floor(quota + 1e-9)
    return f"CPU quota of this container: {quota:g} of {affinity} cores, so {used} {'is' if used == 1 else 'are'} used"


def _folders(groups: Sequence[str], mounts: Sequence[str], root: Path) -> Iterator[Path]:
    """Yield the folders of the process's groups that limit CPU time, from its own up to where their file system is mounted."""
    for kind, mounted, point in _cpu_mounts(mounts):
        top = root / point.lstrip("/")
        for group in groups:
            _, controllers, path = group.split(":", 2)
            if (kind == "cgroup2" and controllers == "") or (kind == "cgroup" and "cpu" in controllers.split(",")):
                # A container may be shown a part of the tree only, whose top the paths of its groups begin with or know nothing of.
                inner = path.removeprefix(mounted.rstrip("/")) if path.startswith(mounted) else ""
                parts = [part for part in inner.split("/") if part]
                if ".." not in parts:
                    yield from (top.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1))


def _cpu_mounts(mounts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (type, root within the file system, mount point) of each mounted hierarchy that can limit CPU time."""
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields, described = before.split(" "), after.split(" ")
        if len(fields) < 5 or len(described) < 3:
            continue
        kind = described[0]
        if kind == "cgroup2" or (kind == "cgroup" and "cpu" in described[2].split(",")):
            yield kind, _unescaped(fields[3]), _unescaped(fields[4])


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _quota_of(folder: Path) -> float | None:
    try:
        if (folder / "cpu.max").is_file():
            quota, _, period = (folder / "cpu.max").read_text(encoding="utf-8").strip().partition(" ")
        else:
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text(encoding="utf-8").strip() for name in ("quota", "period"))
        # "max" and -1 say that there is no limit.
        return int(quota) / int(period or 100_000) if int(quota) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
