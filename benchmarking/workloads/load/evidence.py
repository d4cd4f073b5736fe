"""What blocks of a schedule say of the share of requests over a limit: neighbours in a queue are not independent, blocks nearly are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .binomial import lower_bound, shows_above, shows_below, upper_bound

BlockCounts = Sequence[Sequence[int]]
"""(n_blocks, 2 + n_levels) of a schedule in order: requests of each, how many were over the limit, and how many over each lower level."""

PASSES, FAILS, UNDECIDED = "passed", "failed", "undecided"

_SCALES = (10, 20, 40)
"""Numbers of blocks that neighbours are put together to."""
_UNSURE = 1.33
"""How many times more requests count as one where that number is itself estimated from ten blocks: (t / z)^2 at an error of 0.025 and nine
degrees of freedom, after Korn and Graubard (1998). Chance that hides clusters makes them look few and independent at once."""
_MOST_MORE = 1000.0
_FEWEST, _LEAST_SHARE, _MOST_SHARE = 40, 0.05, 0.5
"""Requests above a level, as a number and as a share of all, by which dependence is told there."""


@dataclass(frozen=True)
class ShareEvidence:
    """Counts, and how many independent requests they are worth.

    Args:
        n: requests; `over`: of them over the limit.
        inflation: variance between blocks over that of independent requests, at least 1; n / inflation is their worth.
    """

    n: int
    over: int
    inflation: float = 1.0

    @property
    def share(self) -> float:
        """The share over the limit as counted."""
        return self.over / self.n if self.n else 0.0

    @property
    def worth(self) -> tuple[float, float]:
        """Requests and those over, as independent ones."""
        return self.n / self.inflation, self.over / self.inflation

    def verdict(self, share: float, alpha: float) -> str:
        """Return whether the true share is shown to lie below one, above it, or neither.

        Args:
            share: e.g. 0.01 for the 99th percentile.
            alpha: error of each of both one-sided tests. At 0.05 a share of 0.01 takes 299 requests with none over, 473 with one, 628
                with two.
        """
        n, over = self.worth
        if n <= 0:
            return UNDECIDED
        if shows_below(n, over, share, alpha):
            return PASSES
        return FAILS if shows_above(n, over, share, alpha) else UNDECIDED

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Return lower and upper bound of the share, each with this error."""
        n, over = self.worth
        return (lower_bound(n, over, alpha), upper_bound(n, over, alpha)) if n > 0 else (0.0, 1.0)

    def times_longer(self, share: float, alpha: float) -> float:
        """Return how many times as long it would take until it is decided, if all goes on alike; inf where 1,000 times would not do."""
        n, over = self.worth
        times = 1.0
        while times <= _MOST_MORE and n > 0:
            if shows_below(times * n, times * over, share, alpha) or shows_above(times * n, times * over, share, alpha):
                return times
            times *= 1.1
        return math.inf


def evidence_of(blocks: BlockCounts, least_inflation: float = 1.0) -> ShareEvidence:
    """Return what blocks say.

    Their variance beside that of independent requests is the design effect of cluster samples (Kish 1965). It is taken at several lengths
    of block, and the largest counts, as blocks that are too short hide how long requests depend on each other. While few are over the limit
    it cannot show there, so it is also taken at the highest level that enough requests exceed: how long a queue stays above a level hardly
    depends on the level (beyond it the walk begins anew; the extremal index, Leadbetter 1983), so that what is seen there holds at the
    limit.

    Args:
        blocks: of a schedule.
        least_inflation: below which it is not taken to be: clusters may be too rare to have been seen at all.
    """
    n, over = sum(block[0] for block in blocks), sum(block[1] for block in blocks)
    found = _inflation(blocks, 1)
    for level in range(2, len(blocks[0]) if blocks else 0):
        exceeding = sum(block[level] for block in blocks)
        if exceeding >= max(_FEWEST, _LEAST_SHARE * n):
            if exceeding <= _MOST_SHARE * n:
                found = max(found, _inflation(blocks, level))
            break
    return ShareEvidence(n, over, max(least_inflation, found * _UNSURE if found > 1 else 1.0))


def joined(blocks: BlockCounts, count: int, level: int) -> list[tuple[int, int]]:
    """Return at most `count` blocks of nearly equal length, neighbours put together: requests, and those over a level."""
    size = len(blocks)
    edges = [round(number * size / min(count, size)) for number in range(min(count, size) + 1)]
    return [(sum(block[0] for block in blocks[a:b]), sum(block[level] for block in blocks[a:b])) for a, b in pairwise(edges)]


def _inflation(blocks: BlockCounts, level: int) -> float:
    n, over = sum(block[0] for block in blocks), sum(block[level] for block in blocks)
    if not 0 < over < n or len(blocks) < 2:
        return 1.0
    share, found = over / n, 1.0
    for count in _SCALES:
        if count > max(len(blocks), _SCALES[0]):
            break
        parts = joined(blocks, count, level)
        spread = sum((over_one - share * n_one) ** 2 for n_one, over_one in parts)
        found = max(found, spread / (n * share * (1 - share)) * len(parts) / (len(parts) - 1))
    return found
