"""How an objective goes on with more data or more epochs: a power law with an asymptote. Pure numbers.

The law is y = a + b x^-c, the usual one of learning curves over data (Hestness et al., "Deep learning scaling is predictable,
empirically", 2017; Viering and Loog, "The shape of learning curves: a review", 2021) and over steps. Given the exponent c it is linear in a
and b: Bayesian linear regression with a normal-inverse-gamma prior (Murphy, "Conjugate Bayesian analysis of the Gaussian distribution",
2007), and the exponents of a grid are weighed by their evidence. Of what is still to change beyond the last level by the law, 60 % are
taken, with a standard deviation of 40 %: real curves flatten sooner than the law, no curve is the law's own, and neighbouring epochs of one
run tell less than as many runs would.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

EXPONENTS = tuple(0.1 * 20 ** (k / 20) for k in range(21))
"""Exponents from 0.1 to 2, even in the logarithm."""

LEFT, FORM = 0.6, 0.4
"""Share of what is still to change by the law that does change, and its standard deviation."""

_LAST, _CHANGE = 0.1, 0.3
"""Prior standard deviations of the law's value at the last level and of its change up to there, in units of the measured change."""

_NOISE, _SHAPE = 0.05, 1.5
"""Prior noise, in the same units, and the shape of its inverse gamma."""

_MOST_POINTS = 16


@dataclass(frozen=True)
class MetricCurve:
    """What was measured of one configuration's objective.

    Args:
        x: levels above 0, in the unit of the full one; `y`: (n,) finite values there.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    @property
    def levels(self) -> list[tuple[float, float]]:
        """Level and mean value, ascending."""
        found: dict[float, list[float]] = {}
        for level, value in zip(self.x, self.y, strict=True):
            found.setdefault(level, []).append(value)
        return [(level, math.fsum(values) / len(values)) for level, values in sorted(found.items())]

    @property
    def last(self) -> float:
        """Its mean value at the largest level."""
        return self.levels[-1][1]

    @property
    def changed(self) -> float:
        """By how much it changed from the first level to the last."""
        levels = self.levels
        return levels[-1][1] - levels[0][1]


def draws(curve: MetricCurve, full: float, size: int, rng: Generator) -> FloatArray:
    """Return draws (size,) of the objective at the full level; two levels are needed.

    Args:
        curve: what was measured.
        full: the level that is asked for.
        size: number of draws.
        rng: generator.
    """
    import numpy as np

    x, y = _thinned(curve)
    unit = abs(curve.changed) or float(np.ptp(y)) or max(abs(curve.last), 1.0) * 1e-3
    scaled, top, lowest = (y - curve.last) / unit, float(x.max()), float(x.min())
    sign = -1.0 if curve.changed > 0 else 1.0
    # Step 1: of each exponent the posterior of a and b, and its evidence.
    prior_mean, prior_precision = np.array([0.0, sign]), np.diag([_LAST**-2, _CHANGE**-2])
    fits, evidence = [], []
    for exponent in EXPONENTS:
        # b is what changes from the first level to the last, whatever the exponent.
        whole = (lowest / top) ** -exponent - 1.0
        basis = np.column_stack([np.ones_like(x), ((x / top) ** -exponent - 1.0) / whole])
        precision = basis.T @ basis / _NOISE**2 + prior_precision
        mean = np.linalg.solve(precision, basis.T @ scaled / _NOISE**2 + prior_precision @ prior_mean)
        residual = scaled - basis @ mean
        away = mean - prior_mean
        # In units of the prior noise, whose variance has an inverse gamma of mean about one.
        squares = float(residual @ residual) / _NOISE**2 + float(away @ prior_precision @ away)
        a, b = _SHAPE + len(x) / 2, _SHAPE + squares / 2
        fits.append((mean, np.linalg.cholesky(np.linalg.inv(precision)), a, b))
        evidence.append(-0.5 * float(np.linalg.slogdet(precision)[1]) - a * math.log(b))
    weights = np.exp(np.array(evidence) - max(evidence))
    # Step 2: exponents by their weights, then their laws at the full level.
    chosen = rng.choice(len(EXPONENTS), size, p=weights / weights.sum())
    found = np.empty(size)
    for number in np.unique(chosen):
        mean, root, a, b = fits[number]
        count = int((chosen == number).sum())
        spread = np.sqrt(b / rng.gamma(a, 1.0, count))
        law = mean + (root @ rng.standard_normal((2, count)) * spread).T
        exponent = EXPONENTS[number]
        grown = law[:, 1] * ((full / top) ** -exponent - 1.0) / ((lowest / top) ** -exponent - 1.0)
        # Whatever the law, more of what helped does not undo it; and the way that is left may be longer or shorter than any law says.
        grown = -sign * np.abs(grown) * np.maximum(LEFT + FORM * rng.standard_normal(count), 0.0)
        found[chosen == number] = law[:, 0] + grown + _NOISE * spread * rng.standard_normal(count)
    values: FloatArray = curve.last + unit * found
    if float(y.min()) <= 0:
        return values
    # What was never below zero is a loss or an error, which cannot be: of the draws those count that are possible.
    possible = values[values > 0]
    return rng.choice(possible, size) if len(possible) else np.zeros(size)


def _thinned(curve: MetricCurve) -> tuple[FloatArray, FloatArray]:
    """Return at most so many points, even in the logarithm of the level: neighbouring epochs say the same."""
    import numpy as np

    points = sorted(zip(curve.x, curve.y, strict=True))
    if len(points) > _MOST_POINTS:
        first, last = math.log(points[0][0]), math.log(points[-1][0])
        wanted = [first + (last - first) * k / (_MOST_POINTS - 1) for k in range(_MOST_POINTS)]
        logs = [math.log(level) for level, _ in points]
        points = [points[k] for k in sorted({_nearest(logs, one) for one in wanted})]
    return np.array([level for level, _ in points]), np.array([value for _, value in points])


def _nearest(values: Sequence[float], wanted: float) -> int:
    return min(range(len(values)), key=lambda k: abs(values[k] - wanted))
