"""Which configurations no other one beats in every objective, and how sure that is where measurements vary. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarking.analysis.intervals import ConfidenceInterval, mean_interval
from definitions.schema import Mode

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

_DRAWS = 1_000

MOST_POINTS = 300
"""Points whose probability is computed: it takes their square; those that are beaten by most others are left at 0."""


def pareto_front(points: Sequence[Mapping[str, float | None]], objectives: Mapping[str, Mode]) -> list[int]:
    """Return the indices of the points that are not dominated.

    Args:
        points: (n,) values by objective; a point with a value that is unknown (None, or not finite) is on no front and dominates nothing:
            an unknown cost never ranks as free.
        objectives: name -> `min` or `max`.
    """
    known: list[tuple[list[float], int]] = []
    for index, point in enumerate(points):
        signed = signed_values(point, objectives)
        if signed is not None:
            known.append((signed, index))
    front: list[tuple[list[float], int]] = []
    # Sorted, a point can be dominated only by one before it, and then also by one of the front.
    for signed, index in sorted(known):
        if not any(other != signed and all(a <= b for a, b in zip(other, signed, strict=True)) for other, _ in front):
            front.append((signed, index))
    return sorted(index for _, index in front)


def signed_values(point: Mapping[str, float | None], objectives: Mapping[str, Mode]) -> list[float] | None:
    """Return a point's values with the sign by which less is better in each objective; None where one of them is unknown."""
    values = [point.get(name) for name in objectives]
    signed = [value if mode == "min" else -value for value, mode in zip(values, objectives.values(), strict=True) if value is not None]
    return signed if len(signed) == len(objectives) and all(map(math.isfinite, signed)) else None


@dataclass(frozen=True)
class FrontPoint:
    """A configuration as a point among others.

    Args:
        values: objective -> mean of its repeats.
        intervals: objective -> interval of that mean; None where it was measured once.
        repeats: how often it was measured.
        on_front: whether no other's means beat its means.
        probability: of being on the front were all measured anew as often; None where nothing was measured twice, so that nobody knows.
    """

    values: Mapping[str, float]
    intervals: Mapping[str, ConfidenceInterval | None]
    repeats: int
    on_front: bool
    probability: float | None


def noisy_front(
    measured: Sequence[Sequence[Mapping[str, float | None]]], objectives: Mapping[str, Mode], confidence: float = 0.95, seed: int = 0
) -> list[FrontPoint | None]:
    """Return each configuration as a point, with the probability that it is on the front.

    A bootstrap over repeats (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 6): each configuration's repeats are drawn
    anew as whole vectors, so that objectives that vary together do, and the front is taken again. Of configurations with fewer than three
    repeats the residuals of all are drawn, as one's own two would hardly vary.

    Args:
        measured: (n,) for each configuration its repeats, values by objective; a repeat in which one is unknown does not count.
        objectives: name -> mode, two or three.
        confidence: of the intervals.
        seed: of the draws.

    Returns:
        (n,) points, None for configurations of which no repeat has all objectives.
    """
    known = [[signed for repeat in repeats if (signed := signed_values(repeat, objectives)) is not None] for repeats in measured]
    present = [index for index, repeats in enumerate(known) if repeats]
    means = [[math.fsum(column) / len(column) for column in zip(*known[index], strict=True)] for index in present]
    names = list(objectives)
    signs = [1.0 if mode == "min" else -1.0 for mode in objectives.values()]
    plain = [{name: sign * value for name, sign, value in zip(names, signs, mean, strict=True)} for mean in means]
    front = set(pareto_front(plain, objectives))
    probable = _probabilities([known[index] for index in present], means, seed)
    found: list[FrontPoint | None] = [None] * len(measured)
    for place, index in enumerate(present):
        columns = list(zip(*known[index], strict=True))
        intervals = {
            name: mean_interval([sign * value for value in column], confidence)
            for name, sign, column in zip(names, signs, columns, strict=True)
        }
        found[index] = FrontPoint(plain[place], intervals, len(known[index]), place in front, None if probable is None else probable[place])
    return found


def _probabilities(known: Sequence[Sequence[Sequence[float]]], means: Sequence[Sequence[float]], seed: int) -> list[float] | None:
    """Return for each point how often it was on the front of drawn means; None where no point was measured twice."""
    import numpy as np

    # Step 1: what repeats are off their mean, scaled so that n of them have the variance that n - 1 degrees of freedom estimate.
    residuals = []
    for repeats, mean in zip(known, means, strict=True):
        n = len(repeats)
        scale = math.sqrt(n / (n - 1)) if n > 1 else 0.0
        residuals.append((np.asarray(repeats, dtype=np.float64) - np.asarray(mean)) * scale)
    repeated = [rest for rest in residuals if len(rest) > 1]
    if not repeated:
        return None
    pool = np.concatenate(repeated)
    centres = np.asarray(means, dtype=np.float64)
    # Step 2: those that could be on the front: the least dominated ones.
    beaten = np.array([_dominated_by(centres, centre) for centre in centres])
    kept = np.argsort(beaten, kind="stable")[:MOST_POINTS]
    generator = np.random.default_rng(seed)
    drawn = np.empty((_DRAWS, len(kept), centres.shape[1]))
    for place, index in enumerate(kept):
        n = len(known[index])
        own = residuals[index] if n >= 3 else pool
        picked = generator.integers(0, len(own), size=(_DRAWS, n))
        drawn[:, place] = centres[index] + own[picked].mean(axis=1)
    # Step 3: how often each is not dominated.
    counts = np.zeros(len(kept))
    for points in drawn:
        counts += _not_dominated(points)
    found = np.zeros(len(known))
    found[kept] = counts / _DRAWS
    return [float(value) for value in found]


def _dominated_by(points: FloatArray, point: FloatArray) -> int:
    return int(((points <= point).all(axis=1) & (points < point).any(axis=1)).sum())


def _not_dominated(points: FloatArray) -> FloatArray:
    """Return 1.0 for each of (n, m) points that none of the others dominates, less being better."""
    import numpy as np

    left = np.ones(len(points))
    for index, point in enumerate(points):
        # Who is dominated already dominates nobody that his own conqueror does not.
        if left[index]:
            left[(point <= points).all(axis=1) & (point < points).any(axis=1)] = 0.0
    return left
