"""Peak memory of the full job: a base that is always there and what grows with the data; GPU memory by batch size, not by data. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.columns import sizes_in_bytes
from benchmarking.forecasting.model.growth_prior import GrowthPrior
from benchmarking.forecasting.model.power_law import Growth, fit
from benchmarking.forecasting.model.priors import UNKNOWN, Exponents
from benchmarking.forecasting.model.unseen_terms import with_hidden_square, with_hidden_term

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

_RSS_NOISE_SD = 0.006
"""Repeats agree to about 0.2 %; the residual of a line is structural (allocator steps, copies, caches) and larger."""

_RSS_DRIFT = 0.06
"""Drift of the exponent (see `GrowthPrior`): allocators round, copy and free in ways that change with the size."""

# Components (weight, mean, standard deviation) of the exponent of what grows in the peak.
_RSS = ((0.7, 1.0, 0.02), (0.1, 0.6, 0.25), (0.12, 0.0, 0.03), (0.08, 1.8, 0.3))
_RSS_BY_FAMILY: Mapping[str, Exponents] = {
    "gaussian_process": ((0.75, 2.0, 0.02), (0.15, 1.0, 0.05), (0.1, 1.5, 0.4)),
    "kernel": ((0.4, 1.0, 0.03), (0.3, 2.0, 0.05), (0.3, 1.0, 0.5)),
    "neighbours": ((0.45, 1.0, 0.03), (0.35, 2.0, 0.05), (0.2, 1.2, 0.5)),
    "constant": ((1.0, 0.0, 0.02),),
}
_HARDLY, _NOISE_FLOOR, _FASTER = 0.03, 0.004, 1.25
"""A peak that rose by less than the first is flat; means of repeats are known to the second; a last piece that is so many times as steep as
the line before it, the third, goes on as it is."""

_HIDDEN, _HIDDEN_DECADES = 0.15, 4.0
"""A flat peak hides, with probability `_HIDDEN`, a part within so many decades below it that grows with the data."""

_LET_GO = 0.15
"""Share of the peak of the imports that is free again afterwards, and under which a part that grows with the square may lie."""

_LAST_PIECE_SD = 0.1
"""Log-normal spread of a peak that goes on as its last piece rises."""

_SQUARE = {UNKNOWN: 0.15, "kernel": 0.6, "neighbours": 0.4, "gaussian_process": 0.9}
"""Probability, by family, of a part that grows with the square of the data, such as a matrix of distances; none where not named."""

# GPU memory is constant nine times of ten: it is the batch that fills it.
_GPU = ((0.9, 0.0, 0.01), (0.1, 1.0, 0.05))

GPU_BLOCK_BYTES = 2 * 1024**2
"""PyTorch's caching allocator takes memory in blocks of 2 MiB (its CUDA semantics notes)."""


def rss_growth(canaries: Sequence[Canary], at: float) -> Growth | None:
    """Return how peak RSS grows with what is read; None where it was not measured.

    Args:
        canaries: completed runs of one configuration.
        at: nominal fraction that is forecast.
    """
    used = [canary for canary in canaries if canary.rss_bytes]
    if not used:
        return None
    prior = GrowthPrior(_RSS_BY_FAMILY.get(used[0].family, _RSS), free=0.02, offset="most", noise_sd=_RSS_NOISE_SD, drift=_RSS_DRIFT)
    return _fit(used, at, "rss_bytes", prior)


def rss_draws(growth: Growth, canaries: Sequence[Canary], size: int, rng: Generator) -> FloatArray:
    """Return draws (size,) of the full job's peak RSS, with what the peak of the imports can hide.

    A peak is a maximum: below it, what grows with the data leaves no trace. Where the peak hardly moved, a hidden part may overtake it
    by the full job; where it moves faster at the top than below, the last piece is the one that goes on. Both are mixed in.

    Args:
        growth: as `rss_growth` returns it.
        canaries: completed runs of the configuration.
        size: number of draws.
        rng: generator.
    """
    import numpy as np

    draws = growth.sample(1.0, size, rng)
    used = [canary for canary in canaries if canary.rss_bytes]
    y = np.array([canary.rss_bytes for canary in used], dtype=float)
    x, levels = growth.x, np.unique(np.round(growth.x, 6))
    top = float(x.max())
    if top >= 0.999 or len(levels) < 2:
        return draws
    # Mean peak by size, and how steeply it rises between sizes.
    means = np.array([float(y[np.abs(x - level) < 0.1 * level].mean()) for level in levels])
    steps = np.diff(means) / np.diff(levels)
    chance, peak = _SQUARE.get(used[0].family, 0.0), float(means[-1])
    # A flat peak is that of the imports: what grows may lie anywhere below it, a square also below what the imports have let go of.
    if peak < means[0] * (1 + _HARDLY):
        draws = with_hidden_term(draws, peak, top, rng, chance=_HIDDEN, squares=0.0, decades=_HIDDEN_DECADES)
        return with_hidden_term(draws, _LET_GO * peak, top, rng, chance=chance, squares=1.0, decades=_HIDDEN_DECADES) if chance else draws
    # On a rising line a square may hide within the noise.
    if chance:
        draws = with_hidden_square(draws, levels, means, _NOISE_FLOOR * peak, rng, chance=chance, decades=_HIDDEN_DECADES)
    # A line that has only just come out from under the imports: half of the draws go on as its last piece rises.
    before = (means[-2] - means[0]) / (levels[-2] - levels[0]) if len(levels) > 2 else steps[-1]
    if steps[-1] > 0 and steps[-1] > _FASTER * max(float(before), 0.0) and means[-1] > means[-2] * (1 + _NOISE_FLOOR):
        onwards = means[-1] + steps[-1] * (1 - top)
        spread = rng.lognormal(0.0, _LAST_PIECE_SD, size)
        return np.where(rng.random(size) < 0.5, np.maximum(means[-1], onwards * spread), draws)
    return draws


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
