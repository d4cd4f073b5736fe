"""What the front and its server have taken and done, as its status says it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

_SHARED = 2


@dataclass
class Counters:
    """Counted since the front began.

    Args:
        hits: requests whose model was there.
        cold: requests that waited for a load.
        loads: models loaded.
        evictions: models unloaded for others.
        failed_loads: loads that failed.
        restarts: times that the server was started again after it had died.
    """

    hits: int = 0
    cold: int = 0
    loads: int = 0
    evictions: int = 0
    failed_loads: int = 0
    restarts: int = 0


@dataclass
class Leak:
    """What unloaded models leave in a server.

    Args:
        unloads: that were seen.
        first_bytes: left after the second of them, until when a server may load what all later ones share.
        last_bytes: left after the last.
    """

    unloads: int = 0
    first_bytes: int = 0
    last_bytes: int = 0

    def unloaded(self, residual_bytes: int) -> None:
        """Note what the server takes after an unload, beyond its base and what its models take."""
        self.unloads += 1
        self.last_bytes = residual_bytes
        if self.unloads <= _SHARED:
            self.first_bytes = residual_bytes

    @property
    def left_bytes(self) -> int:
        """What has been added since the second unload; 0 where nothing has."""
        return max(0, self.last_bytes - self.first_bytes)


def cpu_s(pids: Iterable[int]) -> float:
    """Return the processor seconds that processes have taken, with those of their children that have ended and were waited for."""
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (read for many processes while requests wait)
                fields = file.read().rsplit(b")", 1)[1].split()
        except (OSError, IndexError):
            continue
        # Fields 14 to 17 of proc(5): utime, stime, cutime, cstime; the list begins with the third.
        ticks += sum(int(number) for number in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")
