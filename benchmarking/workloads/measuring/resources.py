"""What the processes of a trial use, and what else the machine does meanwhile, by what Linux tells of them. Standard library only."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DISTURBED_CORES = 0.1
"""Cores of other load beside which a measurement is disturbed."""


@dataclass(frozen=True)
class Snapshot:
    """Counters at one moment; what the system does not tell is None.

    Args:
        at_s: monotonic seconds.
        main_cpu_s, workers_cpu_s: processor seconds of this process and of its descendants so far.
        main_rss_bytes, workers_rss_bytes: memory now; pages that processes share count for each.
        device_read_bytes: that a device gave these processes.
        server_cpu_s, server_read_bytes: likewise of the object store on this machine; None where there is none.
        machine_busy_s: processor seconds that the whole machine spent on anything, steal included.
        pressure_s: seconds in which some task waited, by resource (`cpu`, `io`, `memory`).
    """

    at_s: float
    main_cpu_s: float
    workers_cpu_s: float
    main_rss_bytes: int
    workers_rss_bytes: int
    device_read_bytes: int | None
    server_cpu_s: float | None
    server_read_bytes: int | None
    machine_busy_s: float | None
    pressure_s: Mapping[str, float]


def snapshot(pid: int | None = None, server_pid: int = 0, root: Path = Path("/proc")) -> Snapshot:
    """Return the counters of a process with its descendants, and of the machine.

    Args:
        pid: of the process; None for this one.
        server_pid: of an object store that runs on this machine for the trial; 0 for none.
        root: where the kernel tells; another for tests.
    """
    main = os.getpid() if pid is None else pid
    tree = _tree(main, root)
    own = [_usage(one, root, with_ended=one == main) for one in tree]
    others = own[1:]
    # Of the main process's ended children the kernel keeps the processor time with their parent's: it is the workers'.
    main_cpu_s, ended_cpu_s, main_rss, main_read = own[0]
    server = _usage(server_pid, root, with_ended=True) if server_pid and server_pid not in tree else None
    return Snapshot(
        time.monotonic(),
        main_cpu_s,
        ended_cpu_s + sum(one[0] for one in others),
        main_rss,
        sum(one[2] for one in others),
        None if main_read is None else main_read + sum(one[3] or 0 for one in others),
        None if server is None else server[0],
        None if server is None else server[3],
        _busy_s(root),
        _pressure(root),
    )


def difference(before: Snapshot, after: Snapshot, samples: int, size_bytes: int) -> dict[str, float]:
    """Return what was used between two moments, by name; what the system does not tell is absent.

    Args:
        before: the first moment.
        after: the second one.
        samples: loaded between them.
        size_bytes: of their contents.
    """
    main_cpu_s = max(after.main_cpu_s - before.main_cpu_s, 0.0)
    workers_cpu_s = max(after.workers_cpu_s - before.workers_cpu_s, 0.0)
    found = {
        "main_cpu_s_per_sample": main_cpu_s / max(samples, 1),
        "workers_cpu_s_per_sample": workers_cpu_s / max(samples, 1),
        "cpu_s_per_gb": (main_cpu_s + workers_cpu_s) / max(size_bytes, 1) * 1e9,
        "main_rss_bytes": float(after.main_rss_bytes),
        "workers_rss_bytes": float(after.workers_rss_bytes),
    }
    if after.server_cpu_s is not None and before.server_cpu_s is not None:
        found["server_cpu_s_per_sample"] = max(after.server_cpu_s - before.server_cpu_s, 0.0) / max(samples, 1)
    return found | other_load(before, after)


def other_load(before: Snapshot, after: Snapshot) -> dict[str, float]:
    """Return what devices gave these processes between two moments, and what else the machine did, by name.

    Args:
        before: the first moment.
        after: the second one.
    """
    seconds = max(after.at_s - before.at_s, 1e-9)
    own_s = sum(
        max((late or 0.0) - (early or 0.0), 0.0)
        for early, late in (
            (before.main_cpu_s, after.main_cpu_s), (before.workers_cpu_s, after.workers_cpu_s), (before.server_cpu_s, after.server_cpu_s)
        )
        if early is not None and late is not None
    )  # fmt: skip
    found: dict[str, float] = {}
    read = [
        (late or 0) - (early or 0)
        for early, late in ((before.device_read_bytes, after.device_read_bytes), (before.server_read_bytes, after.server_read_bytes))
        if early is not None and late is not None
    ]
    if read:
        found["device_read_bytes"] = float(max(sum(read), 0))
    if before.machine_busy_s is not None and after.machine_busy_s is not None:
        busy_s = after.machine_busy_s - before.machine_busy_s
        found["foreign_cpu_cores"] = max(busy_s - own_s, 0.0) / seconds
    for name, since_s in after.pressure_s.items():
        found[f"{name}_pressure"] = max(since_s - before.pressure_s.get(name, since_s), 0.0) / seconds
    return found


def is_disturbed(foreign_cpu_cores: float | None) -> bool | None:
    """Return whether so many cores of other load spoil a measurement; None where they are not known."""
    return None if foreign_cpu_cores is None else foreign_cpu_cores > DISTURBED_CORES


def _tree(pid: int, root: Path) -> list[int]:
    found = [pid]
    for one in found:
        for children in (root / str(one) / "task").glob("*/children"):
            found += map(int, _text(children).split())
    return found


def _usage(pid: int, root: Path, *, with_ended: bool) -> tuple[float, float, int, int | None]:
    """Return processor seconds of a process, of its ended children, its memory and what devices gave it; zeros where it has ended."""
    fields = _text(root / str(pid) / "stat").rpartition(")")[2].split()
    if len(fields) < 22:
        return 0.0, 0.0, 0, None
    ticks_per_s, page_bytes = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    user, system, ended_user, ended_system = map(int, fields[11:15])
    read = next((int(line[11:]) for line in _text(root / str(pid) / "io").splitlines() if line.startswith("read_bytes:")), None)
    ended_s = (ended_user + ended_system) / ticks_per_s if with_ended else 0.0
    return (user + system) / ticks_per_s, ended_s, int(fields[21]) * page_bytes, read


def _busy_s(root: Path) -> float | None:
    fields = next(iter(_text(root / "stat").splitlines()), "").split()
    if len(fields) < 9 or fields[0] != "cpu":
        return None
    # user, nice, system, (idle, iowait,) irq, softirq, steal; guests are in user already.
    return sum(int(fields[at]) for at in (1, 2, 3, 6, 7, 8)) / os.sysconf("SC_CLK_TCK")


def _pressure(root: Path) -> dict[str, float]:
    found = {}
    for name in ("cpu", "io", "memory"):
        first = next(iter(_text(root / "pressure" / name).splitlines()), "")
        total = first.rpartition("total=")[2]
        if first.startswith("some ") and total.isdigit():
            found[name] = int(total) / 1e6
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
