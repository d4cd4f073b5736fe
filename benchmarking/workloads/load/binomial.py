"""Bounds of a share from counts, by the incomplete beta function. Standard library only."""

from __future__ import annotations

import math

_SMALL = 1e-300
_ROUNDS = 300


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b).

    By the continued fraction of Abramowitz and Stegun 26.5.8, evaluated by Lentz' method.

    Args:
        x: in [0, 1].
        a: above 0, whole or not.
        b: likewise.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_cdf(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > _SMALL else _SMALL)
    value = d
    for m in range(1, _ROUNDS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + step * d
            c = 1.0 + step / c
            d = 1.0 / (d if abs(d) > _SMALL else _SMALL)
            c = c if abs(c) > _SMALL else _SMALL
            value *= c * d
        if abs(c * d - 1) < 1e-12:
            break
    return math.exp(log_front) * value / a


def beta_quantile(share: float, a: float, b: float) -> float:
    """Return x with I_x(a, b) = share, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_cdf(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def upper_bound(n: float, over: float, alpha: float) -> float:
    """Return the one-sided upper bound of a share, by Clopper and Pearson (1934).

    Args:
        n: trials, above 0; not whole where dependent ones count as fewer.
        over: of them.
        alpha: how often the bound may lie below the truth.
    """
    return 1.0 if over >= n else beta_quantile(1 - alpha, over + 1, n - over)


def lower_bound(n: float, over: float, alpha: float) -> float:
    """Return the one-sided lower bound of a share; see `upper_bound`."""
    return 0.0 if over <= 0 else beta_quantile(alpha, over, max(n - over, 0.0) + 1)


def shows_below(n: float, over: float, share: float, alpha: float) -> bool:
    """Return whether counts show, at this error, that the true share is below one: P(at most `over` of n | share) <= alpha."""
    return n > over and beta_cdf(1 - share, n - over, over + 1) <= alpha


def shows_above(n: float, over: float, share: float, alpha: float) -> bool:
    """Return whether counts show that the true share is above one: P(at least `over` of n | share) <= alpha."""
    return over > 0 and beta_cdf(share, over, max(n - over, 0.0) + 1) <= alpha
