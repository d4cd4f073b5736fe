"""Confidence intervals of a mean and of a difference of two means, for the few measurements that studies have. Pure.

Up to four distinct values Student's t (Welch's for two samples), from five on the studentised bootstrap (bootstrap-t; Efron and Tibshirani,
An Introduction to the Bootstrap, 1993, section 12.5): skewed data move its ends apart unequally, which Student's cannot, and it covers at
small samples what the percentile bootstrap does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

_BOOTSTRAP_FROM = 5
"""Distinct values from which on the bootstrap is used: below it has too few different samples."""

_ENUMERATED_TO = 8
"""Values up to which each possible sample is gone through (6,435 of eight), so that the interval is exact and has no seed."""

_DRAWN = 9_999


@dataclass(frozen=True)
class ConfidenceInterval:
    """A confidence interval.

    Args:
        low, high: its ends, in the values' unit.
        how: by which method it was made.
    """

    low: float
    high: float
    how: str

    def excludes(self, value: float) -> bool:
        """Return whether a value lies outside."""
        return not self.low <= value <= self.high

    def is_within(self, bound: float) -> bool:
        """Return whether all of it is at most so far from zero."""
        return -bound <= self.low and self.high <= bound

    def within(self, possible: tuple[float, float]) -> ConfidenceInterval:
        """Return what of it is possible, where the truth is known to lie in a range."""
        return ConfidenceInterval(max(self.low, possible[0]), min(self.high, possible[1]), self.how)


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> ConfidenceInterval | None:
    """Return the interval of a mean; None for fewer than two values.

    Args:
        values: (n,) independent measurements, finite.
        confidence: share of such intervals that hold the mean.
    """
    return mean_intervals([values], confidence)[0]


def mean_intervals(samples: Sequence[Sequence[float]], confidence: float = 0.95) -> list[ConfidenceInterval | None]:
    """Return the interval of the mean of each sample, as `mean_interval` does of one; many of one size take little longer than one.

    Args:
        samples: (n_samples,) of any sizes.
        confidence: as there.
    """
    together: dict[int, list[int]] = {}
    for number, values in enumerate(samples):
        if len(set(values)) >= _BOOTSTRAP_FROM:
            together.setdefault(len(values), []).append(number)
    found: dict[int, ConfidenceInterval | None] = {}
    for numbers in together.values():
        found |= zip(numbers, _bootstrap([samples[number] for number in numbers], confidence), strict=True)
    return [found.get(number) or _student(values, confidence) for number, values in enumerate(samples)]


def _student(values: Sequence[float], confidence: float) -> ConfidenceInterval | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    half = student_quantile(1 - (1 - confidence) / 2, len(values) - 1) * standard_deviation(values) / math.sqrt(len(values))
    return ConfidenceInterval(mean - half, mean + half, "Student's t")


def difference_interval(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> ConfidenceInterval | None:
    """Return the interval of the mean of the first minus that of the second; None where one of them has fewer than two values.

    Args:
        first: (n,) independent measurements, finite.
        second: (m,) likewise; the two do not belong together in pairs.
        confidence: share of such intervals that hold the difference.
    """
    if min(len(first), len(second)) < 2:
        return None
    if min(len(set(first)), len(set(second))) >= _BOOTSTRAP_FROM:
        found = _bootstrap_of_two(first, second, confidence)
        if found is not None:
            return found
    # Welch 1947: each sample keeps its own variance; the degrees of freedom are Satterthwaite's.
    variances = [standard_deviation(values) ** 2 / len(values) for values in (first, second)]
    error = math.sqrt(sum(variances))
    centre = math.fsum(first) / len(first) - math.fsum(second) / len(second)
    if error == 0.0:
        return ConfidenceInterval(centre, centre, "Welch's t")
    freedom = sum(variances) ** 2 / sum(
        variance**2 / (len(values) - 1) for variance, values in zip(variances, (first, second), strict=True)
    )
    half = student_quantile(1 - (1 - confidence) / 2, freedom) * error
    return ConfidenceInterval(centre - half, centre + half, "Welch's t")


def standard_deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a sample (n - 1 in the denominator); 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _bootstrap(samples: Sequence[Sequence[float]], confidence: float) -> list[ConfidenceInterval | None]:
    """Return the interval of each of (n_samples,) samples of one size; None where it has no finite end."""
    import numpy as np

    data = np.asarray(samples, dtype=np.float64).T
    n = len(data)
    counts, weights = _all_samples(n) if n <= _ENUMERATED_TO else (_drawn_samples(n), np.full(_DRAWN, 1 / _DRAWN))
    centres, spreads = data.mean(axis=0), data.std(axis=0, ddof=1) / math.sqrt(n)
    # Step 1: of each resample its mean, and that mean's own standard error.
    shifted = data - centres
    shifts = counts @ shifted / n
    errors = np.sqrt(np.maximum(counts @ shifted**2 / n - shifts**2, 0.0) / (n - 1))
    found: list[ConfidenceInterval | None] = []
    for mean, error, shift, own in zip(centres.tolist(), spreads.tolist(), shifts.T, errors.T, strict=True):
        # Step 2: how far it is off, in units of its own error.
        ratios = _ratios(shift, own)
        # Step 3: the quantiles of these take the place of Student's; they change sides, as the sample stands to the mean
        # as the mean to truth.
        low, high = _quantiles(ratios, weights, confidence)
        is_finite = math.isfinite(low) and math.isfinite(high)
        found.append(ConfidenceInterval(mean - high * error, mean - low * error, "studentised bootstrap") if is_finite else None)
    return found


def _bootstrap_of_two(first: Sequence[float], second: Sequence[float], confidence: float) -> ConfidenceInterval | None:
    import numpy as np

    centre, variance = 0.0, 0.0
    shift, spread = np.zeros(_DRAWN), np.zeros(_DRAWN)
    for sign, values, seed in ((1, first, 0), (-1, second, 1)):
        data = np.asarray(values, dtype=np.float64)
        n, mean = len(data), float(data.mean())
        counts = _drawn_samples(n, seed)
        means = counts @ data / n
        centre += sign * mean
        variance += float(data.var(ddof=1)) / n
        shift += sign * (means - mean)
        spread += np.maximum(counts @ (data - mean) ** 2 / n - (means - mean) ** 2, 0.0) / (n - 1)
    low, high = _quantiles(_ratios(shift, np.sqrt(spread)), np.full(_DRAWN, 1 / _DRAWN), confidence)
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    error = math.sqrt(variance)
    return ConfidenceInterval(centre - high * error, centre - low * error, "studentised bootstrap")


def _ratios(shifts: FloatArray, errors: FloatArray) -> FloatArray:
    """Return shifts in units of their errors; a sample of one value alone has no error and is infinitely far off, unless it is not off."""
    import numpy as np

    # Rounding leaves an error near 1e-9 where there is none.
    none = errors <= 1e-9 * errors.max(initial=0.0)
    ratios: FloatArray = np.divide(shifts, errors, out=np.where(shifts == 0, 0.0, np.copysign(np.inf, shifts)), where=~none)
    return ratios


def _quantiles(values: FloatArray, weights: FloatArray, confidence: float) -> tuple[float, float]:
    import numpy as np

    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    tail = (1 - confidence) / 2
    low = np.searchsorted(reached, tail)
    high = min(int(np.searchsorted(reached, 1 - tail)), len(values) - 1)
    return float(values[order[low]]), float(values[order[high]])


@cache
def _all_samples(n: int) -> tuple[FloatArray, FloatArray]:
    """Return every sample with replacement of n values as counts (n_samples, n), and how probable each is (n_samples,)."""
    import numpy as np

    rows: list[tuple[int, ...]] = [()]
    for _ in range(n - 1):
        rows = [(*row, count) for row in rows for count in range(n - sum(row) + 1)]
    rows = [(*row, n - sum(row)) for row in rows]
    probable = [math.factorial(n) / math.prod(map(math.factorial, row)) / n**n for row in rows]
    return np.asarray(rows, dtype=np.float64), np.asarray(probable)


@cache
def _drawn_samples(n: int, seed: int = 0) -> FloatArray:
    """Return samples with replacement of n values, as counts (9,999, n): the same ones each time, so that an answer can be had again."""
    import numpy as np

    drawn = np.random.default_rng(seed).integers(0, n, size=(_DRAWN, n), dtype=np.int32)
    # Each sample counts in a row of its own.
    drawn += np.arange(0, _DRAWN * n, n, dtype=np.int32)[:, None]
    # As floating-point numbers, since each use multiplies them with such.
    return np.bincount(drawn.ravel(), minlength=_DRAWN * n).reshape(_DRAWN, n).astype(np.float64)


def student_quantile(probability: float, freedom: float) -> float:
    """Return the value that Student's t of so many degrees of freedom is below with a probability."""
    from scipy.special import stdtrit  # scipy.stats would cost a second

    return float(stdtrit(freedom, probability))
