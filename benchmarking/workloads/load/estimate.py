"""Where a share of requests over the limit crosses what is allowed, estimated from all probes at once, with a 90 % interval. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .evidence import ShareEvidence

_WIDTH = 1.75
"""Standard errors to either side: 1.645 of a normal variable, and more as the worth of requests is itself estimated from few blocks, and as
probes end when they look decided; with it 92 and 88 % of 200 intervals hold for queues whose truth is known (rate_search.py)."""
_FAR = math.log(15)
_STEPS = 100


@dataclass(frozen=True)
class RateEstimate:
    """The rate at which the share is just what is allowed, and the ends of its 90 % interval; requests a second."""

    rate: float
    low: float
    high: float


def estimated_rate(probes: Sequence[tuple[float, ShareEvidence]], share: float) -> RateEstimate | None:
    """Return the estimate; None where the probes tell none: too few, none over the limit, or no growth with the rate.

    The log odds of being over the limit are taken as a straight line in the rate, fitted by maximum likelihood: exactly so for small shares
    in a queue M/M/1, where P(T > t) = exp(-(mu - rate) t), and near the limit for others, whose tails are exponential too. Requests count
    as what they are worth as independent ones. Probes far beyond the limit are left out, as the line need not hold there.

    Args:
        probes: (n,) rate and evidence of each.
        share: that may be over the limit.
    """
    limit = math.log(share / (1 - share))
    used = [(rate, *evidence.worth) for rate, evidence in probes if evidence.n and _odds(evidence.share) < limit + _FAR]
    if len({rate for rate, _, _ in used}) < 2 or not sum(over for _, _, over in used):
        return None
    highest = max(rate for rate, _, _ in used)
    line = _fitted([(rate / highest - 1, n, over) for rate, n, over in used], limit)
    if line is None or line[1] <= 0:
        return None
    a, b, information = line
    place = (limit - a) / b
    # The error of the crossing, by the delta method: d place / d(a, b) = -(1, place) / b.
    (aa, ab), (_, bb) = information
    determinant = aa * bb - ab * ab
    if determinant <= 0:
        return None
    variance = (bb - 2 * place * ab + place * place * aa) / determinant / b**2
    width = _WIDTH * math.sqrt(max(variance, 0.0))
    return RateEstimate(highest * (1 + place), max(0.0, highest * (1 + place - width)), highest * (1 + place + width))


_Information = tuple[tuple[float, float], tuple[float, float]]


def _fitted(rows: Sequence[tuple[float, float, float]], limit: float) -> tuple[float, float, _Information] | None:
    """Return intercept, slope and information of a logistic regression, by Newton's method with bounded steps."""
    a, b = limit, 5.0
    for _ in range(_STEPS):
        slope_a = slope_b = aa = ab = bb = 0.0
        for x, n, over in rows:
            p = 1 / (1 + math.exp(-max(-700.0, min(700.0, a + b * x))))
            slope_a += over - n * p
            slope_b += (over - n * p) * x
            weight = n * p * (1 - p)
            aa, ab, bb = aa + weight, ab + weight * x, bb + weight * x * x
        determinant = aa * bb - ab * ab
        if not determinant > 1e-12 * aa * bb or aa <= 0:
            return None
        step_a, step_b = (bb * slope_a - ab * slope_b) / determinant, (aa * slope_b - ab * slope_a) / determinant
        a, b = a + max(-2.0, min(2.0, step_a)), b + max(-20.0, min(20.0, step_b))
        if abs(step_a) < 1e-9 and abs(step_b) < 1e-9:
            return a, b, ((aa, ab), (ab, bb))
    return None


def _odds(share: float) -> float:
    return math.inf if share >= 1 else math.log(share / (1 - share)) if share > 0 else -math.inf
