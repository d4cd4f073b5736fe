"""Peak memory of the full job: a straight line in what was measured; GPU memory by batch size, not by data. Pure.

A peak of resident memory repeats to 0.2 %, so that what is uncertain is not the line but whether it goes on: allocators take memory in
steps, copies appear and go, caches fill. With y the peak at the largest size x that was measured, b the slope of the line, and
G = b (1 - x) what must still grow up to the full job, the peak there is normal around y + G, never below y, with the standard deviation

    0.04 (y + G) + 0.35 sqrt(ln(1 / x)) G

which real jobs gave: straight lines from 1 to 3 % of the data are off by 8 % at the median, and 95 % bounds of 1.9 times the median hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.columns import sizes_in_bytes
from benchmarking.forecasting.model.growth_prior import GrowthPrior
from benchmarking.forecasting.model.power_law import Growth, fit
from benchmarking.forecasting.model.unseen_terms import with_hidden_square, with_hidden_term

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

SPREAD, SPREAD_OF_GROWTH = 0.04, 0.35
"""Standard deviation of the full job's peak: as a share of it, and of what must still grow for each root of ln(1 / x)."""

_HARDLY, _NOISE_FLOOR = 0.03, 0.004
"""A peak that rose by less than the first is flat; means of repeats are known to the second."""

_HIDDEN, _HIDDEN_DECADES = 0.15, 4.0
"""A flat peak hides, with probability `_HIDDEN`, a part within so many decades below it that grows with the data."""

_LET_GO = 0.15
"""Share of the peak of the imports that is free again afterwards, and under which a part that grows with the square may lie."""

_SQUARE: Mapping[str, float] = {"kernel": 0.6, "neighbours": 0.4, "gaussian_process": 0.9}
"""Probability, by family, of a part that grows with the square of the data, such as a matrix of distances; none where not named."""

# GPU memory is constant nine times of ten: it is the batch that fills it.
_GPU = ((0.9, 0.0, 0.01), (0.1, 1.0, 0.05))

GPU_BLOCK_BYTES = 2 * 1024**2
"""PyTorch's caching allocator takes memory in blocks of 2 MiB (its CUDA semantics notes)."""


@dataclass(frozen=True)
class PeakLine:
    """The straight line of peak memory in what is read.

    Args:
        x: (n,) measured sizes; the full size is 1.
        peaks: (n,) bytes.
        slope: bytes that the full size would add, never negative; None where one size was measured, so that nobody knows.
        family: of the algorithm.
    """

    x: FloatArray
    peaks: FloatArray
    slope: float | None
    family: str

    @property
    def top(self) -> float:
        """The largest measured size."""
        return float(self.x.max())

    @property
    def levels(self) -> tuple[FloatArray, FloatArray]:
        """Sizes (m,), ascending, and the mean peaks (m,) of the runs at each."""
        import numpy as np

        sizes = np.unique(np.round(self.x, 6))
        return sizes, np.array([float(self.peaks[np.abs(self.x - size) < 0.1 * size].mean()) for size in sizes])

    def draws(self, size: int, rng: Generator) -> FloatArray:
        """Return draws (size,) of the full job's peak, with what the peak of the imports can hide.

        A peak is a maximum: below it, what grows with the data leaves no trace, and may overtake it by the full job.
        """
        import numpy as np

        levels, means = self.levels
        top, peak = self.top, float(means[-1])
        if top >= 0.999:
            return peak * (1 + SPREAD * rng.standard_normal(size))
        # Of one size nobody knows how much of it grows: anything between none and all of it.
        slope = peak / top * rng.random(size) if self.slope is None else np.full(size, self.slope)
        grows = slope * (1 - top)
        sd = SPREAD * (peak + grows) + SPREAD_OF_GROWTH * math.sqrt(math.log(1 / top)) * grows
        drawn = np.maximum(peak + grows + sd * rng.standard_normal(size), peak * (1 - SPREAD))
        chance = _SQUARE.get(self.family, 0.0)
        # A flat peak is that of the imports: what grows may lie anywhere below it, a square also below what the imports have let go of.
        if self.slope is None or peak < means[0] * (1 + _HARDLY):
            drawn = with_hidden_term(drawn, peak, top, rng, chance=_HIDDEN, squares=0.0, decades=_HIDDEN_DECADES)
            if chance:
                drawn = with_hidden_term(drawn, _LET_GO * peak, top, rng, chance=chance, squares=1.0, decades=_HIDDEN_DECADES)
            return drawn
        # On a rising line a square may hide within the noise.
        if chance:
            noise_sd = _NOISE_FLOOR * peak
            return with_hidden_square(drawn, levels, means, noise_sd, rng, chance=chance, decades=_HIDDEN_DECADES)
        return drawn


def peak_line(canaries: Sequence[Canary], at: float) -> PeakLine | None:
    """Return the line of peak RSS in what is read; None where it was not measured.

    Args:
        canaries: completed runs of one configuration.
        at: nominal fraction that is forecast.
    """
    import numpy as np

    used = [canary for canary in canaries if canary.rss_bytes]
    if not used:
        return None
    x, y = sizes_in_bytes(used, at), np.array([canary.rss_bytes for canary in used], dtype=float)
    line = PeakLine(x, y, None, used[0].family)
    levels, means = line.levels
    if len(levels) < 2:
        return line
    # Least squares over all runs; where the data have only just come out from under the imports, the last piece is the one that goes on.
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    last = float((means[-1] - means[-2]) / (levels[-1] - levels[-2]))
    return PeakLine(x, y, max(slope, last, 0.0), used[0].family)


def gpu_growth(canaries: Sequence[Canary], at: float) -> Growth | None:
    """Return the law of peak GPU memory: constant at the job's batch size, unless the measurements grow; None where not measured."""
    used = [canary for canary in canaries if canary.gpu_bytes]
    if not used:
        return None
    prior = GrowthPrior(_GPU, free=0.1, offset="most", noise_sd=0.01, drift=0.0)
    return _fit(used, at, "gpu_bytes", prior)


def in_blocks(gpu_bytes: FloatArray) -> FloatArray:
    """Return draws of GPU memory rounded up to whole blocks of the allocator."""
    import numpy as np

    return np.ceil(gpu_bytes / GPU_BLOCK_BYTES) * GPU_BLOCK_BYTES


def _fit(canaries: Sequence[Canary], at: float, column: str, prior: GrowthPrior) -> Growth:
    import numpy as np

    y = np.array([getattr(canary, column) for canary in canaries], dtype=float)
    return fit(sizes_in_bytes(canaries, at), y, prior)
