"""How many steps a job does that may stop early, or runs until it has converged: a law for counts that are not steady. Pure.

Small jobs of the same code show how many they did. Their number n at the share x of the data is log n = a + b log x + e, with a flat prior
of a, b ~ N(0, 0.25^2), as most counts hardly go with the data, and e ~ N(0, s^2); s^2 has a scaled inverse chi-squared prior of 0.15^2 with
two degrees of freedom (Bayesian linear regression: Bishop, Pattern Recognition and Machine Learning, 2006, 3.3). What is drawn at x = 1 is
never less than the beginning of the full job has done, and never more than it may do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import COMPLETED, Canary

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

_SLOPE, _SCATTER, _FREEDOM = 0.25, 0.15, 2


def found_counts(small: Sequence[Canary]) -> list[tuple[float, float]]:
    """Return (fraction, steps) of each small job whose number of steps was open until its own end."""
    return [
        (canary.fraction, canary.progress.found)
        for canary in small
        if canary.status == COMPLETED and canary.progress is not None and canary.progress.found
    ]


def count_draws(counts: Sequence[tuple[float, float]], size: int, rng: Generator) -> FloatArray | None:
    """Return draws (size,) of the number of steps of the full job; None where no small job found one.

    Args:
        counts: (fraction, steps) of small jobs.
        size: number of draws.
        rng: generator.
    """
    import numpy as np

    if not counts:
        return None
    x, y = (np.log(np.array(values, dtype=float)) for values in zip(*counts, strict=True))
    mean_x, mean_y, n = float(x.mean()), float(y.mean()), len(x)
    sxx, sxy = float(((x - mean_x) ** 2).sum()), float(((x - mean_x) * (y - mean_y)).sum())
    # Step 1: the scatter around the line that is fitted with the usual one, and then the line with that scatter.
    usual = sxy / (sxx + (_SCATTER / _SLOPE) ** 2)
    residuals = float(((y - mean_y - usual * (x - mean_x)) ** 2).sum())
    freedom = _FREEDOM + n - 1
    noise = (residuals + _FREEDOM * _SCATTER**2) / freedom
    precision = sxx / noise + 1 / _SLOPE**2
    slope = sxy / noise / precision
    # Step 2: the number at all data, of a new job.
    ahead = -mean_x
    sd = math.sqrt(noise * (1 + 1 / n) + ahead**2 / precision)
    drawn: FloatArray = np.exp(mean_y + slope * ahead + sd * rng.standard_t(freedom, size))
    return drawn


def share_of_rest(done: float, at_most: float, counts: Sequence[tuple[float, float]], size: int, rng: Generator) -> FloatArray:
    """Return draws (size,) of the share that a job does of what it may still do; all of it where no small job tells.

    Args:
        done: steps that are behind it.
        at_most: steps that it may do.
        counts: (fraction, steps) of small jobs.
        size: number of draws.
        rng: generator.
    """
    import numpy as np

    drawn = count_draws(counts, size, rng)
    if drawn is None or at_most <= done:
        return np.ones(size)
    share: FloatArray = (np.clip(drawn, done, at_most) - done) / (at_most - done)
    return share
