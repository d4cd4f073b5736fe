"""The search for the largest rate that an endpoint carries: by doubling, then to 20, 10 and 5 %. Pure: told verdicts, it asks rates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .evidence import FAILS, PASSES

RUNG_RATIOS = (math.inf, 1.2, 1.1, 1.05)
"""By rung, from 1: how many times the largest rate that passed the smallest above it that did not may be."""
FULL_RUNG = len(RUNG_RATIOS)
_LOWEST_SHARE = 1 / 1024
"""Of the first rate: where none passes down to it, the search ends with rate 0."""
_MOST_UNDECIDED = 3
"""Rates that neither passed nor failed, before any that passed: lower ones take longer, and a client that lags lags there too."""


@dataclass(frozen=True)
class ProbedRate:
    """A rate that was probed, and what came of it: passed, failed, undecided or client-bound."""

    rate: float
    verdict: str


@dataclass
class RateSearch:
    """A search; ask `next_rate`, probe it, `tell` what came of it, until there is no next rate.

    Whatever did not pass counts as the upper end: the largest rate that passed is a lower bound of what the endpoint carries at every rung,
    and grows from rung to rung.

    Args:
        first_rate: requests a second to begin with, above 0.
        highest_rate: beyond which is not asked; inf for none.
        full: the rung at which it is over.
    """

    first_rate: float
    highest_rate: float = math.inf
    full: int = FULL_RUNG
    probed: list[ProbedRate] = field(default_factory=list)

    @property
    def passed(self) -> float:
        """The largest rate that passed; 0 where none did."""
        return max((one.rate for one in self.probed if one.verdict == PASSES), default=0.0)

    @property
    def not_passed(self) -> float:
        """The smallest rate above it that did not; inf where all passed."""
        passed = self.passed
        return min((one.rate for one in self.probed if one.verdict != PASSES and one.rate > passed), default=math.inf)

    @property
    def rung(self) -> int:
        """The rung that is reached, from 0: none."""
        low, high = self.passed, self.not_passed
        if self._is_hopeless or (low >= self.highest_rate and math.isinf(high)):
            return self.full
        if not low or math.isinf(high):
            return 0
        return sum(high / low <= ratio * (1 + 1e-9) for ratio in RUNG_RATIOS)

    @property
    def next_rate(self) -> float | None:
        """The rate to probe next; None where the search is over."""
        low, high = self.passed, self.not_passed
        if self.rung >= self.full:
            return None
        if not self.probed:
            return min(self.first_rate, self.highest_rate)
        if not low:
            return high / 2
        if math.isinf(high):
            return min(2 * low, self.highest_rate)
        return math.sqrt(low * high)

    @property
    def _is_hopeless(self) -> bool:
        """Whether none passes: even a thousandth of the first rate did not, or lower ones come no nearer to a decision."""
        if self.passed or not self.probed:
            return False
        return self.not_passed <= self.first_rate * _LOWEST_SHARE or sum(one.verdict != FAILS for one in self.probed) >= _MOST_UNDECIDED

    def tell(self, rate: float, verdict: str) -> int | None:
        """Take what a probe of a rate came to.

        Returns:
            the rung that is reached by it, where it is higher than before; else None.
        """
        before = self.rung
        self.probed.append(ProbedRate(rate, verdict))
        return self.rung if self.rung > before else None
