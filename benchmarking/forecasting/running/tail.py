"""What comes after the loop of a running job - evaluation, checkpoint, saving - by the finished jobs of its experiment. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace

from benchmarking.controller.finished_loops import FinishedLoop
from benchmarking.forecasting.running.projection import Projection

_USUAL = 0.25
"""By how much what comes after the loop differs from job to job where few were seen, as a share (one standard deviation)."""

_WEIGHT = 3.0
"""Jobs that the usual difference counts for."""

_Z80, _Z90 = 1.282, 1.645


@dataclass(frozen=True)
class Tail:
    """What comes after the loop: seconds and their standard deviation for one more job, from so many finished ones."""

    mean_s: float
    sd_s: float
    jobs: int


def tail_of(loops: Iterable[FinishedLoop], level: float | None) -> Tail | None:
    """Return what comes after the loop of jobs of a level; None where none has finished.

    The variance is that of a normal sample of which a usual one is known: (3 (0.25 m)^2 + sum (t - m)^2) / (3 + n), and 1 / n of it for
    the mean (Gelman et al., Bayesian Data Analysis, 2013, 3.3).

    Args:
        loops: of finished jobs.
        level: of the job that runs; None for the full job.
    """
    seconds = [one.tail_s for one in loops if one.level == level]
    if not seconds:
        return None
    mean = statistics.fmean(seconds)
    spread = math.fsum((one - mean) ** 2 for one in seconds)
    variance = (_WEIGHT * (_USUAL * mean) ** 2 + spread) / (_WEIGHT + len(seconds))
    return Tail(mean, math.sqrt(variance * (1 + 1 / len(seconds))), len(seconds))


def with_tail(loop: Projection, tail: Tail) -> Projection:
    """Return when a job ends whose loop is forecast; both are taken to be independent."""
    median_s = loop.median_s + tail.mean_s

    def end(loop_s: float, quantile: float) -> float:
        # Never before its loop may be through.
        away_s = math.copysign(math.hypot(loop_s - loop.median_s, quantile * tail.sd_s), quantile)
        return max(median_s + away_s, min(loop_s, loop.median_s))

    return replace(
        loop,
        median_s=median_s,
        lo80_s=end(loop.lo80_s, -_Z80),
        hi80_s=end(loop.hi80_s, _Z80),
        lo90_s=end(loop.lo90_s, -_Z90),
        hi90_s=end(loop.hi90_s, _Z90),
    )
