"""Waits for what another process brings about, without taking the core that it needs: looked at soon at first, and seldomer later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

SOONEST_S = 0.02


def looks(
    within_s: float,
    longest_s: float = 0.2,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Yield whenever it is time to look, for so many seconds and once after them: waits are a tenth of what has gone by.

    Args:
        within_s: seconds after which there is one last look.
        longest_s: seconds between two looks at most.
        clock, sleep: in place of the usual ones.
    """
    began = clock()
    while True:
        passed_s = clock() - began
        yield
        if passed_s > within_s:
            return
        sleep(min(max(SOONEST_S, passed_s / 10), longest_s))
