"""When a probe of a rate is decided: looks at what has come, each at an error of its own, and an end as soon as it cannot pass any more."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .binomial import shows_below
from .evidence import FAILS, PASSES, UNDECIDED, BlockCounts, ShareEvidence, evidence_of

ALPHA = 0.05
"""How often a rate that is just too high may pass, over all looks of its probe."""
_LOOKS_WORTH, _ENDS_WORTH = 5.0, 2.0
"""Looks that follow each other see mostly the same; so many independent ones are about as likely to err (see rate_search.py): those while a
probe runs, at which it may fail, and those at its end and at the ends of what is added to it, at which it may pass."""
_APART = 1.3
_LEAST_APART = 1.1
_BLOCK_REQUESTS = 15
_FIRST_BLOCKS, _MOST_BLOCKS = 20, 1000
_MOST_LONGER = 3.0
_SHARED_LIMIT = 0.25


@dataclass(frozen=True)
class ProbeRules:
    """By what a probe is judged.

    Args:
        rate: that is probed, requests a second.
        percentile: of requests that must keep the limit.
        limit_s: of latency.
        length_s: of the probe, without its ramp; it goes on for up to `longest_s` where that is enough to decide.
        alpha: over all looks.
    """

    rate: float
    percentile: float
    limit_s: float
    length_s: float
    alpha: float = ALPHA

    @property
    def share(self) -> float:
        """Of requests that may be over the limit."""
        return 1 - self.percentile / 100

    @property
    def alpha_of_look(self) -> float:
        """The error of one look while the probe runs."""
        return self.alpha / _LOOKS_WORTH

    @property
    def alpha_of_end(self) -> float:
        """The error of one look at its end."""
        return self.alpha / _ENDS_WORTH

    @property
    def least_inflation(self) -> float:
        """Requests that count as one at least: those due within a quarter of the limit share what holds them up."""
        return max(1.0, _SHARED_LIMIT * self.rate * self.limit_s)

    @property
    def longest_s(self) -> float:
        """Of the probe at most."""
        return _MOST_LONGER * self.length_s

    @property
    def block_s(self) -> float:
        """Length of a block: of some requests, and not more blocks than are counted at each look in no time."""
        return max(_BLOCK_REQUESTS / self.rate, self.longest_s / _MOST_BLOCKS)


def requests_needed(percentile: float, over: int = 0, alpha: float = ALPHA / _ENDS_WORTH) -> int:
    """Return the fewest requests, with so many over the limit, by which a percentile is certified at one look.

    For the 99th at an error of 0.05: 299, with one over 473, with two 628.
    """
    share = 1 - percentile / 100
    low, high = over, over + 1
    while not shows_below(high, over, share, alpha):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows_below(middle, over, share, alpha) else (middle, high)
    return high


class ProbeJudge:
    """Judges one probe while it runs.

    Args:
        rules: of the probe.
        certifies: whether it passes only once its whole length is over, and may take longer where that decides it; else it passes as soon
            as a look shows it.
    """

    def __init__(self, rules: ProbeRules, *, certifies: bool = True) -> None:
        self._rules, self._certifies = rules, certifies
        self._next_blocks = float(_FIRST_BLOCKS)
        self._next_end_s = rules.length_s
        self.evidence = ShareEvidence(0, 0)

    def look(self, blocks: BlockCounts) -> str:
        """Return `passed` or `failed` where that is shown by now, else an empty text.

        Args:
            blocks: all that are settled, from the first on.
        """
        if len(blocks) >= self._next_blocks:
            while self._next_blocks <= len(blocks):
                self._next_blocks *= _APART
            found = self._decided(blocks, self._rules.alpha_of_look)
            return "" if found == PASSES and self._certifies else found
        # More are over already than the whole probe may have: it cannot pass any more, so the next look need not be waited for.
        if sum(block[1] for block in blocks) > self._rules.share * self._rules.rate * self._rules.length_s:
            return FAILS if self._decided(blocks, self._rules.alpha_of_look) == FAILS else ""
        return ""

    def is_over(self, blocks: BlockCounts, elapsed_s: float) -> bool:
        """Return whether a probe that is not decided ends: its length is over, and up to `longest_s` is not enough either.

        Args:
            blocks: all that are settled.
            elapsed_s: since counting began.
        """
        if elapsed_s < self._next_end_s:
            return False
        if not self._certifies or self._decided(blocks, self._rules.alpha_of_end) or elapsed_s >= self._rules.longest_s:
            return True
        times = self.evidence.times_longer(self._rules.share, self._rules.alpha_of_end)
        self._next_end_s = elapsed_s * min(max(times, _LEAST_APART), _APART)
        return times * elapsed_s > self._rules.longest_s

    def end(self, blocks: BlockCounts) -> str:
        """Return what is shown at the end: `passed`, `failed` or `undecided`."""
        return self._decided(blocks, self._rules.alpha_of_end) or UNDECIDED

    def more_s(self) -> float:
        """Return how many seconds more it would take to decide, if all went on alike; inf where that is out of reach."""
        times = self.evidence.times_longer(self._rules.share, self._rules.alpha_of_end)
        return (times - 1) * self.evidence.n / self._rules.rate if math.isfinite(times) else math.inf

    def _decided(self, blocks: BlockCounts, alpha: float) -> str:
        self.evidence = evidence_of(blocks, self._rules.least_inflation)
        found = self.evidence.verdict(self._rules.share, alpha)
        if found == UNDECIDED or (found == PASSES and not is_steady(blocks, self._rules.share)):
            return ""
        return found


def is_steady(blocks: BlockCounts, share: float) -> bool:
    """Return whether the last quarter of a probe keeps the share by itself: where a queue grows, what came before it makes up for it."""
    last = blocks[-max(1, len(blocks) // 4) :]
    return sum(block[1] for block in last) <= share * sum(block[0] for block in last)
