"""What is believed of a growth before it is measured, on the grid of its exponent and its constant share. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from benchmarking.forecasting.model.noise import NOISE_SD
from benchmarking.forecasting.model.priors import Exponents

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

WARM_UP = (math.log(0.1), 2.0)
"""Mean and sd of the log of the seconds by which a fit phase is longer than its work (lazy imports, threads, first calls)."""

DRIFT = 0.015
"""Standard deviation of the exponent beyond what was measured against the exponent within: no code follows one power for ever."""

SHORT_DRIFT, SHORT_S = 0.2, 0.25
"""What a fit phase of no length adds to it, and the seconds at which half of that is left: such a run sees the caches, not the memory."""


@dataclass(frozen=True)
class GrowthPrior:
    """What is believed of a growth before it is measured.

    Args:
        exponents: components (weight, mean, standard deviation) of the exponent's mixture.
        free: weight of "no constant part at all".
        offset: how the rest is spread over the constant share s: `any` (a total), `most` (a base load like memory), `seconds` (a timed
            phase: warming up takes some fraction of a second, whatever the phase); or the share that another measurement suggests.
        noise_sd: mode of the noise's standard deviation, on the log scale.
        drift: standard deviation of the exponent beyond what was measured, against the exponent within.
    """

    exponents: Exponents
    free: float = 0.5
    offset: str | float = "seconds"
    noise_sd: float = NOISE_SD
    drift: float = DRIFT


@lru_cache(maxsize=1)
def grid() -> tuple[FloatArray, FloatArray]:
    """Return the exponents (121,) and the constant shares (28,) of the grid's cells."""
    import numpy as np

    shares = 1 / (1 + np.exp(-np.linspace(-4.0, 6.5, 27)))
    return np.linspace(0.0, 3.0, 121), np.concatenate(([0.0], shares))


@lru_cache(maxsize=64)
def exponent_log_prior(exponents: Exponents) -> FloatArray:
    """Return the log prior (121,) of the exponent: a mixture of normals on the grid.

    Args:
        exponents: components (weight, mean, standard deviation).
    """
    import numpy as np

    points, _ = grid()
    total = np.zeros_like(points)
    for weight, mean, sd in exponents:
        # A component narrower than the grid keeps its whole weight.
        density = np.exp(-0.5 * ((points - mean) / max(sd, 0.012)) ** 2)
        total += weight * density / density.sum()
    log_prior: FloatArray = np.log(total / total.sum() + 1e-12)
    return log_prior


@lru_cache(maxsize=256)
def share_log_prior(free: float, offset: str | float, log_seconds: float = 0.0) -> FloatArray:
    """Return the log prior (28,) of the constant share.

    Args:
        free: weight of no constant part at all, the grid's first share.
        offset: how the rest is spread, see `GrowthPrior`.
        log_seconds: log of the phase's typical time in seconds, for the offset `seconds`.
    """
    import numpy as np

    _, shares = grid()
    rest = shares[1:]
    if offset == "seconds":
        # The constant part in seconds, share times typical time, is log-normal. The grid's shares are even in the logit, hence the factor:
        # d(log share) = (1 - share) d(logit share).
        from scipy.special import ndtr

        distance = (np.log(rest) + log_seconds - WARM_UP[0]) / WARM_UP[1]
        spread = np.exp(-0.5 * distance**2) * (1 - rest) + 1e-9
        # What lies below the smallest share of the grid goes to no constant part at all.
        below = max(free * 0.2, float(ndtr(distance[0])))
        return np.log(np.concatenate(([below], (1 - below) * spread / spread.sum())) + 1e-12)
    # Two parts of "any share" to one of "any order of magnitude of it"; share (1 - share) is the density of an even share in the logit.
    flat_in_logit = np.full_like(rest, 1.0)
    flat_in_share = rest * (1 - rest)
    any_share = flat_in_share / flat_in_share.sum() + 0.5 * flat_in_logit / flat_in_logit.sum()
    if isinstance(offset, float):
        # A share that another measurement suggests: a normal around its logit, and a fifth for the suggestion being wrong.
        centre = min(0.995, max(0.005, offset))
        near = np.exp(-0.5 * ((np.log(rest / (1 - rest)) - math.log(centre / (1 - centre))) / 0.7) ** 2)
        spread = 0.8 * near / near.sum() + 0.2 * any_share / any_share.sum()
        return np.log(np.concatenate(([free], (1 - free) * spread)) + 1e-12)
    # A base load is likely most of what is there, so its density grows with the share.
    spread = {"any": any_share, "most": flat_in_share * rest + 0.02}[offset]
    return np.log(np.concatenate(([free], (1 - free) * spread / spread.sum())) + 1e-12)


def drift_of(longest_s: float) -> float:
    """Return the drift (see `GrowthPrior`) of a time law whose largest canary took so many seconds.

    Code that works within the caches for some milliseconds is up to a few times slower per row once it does not, and page faults, lazy
    initialisation and blocking by size come and go likewise; after seconds they have come.
    """
    return DRIFT + SHORT_DRIFT * SHORT_S / (SHORT_S + longest_s)
