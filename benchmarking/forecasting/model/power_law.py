"""How a measured quantity grows with the data: a Bayesian mixture over power laws on a grid. Pure numbers; used by every phase's law.

The law is y = K (s + (1 - s) (x / x0)^c) e, with x0 the geometric mean of the measured sizes, s the share of y that is constant there,
and e log-normal noise. K (flat prior) and the noise variance (inverse gamma prior) integrate out in closed form, which leaves a Student
predictive for each cell (c, s): the normal-inverse-gamma model, e.g. Murphy, "Conjugate Bayesian analysis of the Gaussian distribution"
(2007), section 6, weighted by cell evidence (Bayesian model averaging, Hoeting et al., Statistical Science 14, 1999).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

Array: TypeAlias = Any
"""A numpy array; numpy is imported where it is used, as it takes a fifth of a second."""

NOISE_A0, NOISE_SD = 2.5, 0.04
"""Prior of the noise variance: inverse gamma of shape `NOISE_A0` with its mode at `NOISE_SD` squared."""

WARM_UP = (math.log(0.1), 2.0)
"""Mean and sd of the log of the seconds by which a fit phase is longer than its work (lazy imports, threads, first calls)."""

COUPLING = 0.03
"""Standard deviation of the exponents of one code's configurations around their common one."""

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

    exponents: tuple[tuple[float, float, float], ...]
    free: float = 0.5
    offset: str | float = "seconds"
    noise_sd: float = NOISE_SD
    drift: float = DRIFT


@lru_cache(maxsize=1)
def grid() -> tuple[Array, Array]:
    """Return the exponents (121,) and the constant shares (28,) of the grid's cells."""
    import numpy as np

    shares = 1 / (1 + np.exp(-np.linspace(-4.0, 6.5, 27)))
    return np.linspace(0.0, 3.0, 121), np.concatenate(([0.0], shares))


@lru_cache(maxsize=1)
def _cells() -> tuple[Array, Array, Array]:
    """Return number, exponent and constant share of each cell, (3388,)."""
    import numpy as np

    points, shares = grid()
    return np.arange(points.size * shares.size), np.repeat(points, shares.size), np.tile(shares, points.size)


@lru_cache(maxsize=64)
def exponent_log_prior(exponents: tuple[tuple[float, float, float], ...]) -> Array:
    """Return the log prior (121,) of a mixture of normals on the grid."""
    import numpy as np

    points, _ = grid()
    total = np.zeros_like(points)
    for weight, mean, sd in exponents:
        # A component narrower than the grid keeps its whole weight.
        density = np.exp(-0.5 * ((points - mean) / max(sd, 0.012)) ** 2)
        total += weight * density / density.sum()
    return np.log(total / total.sum() + 1e-12)


@lru_cache(maxsize=256)
def share_log_prior(free: float, offset: str | float, log_seconds: float = 0.0) -> Array:
    """Return the log prior (28,) of the constant share; `log_seconds` is the log of the phase's typical time, for the offset `seconds`."""
    import numpy as np

    _, shares = grid()
    rest = shares[1:]
    if offset == "seconds":
        from scipy.special import ndtr

        distance = (np.log(rest) + log_seconds - WARM_UP[0]) / WARM_UP[1]
        spread = np.exp(-0.5 * distance**2) * (1 - rest) + 1e-9
        below = max(free * 0.2, float(ndtr(distance[0])))
        return np.log(np.concatenate(([below], (1 - below) * spread / spread.sum())) + 1e-12)
    flat_in_logit = np.full_like(rest, 1.0)
    flat_in_share = rest * (1 - rest)
    any_share = flat_in_share / flat_in_share.sum() + 0.5 * flat_in_logit / flat_in_logit.sum()
    if isinstance(offset, float):
        centre = min(0.995, max(0.005, offset))
        near = np.exp(-0.5 * ((np.log(rest / (1 - rest)) - math.log(centre / (1 - centre))) / 0.7) ** 2)
        spread = 0.8 * near / near.sum() + 0.2 * any_share / any_share.sum()
        return np.log(np.concatenate(([free], (1 - free) * spread)) + 1e-12)
    spread = {
        "any": any_share,
        "most": flat_in_share * rest + 0.02,
    }[offset]
    return np.log(np.concatenate(([free], (1 - free) * spread / spread.sum())) + 1e-12)


@dataclass(frozen=True)
class Noise:
    """Prior of the noise variance: inverse gamma of shape `a` and scale `b`."""

    a: float
    b: float


def noise_prior(noise_sd: float = NOISE_SD, others: Sequence[tuple[float, int]] = ()) -> Noise:
    """Return the prior of the noise, learnt from repeats of other configurations where there are any.

    Args:
        noise_sd: mode of the standard deviation without them.
        others: (sum of squared deviations of log y within levels, degrees of freedom) of each other configuration.
    """
    squares, freedom = math.fsum(one[0] for one in others), sum(one[1] for one in others)
    counted = min(freedom, 8)
    learnt = squares / freedom * counted / 2 if freedom else 0.0
    return Noise(NOISE_A0 + counted / 2, (NOISE_A0 + 1) * noise_sd**2 + learnt)


def drift_of(longest_s: float) -> float:
    """Return the drift of a time law whose largest canary took so many seconds.

    Code that works within the caches for some milliseconds is up to a few times slower per row once it does not, and page faults, lazy
    initialisation and blocking by size come and go likewise; after seconds they have come.
    """
    return DRIFT + SHORT_DRIFT * SHORT_S / (SHORT_S + longest_s)


def within_levels(x: Array, y: Array) -> tuple[float, int]:
    """Return the sum of squared deviations of log y within equal sizes, and its degrees of freedom."""
    groups: dict[float, list[float]] = {}
    for size, value in zip(x, y, strict=True):
        groups.setdefault(float(size), []).append(math.log(value))
    squares = 0.0
    for group in groups.values():
        mean = math.fsum(group) / len(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
    return squares, len(x) - len(groups)


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

    x: Array
    x0: float
    log_like: Array
    log_exponent: Array
    centre: float
    log_basis: Array
    a: float
    b: Array
    drift: float = DRIFT

    @cached_property
    def weights(self) -> Array:
        """Posterior weights (121, 28) of the cells."""
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
    def exponent_log_like(self) -> Array:
        """Log evidence (121,) of each exponent, whatever the share."""
        import numpy as np

        top = self.log_like.max()
        return top + np.log(np.exp(self.log_like - top).sum(1) + 1e-300)

    def exponent(self) -> tuple[float, float]:
        """Return posterior mean and standard deviation of the exponent."""
        points, _ = grid()
        by_exponent = self.weights.sum(1)
        mean = float((by_exponent * points).sum())
        return mean, math.sqrt(max(0.0, float((by_exponent * (points - mean) ** 2).sum())))

    def constant_share(self) -> float:
        """Return the posterior mean of the constant share of what was measured at the largest size."""
        import numpy as np

        points, shares = grid()
        grown = (1 - shares)[None, :] * np.exp(points * math.log(self.top / self.x0))[:, None]
        return float((self.weights * shares[None, :] / (shares[None, :] + grown)).sum())

    def noise_sd(self) -> float:
        """Return the posterior mean of the noise's standard deviation, on the log scale."""
        return math.sqrt(float(self.weights.ravel() @ self.b.ravel()) / (self.a - 1)) if self.a > 1 else math.inf

    def sample(self, x: float, size: int, rng: Any, *, noise: bool = True) -> Array:
        """Return draws (size,) of a new measurement at size x; `noise` says whether its own noise is in them."""
        import numpy as np

        cells, points, shares = _cells()
        # Systematic resampling: as few draws as possible are spent on what weights already say.
        ends = np.cumsum(self.weights.ravel())
        up_to = np.floor(ends * (size / (ends[-1] * (1 - 1e-12))) - rng.random()) + 1
        cells = np.repeat(cells, np.diff(np.minimum(up_to, size), prepend=0.0).astype(int))
        rng.shuffle(cells)
        beyond = math.log(max(x / self.top, 1.0))
        growth = points[cells] * (math.log((self.top if beyond else x) / self.x0) + beyond)
        grown = np.exp(growth + (self.drift * beyond) * rng.standard_normal(size))
        constant = shares[cells]
        grown = constant + (1 - constant) * grown
        spread = self.b.ravel()[cells] * (((1.0 if noise else 0.0) + 1 / len(self.x)) / self.a)
        return np.exp(self.centre - self.log_basis[cells] + rng.standard_t(2 * self.a, size) * np.sqrt(spread)) * grown


@lru_cache(maxsize=32)
def _basis(levels: tuple[float, ...], counts: tuple[int, ...]) -> tuple[Array, Array, Array]:
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


def fit(x: Array, y: Array, prior: GrowthPrior, noise: Noise | None = None) -> Growth:
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
    a = noise.a + (len(x) - 1) / 2
    b = noise.b + 0.5 * np.maximum(scatter + squares - 2 * (basis @ offset), 0.0).reshape(shape)
    typical = round(centre, 1) if prior.offset == "seconds" else 0.0
    log_like = share_log_prior(prior.free, prior.offset, typical)[None, :] - a * np.log(b / noise.b)
    return Growth(x, x0, log_like, exponent_log_prior(prior.exponents), centre, mean, a, b, prior.drift)


@lru_cache(maxsize=4)
def _coupling(sd: float) -> Array:
    import numpy as np

    points, _ = grid()
    kernel = np.exp(-0.5 * ((points[:, None] - points[None, :]) / sd) ** 2)
    return kernel / kernel.sum(0, keepdims=True)


def _common(members: Sequence[Growth], kernel: Array) -> tuple[Array, Array, float]:
    """Return the common exponent's log posterior (121,), each member's log evidence (k, 121), and the probability that there is one."""
    import numpy as np

    own = members[0].log_exponent
    likes = np.stack([member.exponent_log_like for member in members])
    tops = likes.max(1, keepdims=True)
    blurred = np.log(np.exp(likes - tops) @ kernel + 1e-300)
    together = own + blurred.sum(0)
    apart = np.log((np.exp(likes - tops) * np.exp(own)).sum(1) + 1e-300)
    evidence = together.max() + math.log(float(np.exp(together - together.max()).sum()))
    is_shared = 1 / (1 + math.exp(min(60.0, max(-60.0, float(apart.sum()) - evidence))))
    return together, blurred, is_shared


def sample_together(members: Sequence[Growth], x: float, size: int, rng: Any, coupling: float = COUPLING) -> list[Array]:
    """Return draws (size,) at size x for each member, without noise, in which the common exponent is the same in each draw.

    What is common cancels in comparisons of configurations; independent draws would hide that.

    Args:
        members: growths with their own priors, before `share_exponents`.
        x: size that is forecast.
        size: number of draws.
        rng: generator.
        coupling: as in `share_exponents`.
    """
    import dataclasses

    import numpy as np

    if len(members) < 2:
        return [member.sample(x, size, rng, noise=False) for member in members]
    kernel = _coupling(coupling)
    together, _, is_shared = _common(members, kernel)
    weights = np.exp(together - together.max())
    common = np.sort(rng.choice(len(weights), round(size * is_shared), p=weights / weights.sum()))
    values, counts = np.unique(common, return_counts=True)
    rest = size - len(common)
    found = []
    for member in members:
        pieces = [
            dataclasses.replace(member, log_exponent=np.log(kernel[:, value] + 1e-12)).sample(x, int(count), rng, noise=False)
            for value, count in zip(values, counts, strict=True)
        ]
        if rest:
            pieces.append(member.sample(x, rest, rng, noise=False))
        found.append(np.concatenate(pieces))
    return found


def share_exponents(members: Sequence[Growth], coupling: float = COUPLING) -> list[Growth]:
    """Return the growths of one code's configurations, each with the exponent's prior updated by the others.

    The exponents scatter normally around a common one, integrated out on the grid. Whether they have one at all is weighed by evidence,
    so that configurations which disagree keep their own.

    Args:
        members: of configurations that share code and prior.
        coupling: standard deviation of the exponents around the common one.
    """
    import dataclasses

    import numpy as np

    if len(members) < 2:
        return list(members)
    own = members[0].log_exponent
    kernel = _coupling(coupling)
    together, blurred, is_shared = _common(members, kernel)
    others = together - blurred
    common = np.exp(others - others.max(1, keepdims=True))
    learnt = common @ kernel.T
    mixed = np.log(is_shared * learnt / learnt.sum(1, keepdims=True) + (1 - is_shared) * np.exp(own) + 1e-12)
    return [dataclasses.replace(member, log_exponent=log_exponent) for member, log_exponent in zip(members, mixed, strict=True)]
