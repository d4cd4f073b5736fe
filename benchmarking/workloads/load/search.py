"""The search for the largest rate that an endpoint carries: by doubling, then to 20, 10 and 5 %. Pure: told verdicts, it asks rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from .evidence import FAILS, PASSES, UNDECIDED

PROMISING = "promising"
"""Of a rate that a short probe found nothing against: it says where to look next, and certifies nothing."""

RUNG_RATIOS = (math.inf, 1.2, 1.1, 1.05)
"""By rung, from 1: how many times the largest rate that passed the smallest above it that failed may be."""
FULL_RUNG = len(RUNG_RATIOS)
_LOWEST_SHARE = 1 / 1024
"""Of the first rate: where none passes down to it, the search ends with rate 0."""
_MOST_UNDECIDED = 3
"""Rates that neither passed nor failed, before any that passed: lower ones take longer, and a client that lags lags there too. Above one
that passed likewise: probes of this length do not tell them apart."""
_HIGHER = 1.1


@dataclass(frozen=True)
class ProbedRate:
    """A rate that was probed, and what came of it: passed, failed, promising, undecided or client-bound."""

    rate: float
    verdict: str


@dataclass(frozen=True)
class PlannedProbe:
    """A rate to probe next, and whether the probe is to certify it: then it is held for its whole length before it may pass."""

    rate: float
    certifies: bool


@dataclass
class RateSearch:
    """A search; ask `next_probe`, probe it, `tell` what came of it, until there is none.

    Rates are doubled by short probes until one does not look well; from then on only whole probes count. The largest rate that passed is a
    lower bound of what the endpoint carries at every rung, and grows from rung to rung. A rung says how near the truth is, so its upper end
    is a rate that failed, or the upper end of an estimate from all probes: one that stays undecided, or that the client was too slow for,
    ends the search all the same, without a rung.

    Args:
        first_rate: requests a second to begin with, above 0.
        highest_rate: beyond which is not asked; inf for none.
        full: the rung at which it is over.
        estimated_high: below which the truth lies by an estimate from all probes; inf for none.
    """

    first_rate: float
    highest_rate: float = math.inf
    full: int = FULL_RUNG
    probed: list[ProbedRate] = field(default_factory=list)
    estimated_high: float = math.inf

    @property
    def passed(self) -> float:
        """The largest rate that passed; 0 where none did."""
        return max((one.rate for one in self.probed if one.verdict == PASSES), default=0.0)

    @property
    def not_passed(self) -> float:
        """The smallest rate above it that did not, failed or not; inf where all passed."""
        return self._least_above(lambda verdict: verdict not in (PASSES, PROMISING))

    @property
    def failed(self) -> float:
        """The smallest rate above it that failed; inf where none did."""
        return self._least_above(lambda verdict: verdict == FAILS)

    @property
    def promising(self) -> float:
        """The largest rate that is promising, above those that passed and below those that did not; 0 where there is none."""
        low, high = self.passed, self.not_passed
        return max((one.rate for one in self.probed if one.verdict == PROMISING and low < one.rate < high), default=0.0)

    @property
    def rung(self) -> int:
        """The rung that is reached, from 0: none."""
        low = self.passed
        high = max(low, min(self.failed, self.estimated_high))
        if self._is_hopeless or (low >= self.highest_rate and math.isinf(self.not_passed)):
            return self.full
        if not low or math.isinf(high):
            return 0
        return sum(high / low <= ratio * (1 + 1e-9) for ratio in RUNG_RATIOS)

    @property
    def next_probe(self) -> PlannedProbe | None:
        """What to probe next; None where the search is over."""
        low, high = self.passed, self.not_passed
        if self.rung >= self.full:
            return None
        if not self.probed:
            return PlannedProbe(min(self.first_rate, self.highest_rate), False)
        promising = self.promising
        if promising and (math.isfinite(high) or promising >= self.highest_rate):
            return PlannedProbe(promising, True)
        if math.isinf(high):
            return PlannedProbe(min(2 * max(low, promising), self.highest_rate), False)
        if not low:
            return PlannedProbe(high / 2, True)
        # What is undecided lies near the truth: it is closed in from both sides, each to half of what the last rung leaves.
        ratio = RUNG_RATIOS[self.full - 1]
        step = (math.sqrt(ratio) if self.is_at_least else ratio) * (1 + 1e-9)
        return PlannedProbe(math.sqrt(low * high), True) if high / low > step else self._above_undecided(step)

    @property
    def is_at_least(self) -> bool:
        """Whether the largest rate that passed is a lower bound alone: what is next above it neither passed nor failed."""
        return self.not_passed < self.failed

    @property
    def _is_hopeless(self) -> bool:
        """Whether none passes: even a thousandth of the first rate did not, or lower ones come no nearer to a decision."""
        if self.passed or self.promising or not self.probed:
            return False
        open_ones = sum(one.verdict not in (FAILS, PROMISING) for one in self.probed)
        return self.not_passed <= self.first_rate * _LOWEST_SHARE or open_ones >= _MOST_UNDECIDED

    def _above_undecided(self, step: float) -> PlannedProbe | None:
        """Return a probe that may fail above rates that stay undecided; None where there are none, or it would not bring more."""
        unsettled = [one for one in self.probed if one.verdict not in (PASSES, PROMISING) and self.passed < one.rate < self.failed]
        if not unsettled or len(unsettled) > _MOST_UNDECIDED:
            return None
        top = max(unsettled, key=lambda one: one.rate)
        if top.verdict != UNDECIDED:  # where the client is too slow, it is too slow above
            return None
        if math.isinf(self.failed):
            return PlannedProbe(_HIGHER * top.rate, True)
        return PlannedProbe(math.sqrt(top.rate * self.failed), True) if self.failed / top.rate > step else None

    def _least_above(self, is_meant: Callable[[str], bool]) -> float:
        passed = self.passed
        return min((one.rate for one in self.probed if is_meant(one.verdict) and one.rate > passed), default=math.inf)

    def tell(self, rate: float, verdict: str) -> None:
        """Take what a probe of a rate came to."""
        self.probed.append(ProbedRate(rate, verdict))
