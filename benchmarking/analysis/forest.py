"""A small forest of regression trees in numpy, all its trees grown at once, level by level. Pure.

Breiman, Random forests, 2001. It is written here since scikit-learn takes a second to import, which is more than all else that a report
of a study needs. Each level takes a few passes over all entries of all trees, however many nodes these have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator, IntArray

_LEAST_ENTRIES = 2
"""Different points in each leaf."""
_PURE = 1e-12
"""Of the variance of all values: what is left in a node that is not split."""


@dataclass(frozen=True)
class Leaves:
    """A tree as boxes: `lower` and `upper` (n_leaves, n_parameters) within the unit cube, `values` (n_leaves,)."""

    lower: FloatArray
    upper: FloatArray
    values: FloatArray


@dataclass(frozen=True)
class _Level:
    """The nodes of all trees that are as deep, and the points that are in them.

    Args:
        tree: (n_nodes,) whose they are; `lower`, `upper` (n_nodes, n_parameters): their boxes.
        node: (n_entries,) which node an entry is in, ascending; `row`: its point; `weight`: how often the tree drew it.
    """

    tree: IntArray
    lower: FloatArray
    upper: FloatArray
    node: IntArray
    row: IntArray
    weight: FloatArray


def grow_forest(points: FloatArray, values: FloatArray, generator: Generator, trees: int, *, features: int = 0) -> list[Leaves]:
    """Return the leaves of each tree, those that have a volume within the unit cube.

    Args:
        points: (n, n_parameters); a coordinate outside of 0 to 1 is told apart from those within.
        values: (n,) finite.
        generator: draws each tree's sample of the points, and which parameters a node is split by.
        trees: how many.
        features: parameters that each node may be split by; 0 for all. Where none of them splits it, the others are tried.
    """
    import numpy as np

    n, parameters = points.shape
    centre = float(values.mean())
    counts = generator.multinomial(n, np.full(n, 1.0 / n), size=trees)
    tree, row = np.nonzero(counts)
    level = _Level(
        np.arange(trees), np.zeros((trees, parameters)), np.ones((trees, parameters)), tree, row, counts[tree, row].astype(np.float64)
    )
    ranks = np.stack([np.unique(points[:, one], return_inverse=True)[1] for one in range(parameters)], axis=1)
    least = _PURE * max(float(values.var()), 1e-300)
    found: list[tuple[IntArray, FloatArray, FloatArray, FloatArray]] = []
    while len(level.tree):
        level, ended = _split(level, points, ranks, values - centre, generator, features or parameters, least)
        found.append(ended)
    owner, lower, upper, means = (np.concatenate([one[column] for one in found]) for column in range(4))
    there = (upper > lower).all(axis=1)
    kept = [np.flatnonzero(there & (owner == number)) for number in range(trees)]
    return [Leaves(lower[one], upper[one], means[one] + centre) for one in kept]


def _split(
    level: _Level, points: FloatArray, ranks: IntArray, values: FloatArray, generator: Generator, features: int, least: float
) -> tuple[_Level, tuple[IntArray, FloatArray, FloatArray, FloatArray]]:
    """Return the next level, and of the nodes that are leaves the trees, boxes and values."""
    import numpy as np

    count = np.bincount(level.node, minlength=len(level.tree))
    weight: FloatArray = np.bincount(level.node, level.weight, len(level.tree)).astype(np.float64)
    value = values[level.row]
    total: FloatArray = np.bincount(level.node, level.weight * value, len(level.tree)).astype(np.float64)
    spread = np.bincount(level.node, level.weight * value**2, len(level.tree)) / weight - (total / weight) ** 2
    may_split = (count >= 2 * _LEAST_ENTRIES) & (spread > least)
    gains = np.full((len(level.tree), points.shape[1]), -np.inf)
    thresholds = np.zeros_like(gains)
    if may_split.any():
        inner = np.flatnonzero(may_split[level.node])
        names = np.flatnonzero(may_split)
        part = _Nodes(np.searchsorted(names, level.node[inner]), level.row[inner], level.weight[inner], value[inner],
                      count[names], weight[names], total[names])  # fmt: skip
        for one in range(points.shape[1]):
            gains[names, one], thresholds[names, one] = _best_split(part, points[:, one], ranks[:, one])
    chosen = _chosen(gains, generator, features)
    every = np.arange(len(level.tree))
    is_split = np.isfinite(gains[every, chosen])
    threshold = thresholds[every, chosen]
    leaf = ~is_split
    ended = (level.tree[leaf], level.lower[leaf], level.upper[leaf], (total / weight)[leaf])
    # Step: children 2 i and 2 i + 1 of the i-th node that is split, with the boxes that the threshold leaves of it.
    parents = np.flatnonzero(is_split)
    lower, upper = np.repeat(level.lower[parents], 2, axis=0), np.repeat(level.upper[parents], 2, axis=0)
    axis, at = chosen[parents], threshold[parents]
    left, right = np.arange(0, 2 * len(parents), 2), np.arange(1, 2 * len(parents), 2)
    upper[left, axis] = np.minimum(upper[left, axis], at)
    lower[right, axis] = np.maximum(lower[right, axis], at)
    goes_on = np.flatnonzero(is_split[level.node])
    node, row = level.node[goes_on], level.row[goes_on]
    child = 2 * np.searchsorted(parents, node) + (points[row, chosen[node]] > threshold[node])
    order = np.argsort(child, kind="stable")
    return _Level(np.repeat(level.tree[parents], 2), lower, upper, child[order], row[order], level.weight[goes_on][order]), ended


@dataclass(frozen=True)
class _Nodes:
    """Entries by node, ascending, and of each node the number of entries, their weight, and the weighted sum of their values."""

    node: IntArray
    row: IntArray
    weight: FloatArray
    value: FloatArray
    counts: IntArray
    weights: FloatArray
    totals: FloatArray


def _best_split(nodes: _Nodes, coordinates: FloatArray, ranks: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return for each node what the best threshold on one parameter gains (-inf where there is none), and that threshold."""
    import numpy as np

    # Step 1: entries by node, and within it by coordinate; sums of all that is left of the gap behind each.
    order = np.argsort(nodes.node * (int(ranks.max()) + 1) + ranks[nodes.row])
    node, row = nodes.node[order], nodes.row[order]
    starts = np.cumsum(nodes.counts) - nodes.counts
    weight, total = np.cumsum(nodes.weight[order]), np.cumsum(nodes.weight[order] * nodes.value[order])
    weight = weight - (np.cumsum(nodes.weights) - nodes.weights)[node]
    total = total - (np.cumsum(nodes.totals) - nodes.totals)[node]
    left = np.arange(len(node)) - starts[node] + 1
    # Step 2: what a split there gains, up to a constant of the node: the weighted squares of both means.
    is_gap = np.append((node[1:] == node[:-1]) & (ranks[row[1:]] != ranks[row[:-1]]), False)
    is_gap &= (left >= _LEAST_ENTRIES) & (nodes.counts[node] - left >= _LEAST_ENTRIES)
    gain = np.full(len(node), -np.inf)
    at = np.flatnonzero(is_gap)
    rest = nodes.weights[node[at]] - weight[at]
    gain[at] = total[at] ** 2 / weight[at] + (nodes.totals[node[at]] - total[at]) ** 2 / rest
    # Step 3: the first of the best.
    best = np.maximum.reduceat(gain, starts)
    places = np.flatnonzero((gain == best[node]) & is_gap)[::-1]
    threshold = np.zeros(len(nodes.counts))
    threshold[node[places]] = (coordinates[row[places]] + coordinates[row[places + 1]]) / 2
    return best, threshold


def _chosen(gains: FloatArray, generator: Generator, features: int) -> IntArray:
    """Return which parameter each node is split by: that of the greatest gain among some that are drawn, ties at random."""
    import numpy as np

    nodes, parameters = gains.shape
    luck = generator.random((nodes, parameters))
    if features < parameters:
        drawn = luck.argsort(axis=1).argsort(axis=1) < features
        # As long as any that was drawn splits it at all.
        gains = np.where(drawn | ~np.isfinite(np.where(drawn, gains, -np.inf)).any(axis=1, keepdims=True), gains, -np.inf)
    best = gains.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        is_best = gains >= best - 1e-12 * np.abs(best)
    return np.asarray(np.where(is_best | (gains == best), luck, -1.0).argmax(axis=1))
