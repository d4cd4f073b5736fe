"""How a measured quantity grows with the data: a Bayesian mixture over power laws on a grid. Pure numbers.

The law is y = K (s + (1 - s) (x / x0)^c) e, with x0 the geometric mean of the measured sizes, s the share of y that is constant there,
and e log-normal noise. K (flat prior) and the noise variance (inverse gamma prior) integrate out in closed form, which leaves a Student
predictive for each cell (c, s): the normal-inverse-gamma model, e.g. Murphy, "Conjugate Bayesian analysis of the Gaussian distribution"
(2007), section 6, weighted by cell evidence (Bayesian model averaging, Hoeting et al., Statistical Science 14, 1999).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from benchmarking.forecasting.model.growth_prior import DRIFT, GrowthPrior, exponent_log_prior, grid, share_log_prior
from benchmarking.forecasting.model.noise import Noise, noise_prior

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator, IntArray


FORM = 0.08
"""Error of form of what grows beyond the largest measured size, on the log scale: no law here is the code's own. Measured on real jobs."""


@lru_cache(maxsize=1)
def _cells() -> tuple[IntArray, FloatArray, FloatArray]:
    """Return number, exponent and constant share of each cell, (3388,)."""
    import numpy as np

    points, shares = grid()
    return np.arange(points.size * shares.size), np.repeat(points, shares.size), np.tile(shares, points.size)


@dataclass(frozen=True)
class Growth:
    """The posterior of one growth on the grid.

    Args:
        x: (n,) measured sizes; the full size is 1.
        x0: their geometric mean.
        log_like: (121, 28) log evidence of the cells, the share's prior included, the exponent's not.
        log_exponent: (121,) log prior of the exponent, shared or its own.
        centre: mean of log y; `log_basis`: (3388,) mean of the law's log without K, by cell: K's posterior mean is their difference.
        a, b: shape, and (121, 28) scales of the noise variance.
        drift: see `GrowthPrior`.
    """

    x: FloatArray
    x0: float
    log_like: FloatArray
    log_exponent: FloatArray
    centre: float
    log_basis: FloatArray
    a: float
    b: FloatArray
    drift: float = DRIFT

    @cached_property
    def weights(self) -> FloatArray:
        """Posterior weights (121, 28) of the cells: their evidence times the exponent's prior, by Bayes' rule."""
        import numpy as np

        total = self.log_like + self.log_exponent[:, None]
        total -= total.max()
        np.exp(total, out=total)
        total /= total.sum()
        return total

    @cached_property
    def top(self) -> float:
        """The largest measured size."""
        return float(self.x.max())

    @cached_property
    def exponent_log_like(self) -> FloatArray:
        """Log evidence (121,) of each exponent, whatever the share."""
        import numpy as np

        # The largest is taken out before the exponential, so that the sum neither overflows nor vanishes.
        top = self.log_like.max()
        log_sum: FloatArray = top + np.log(np.exp(self.log_like - top).sum(1) + 1e-300)
        return log_sum

    def exponent(self) -> tuple[float, float]:
        """Return posterior mean and standard deviation of the exponent."""
        points, _ = grid()
        by_exponent = self.weights.sum(1)
        mean = float((by_exponent * points).sum())
        return mean, math.sqrt(max(0.0, float((by_exponent * (points - mean) ** 2).sum())))

    def constant_share(self) -> float:
        """Return the posterior mean of the constant share of what was measured at the largest size."""
        import numpy as np

        # By cell, the constant part over the whole law at the largest size.
        points, shares = grid()
        grown = (1 - shares)[None, :] * np.exp(points * math.log(self.top / self.x0))[:, None]
        return float((self.weights * shares[None, :] / (shares[None, :] + grown)).sum())

    def noise_sd(self) -> float:
        """Return the root of the posterior mean of the noise's variance, on the log scale; an inverse gamma's mean is b / (a - 1)."""
        return math.sqrt(float(self.weights.ravel() @ self.b.ravel()) / (self.a - 1)) if self.a > 1 else math.inf

    def sample(self, x: float, size: int, rng: Generator, *, noise: bool = True) -> FloatArray:
        """Return draws (size,) of a new measurement at size x.

        Args:
            x: size, as a share of the full one.
            size: number of draws.
            rng: generator.
            noise: whether the new measurement's own noise is in them, or only what is not known of its mean.
        """
        import numpy as np

        cells, points, shares = _cells()
        # Cells by their weights. Systematic resampling (Kitagawa, 1996): as few draws as possible are spent on what weights already say.
        ends = np.cumsum(self.weights.ravel())
        up_to = np.floor(ends * (size / (ends[-1] * (1 - 1e-12))) - rng.random()) + 1
        cells = np.repeat(cells, np.diff(np.minimum(up_to, size), prepend=0.0).astype(int))
        rng.shuffle(cells)
        # The law of each drawn cell without K; beyond the largest size its exponent is off by the drift, and its form by `FORM`.
        beyond = math.log(max(x / self.top, 1.0))
        growth = points[cells] * (math.log((self.top if beyond else x) / self.x0) + beyond)
        off = math.hypot(self.drift * beyond, FORM) if beyond and self.drift else 0.0
        grown = np.exp(growth + off * rng.standard_normal(size))
        constant = shares[cells]
        grown = constant + (1 - constant) * grown
        # K and the noise variance of the cell, integrated out: Student's t of 2 a degrees of freedom, its squared scale (1 + 1/n) b / a.
        spread = self.b.ravel()[cells] * (((1.0 if noise else 0.0) + 1 / len(self.x)) / self.a)
        return np.exp(self.centre - self.log_basis[cells] + rng.standard_t(2 * self.a, size) * np.sqrt(spread)) * grown


@lru_cache(maxsize=32)
def _basis(levels: tuple[float, ...], counts: tuple[int, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the log of the law without K, by cell: its mean over the runs (3388,), what sizes differ from it (3388, m), their squares.

    Args:
        levels: the m sizes over the geometric mean of all runs'.
        counts: runs at each of them.
    """
    import numpy as np

    points, shares = grid()
    power = np.exp(points[:, None] * np.log(np.array(levels))[None, :])
    basis = np.log(shares[None, :, None] + (1 - shares)[None, :, None] * power[:, None, :]).reshape(-1, len(levels))
    runs = np.array(counts, dtype=float)
    mean = basis @ (runs / runs.sum())
    basis -= mean[:, None]
    return mean, basis * runs, basis**2 @ runs


def fit(x: FloatArray, y: FloatArray, prior: GrowthPrior, noise: Noise | None = None) -> Growth:
    """Return the posterior of a growth.

    Args:
        x: (n,) measured sizes above 0, as shares of the full one.
        y: (n,) measurements above 0.
        prior: of the growth.
        noise: prior of the noise; that of `prior.noise_sd` where None.
    """
    import numpy as np

    noise = noise or noise_prior(prior.noise_sd)
    shape = tuple(map(len, grid()))
    logs = np.log(y)
    x0 = math.exp(float(np.log(x).mean()))
    # Runs at one size have one residual but for their scatter around their mean, so that sums over sizes do.
    levels, at = np.unique(x, return_inverse=True)
    counts = np.bincount(at)
    centre = float(logs.mean())
    offset = np.bincount(at, logs - centre) / counts
    scatter = float(((logs - centre) ** 2).sum())
    mean, basis, squares = _basis(tuple((levels / x0).tolist()), tuple(counts.tolist()))
    # Conjugate update: half a degree of freedom for each run but the one that K takes, and half the residual sum of squares of each cell,
    # which is |y|^2 + |basis|^2 - 2 y basis with both centred.
    a = noise.a + (len(x) - 1) / 2
    b = noise.b + 0.5 * np.maximum(scatter + squares - 2 * (basis @ offset), 0.0).reshape(shape)
    # Evidence of a cell: b to the power of -a, up to what all cells have in common.
    typical = round(centre, 1) if prior.offset == "seconds" else 0.0
    log_like = share_log_prior(prior.free, prior.offset, typical)[None, :] - a * np.log(b / noise.b)
    return Growth(x, x0, log_like, exponent_log_prior(prior.exponents), centre, mean, a, b, prior.drift)
