"""Peak memory of the full job from its beginning, with what small jobs show to come after the loop. Pure.

The prefix has loaded all data and made steps, so that its own peak y is the full job's but for three things: what the loop still adds,
carried on from the slower of its halves so far (G, with a standard deviation of half of it); what comes after the loop, where small jobs
have their peak, or in phases that it had not come to, as evaluation at an epoch's end; and 4 % that an allocator may differ by. The first
is seen in the peak that progress tells. The second is a straight line in what is read, with the spread that
`benchmarking.forecasting.model.memory` gives to what must still grow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.memory import SPREAD, SPREAD_OF_GROWTH, PeakLine
from benchmarking.forecasting.model.prefix_draws import through

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

_LATER = 0.03
"""Share by which a small job's peak is above that of its loop from which on its peak counts as one after the loop."""


def peak_draws(prefixes: Sequence[Canary], small: Sequence[Canary], line: PeakLine | None, size: int, rng: Generator) -> FloatArray | None:
    """Return draws (size,) of the full job's peak; None where no prefix measured its own.

    Args:
        prefixes: of one configuration.
        small: its completed small jobs.
        line: of their peaks in what is read; None where none was measured.
        size: number of draws.
        rng: generator.
    """
    import numpy as np

    known = [canary for canary in prefixes if canary.rss_bytes]
    if not known:
        return None
    top = max(known, key=lambda canary: canary.rss_bytes or 0.0)
    peak, progress = float(top.rss_bytes or 0.0), top.progress
    grows = progress.peak_left_bytes if progress is not None else 0.0
    drawn = peak + grows * np.maximum(0.0, 1 + 0.5 * rng.standard_normal(size))
    drawn = np.maximum(drawn * (1 + SPREAD * rng.standard_normal(size)), peak * (1 - SPREAD))
    # Processes beside the script's own count in the one and not in the other, in prefixes as in small jobs.
    later = _after_loop(small, max(1.0, peak / progress.peak_bytes) if progress is not None and progress.peak_bytes else 1.0)
    if line is not None and line.slope is not None and (later or _has_unseen_phases(known, small)):
        drawn = np.maximum(drawn, line.draws(size, rng))
    elif later:
        # Of one size nobody knows how much of it grows.
        share, at = max(later)
        after = peak * share * rng.random(size) / at
        drawn = np.maximum(drawn, peak + after * (1 + SPREAD_OF_GROWTH * math.sqrt(math.log(1 / at)) * abs(rng.standard_normal(size))))
    found: FloatArray = drawn
    return found


def causes_of_peak(prefixes: Sequence[Canary], small: Sequence[Canary], line: PeakLine | None) -> dict[str, float]:
    """Return the variance of the full job's peak, in bytes squared, that each cause brings; the arguments are those of `peak_draws`."""
    known = [canary for canary in prefixes if canary.rss_bytes]
    if not known:
        return {}
    top = max(known, key=lambda canary: canary.rss_bytes or 0.0)
    peak, grows = float(top.rss_bytes or 0.0), 0.0 if top.progress is None else top.progress.peak_left_bytes
    found = {"a peak is never told better": (SPREAD * (peak + grows)) ** 2, "what the loop still takes": (0.5 * grows) ** 2}
    if line is not None and line.slope is not None and line.top < 1 and (_after_loop(small, 1.0) or _has_unseen_phases(known, small)):
        spread = SPREAD_OF_GROWTH * math.sqrt(math.log(1 / line.top)) * line.slope * (1 - line.top)
        found["memory after the loop, or in phases that it had not come to"] = spread**2
    return found


def _has_unseen_phases(prefixes: Sequence[Canary], small: Sequence[Canary]) -> bool:
    """Return whether small jobs timed a phase that no prefix had come to."""
    seen, all_of = (
        {name for one in runs if one.progress is not None for name, seconds in one.progress.phases if seconds > 0}
        for runs in (prefixes, through(small))
    )
    return bool(all_of - seen)


def _after_loop(small: Sequence[Canary], beside: float) -> list[tuple[float, float]]:
    """Return (by which share its peak is above that of its loop, fraction) of each small job that had its peak after the loop."""
    found = []
    for canary in through(small):
        until = canary.progress.peak_bytes if canary.progress is not None else 0.0
        if canary.rss_bytes and until and canary.rss_bytes > until * beside * (1 + _LATER):
            found.append((canary.rss_bytes / until / beside - 1, canary.fraction))
    return found
