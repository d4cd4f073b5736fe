"""Which small job tells most of what a prefix of the full job leaves open, and whether one is worth it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.forecasting.data.canary import COMPLETED, PREFIX, Canary
from benchmarking.forecasting.model.prefix_draws import has_rest, time_draws
from benchmarking.forecasting.model.prefix_evidence import clock_of_tails, leaves_open, may_do

DRAWS = 1000


def small_rungs(ladder: Sequence[float]) -> list[tuple[float, int]]:
    """Return (level, repeat) of the small jobs beside a prefix, those that tell most first: lowest, next, lowest.

    Args:
        ladder: levels, ascending; empty where a script has no small jobs.
    """
    return [(ladder[0], 0), *[(level, 0) for level in ladder[1:2]], (ladder[0], 1)] if ladder else []


def any_has_rest(group: Sequence[Canary]) -> bool:
    """Return whether a prefix of a configuration told what is left of its job."""
    return any(canary.status == PREFIX and has_rest(canary) for canary in group)


def is_open(group: Sequence[Canary], others: Sequence[Canary]) -> bool:
    """Return whether a small job would tell of a configuration what its prefix does not show.

    Args:
        group: runs of the configuration, its prefix among them.
        others: runs of other configurations of the same code, by whose small jobs it goes as long as it has none of its own.
    """
    import numpy as np

    prefixes = [canary for canary in group if canary.status == PREFIX and has_rest(canary)]
    small = [canary for canary in group if canary.status == COMPLETED]
    # How early a job stops is its configuration's own; what comes after its loop is its code's.
    if may_do(prefixes) is None:
        small = small or [canary for canary in others if canary.status == COMPLETED]
    if any(canary.progress is not None and canary.progress.is_through for canary in prefixes):
        return False  # it ran to its end
    clock = clock_of_tails(small)
    total = time_draws(prefixes, small, DRAWS, np.random.default_rng(0), clock)
    return total is None or leaves_open(prefixes, small, float(np.median(total)), clock)
