"""How much of a function's variance each parameter explains: functional ANOVA over a small forest of regression trees. Pure.

Hutter, Hoos and Leyton-Brown, An efficient approach for assessing hyperparameter importance, 2014: a tree is constant on boxes, so that its
marginals, and their variances, are integrals over leaves and exact; the spread over trees says how far the data carry them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarking.analysis.forest import Leaves, grow_forest

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

TREES = 64
LEAST_POINTS = 20
"""Measurements below which nothing is said."""

_MOST_PAIRS = 66
"""Pairs of parameters that are gone through: those of twelve."""


@dataclass(frozen=True)
class Importance:
    """What a parameter, or two beyond what each does alone, explains of the variance.

    Args:
        parameters: numbers of one or two.
        share: mean over trees, 0 to 1.
        low, high: the 10 % and 90 % quantile over trees.
    """

    parameters: tuple[int, ...]
    share: float
    low: float
    high: float


def importances(points: FloatArray, values: FloatArray, seed: int = 0, trees: int = TREES) -> list[Importance]:
    """Return the importance of every parameter and of every pair, the greatest first; empty below 20 points or without any variance.

    Args:
        points: (n, n_parameters) within the unit cube, where each is uniform in what is asked about; what lies outside (a parameter that
            does not exist there) is told apart by the trees, and has no part in the integrals.
        values: (n,) what was measured; finite.
        seed: of the forest.
        trees: in it.
    """
    import numpy as np

    n, parameters = points.shape
    if n < LEAST_POINTS or parameters == 0 or float(np.ptp(values)) == 0.0:
        return []
    forest = grow_forest(points, values, np.random.default_rng(seed), trees, features=max(1, round(parameters * 5 / 6)))
    chosen: list[tuple[int, ...]] = [(one,) for one in range(parameters)]
    chosen += list(itertools.combinations(range(parameters), 2))[:_MOST_PAIRS]
    shares = [one for tree in forest if (one := variance_shares(tree, chosen)) is not None]
    if not shares:
        return []
    table = np.asarray(shares)
    low, high = np.quantile(table, [0.1, 0.9], axis=0)
    found = [Importance(one, float(table[:, index].mean()), float(low[index]), float(high[index])) for index, one in enumerate(chosen)]
    return sorted(found, key=lambda one: -one.share)


def variance_shares(leaves: Leaves, chosen: Sequence[tuple[int, ...]]) -> list[float] | None:
    """Return which share of a tree's variance each choice of one or two parameters explains; None where it has no variance.

    Args:
        leaves: of the tree.
        chosen: numbers of parameters, all single ones of a pair before it.
    """
    widths = leaves.upper - leaves.lower
    volumes = widths.prod(axis=1)
    mean = float((volumes * leaves.values).sum())
    # Step 1: the variance of the whole, over a uniform point of the cube.
    whole = float((volumes * (leaves.values - mean) ** 2).sum())
    if whole <= 1e-12 * max(1.0, mean**2):
        return None
    explained: dict[tuple[int, ...], float] = {}
    for one in chosen:
        # Step 2: the variance of the mean over all other parameters.
        total = _marginal_variance(leaves, widths, volumes, one, mean)
        # Step 3: of a pair, without what each of the two does alone.
        explained[one] = max(0.0, total - (sum(explained.get((single,), 0.0) for single in one) if len(one) > 1 else 0.0))
    return [explained[one] / whole for one in chosen]


def _marginal_variance(leaves: Leaves, widths: FloatArray, volumes: FloatArray, chosen: tuple[int, ...], mean: float) -> float:
    """Return the variance of a marginal, which is constant on the cells that the leaves' ends cut; exact."""
    import numpy as np

    ends = [np.unique(np.concatenate([leaves.lower[:, one], leaves.upper[:, one]])) for one in chosen]
    # Each leaf adds its value, times its extent in the other parameters, to the cells from its lower to its upper end: differences first.
    weights = leaves.values * volumes / widths[:, list(chosen)].prod(axis=1)
    cells = np.zeros([len(end) for end in ends])
    begin = [np.searchsorted(end, leaves.lower[:, one]) for end, one in zip(ends, chosen, strict=True)]
    until = [np.searchsorted(end, leaves.upper[:, one]) for end, one in zip(ends, chosen, strict=True)]
    for corner in itertools.product((0, 1), repeat=len(chosen)):
        places = tuple(until[axis] if side else begin[axis] for axis, side in enumerate(corner))
        np.add.at(cells, places, weights * (-1) ** sum(corner))
    for axis in range(len(chosen)):
        cells = cells.cumsum(axis=axis)
    sizes = np.diff(ends[0]) if len(chosen) == 1 else np.outer(np.diff(ends[0]), np.diff(ends[1]))
    marginal = cells[tuple(slice(0, -1) for _ in chosen)]
    return float((sizes * (marginal - mean) ** 2).sum())
