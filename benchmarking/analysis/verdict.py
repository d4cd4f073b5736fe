"""Which configuration is best, by how much, and whether the measurements can carry that. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.analysis.intervals import student_quantile
from definitions.schema import Mode


@dataclass(frozen=True)
class Measured:
    """The repeated measurements of one configuration.

    Args:
        evaluation: its id.
        configuration: the point of the space.
        values: (n_repeats,) values of the primary objective, finite.
    """

    evaluation: int
    configuration: Mapping[str, Any]
    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Arithmetic mean of the values."""
        return math.fsum(self.values) / len(self.values)


@dataclass(frozen=True)
class Comparison:
    """The leader against one other configuration.

    Args:
        other: the other one.
        factor: how many times better the leader is; None where values are not all positive.
        difference: by how much it is better, in units of the objective.
        interval: joint 95 % confidence interval of the factor (else of the difference); None where nothing was measured twice.
    """

    other: Measured
    factor: float | None
    difference: float
    interval: tuple[float, float] | None

    @property
    def decided(self) -> bool:
        """Whether the interval excludes a tie."""
        return self.interval is not None and self.interval[0] > (1.0 if self.factor is not None else 0.0)


@dataclass(frozen=True)
class Ranking:
    """The leader and how it compares with the others, the nearest first."""

    leader: Measured
    comparisons: tuple[Comparison, ...]

    @property
    def tied(self) -> tuple[Comparison, ...]:
        """Those that the measurements do not separate from the leader."""
        return tuple(comparison for comparison in self.comparisons if not comparison.decided)


def judge(measured: Sequence[Measured], mode: Mode, confidence: float = 0.95) -> Ranking | None:
    """Return the verdict on an objective, or None where nothing was measured.

    Where all values are positive they are compared on a log scale, so that the answer is a factor. The spread of repeats is pooled over
    configurations (equal relative spread; Student's t with the pooled degrees of freedom), and the level is divided by the number of
    comparisons (Bonferroni; Miller, Simultaneous Statistical Inference, 1981, ch. 2), so that all intervals hold jointly.

    Args:
        measured: (n_configurations,) each with at least one value.
        mode: whether less or more is better.
        confidence: joint level of the intervals.
    """
    usable = [entry for entry in measured if entry.values]
    if not usable:
        return None
    positive = all(value > 0 for entry in usable for value in entry.values)
    sign = 1.0 if mode == "min" else -1.0

    def centre(entry: Measured) -> float:
        values = [math.log(value) for value in entry.values] if positive else list(entry.values)
        return math.fsum(values) / len(values)

    # Step 1: rank by means, geometric ones where all values are positive; the first is the leader.
    ranked = sorted(usable, key=lambda entry: (sign * centre(entry), entry.evaluation))
    leader = ranked[0]
    # Step 2: one spread for all configurations, pooled over their repeats.
    freedom = sum(len(entry.values) - 1 for entry in usable)
    spread = math.sqrt(_squares(usable, positive) / freedom) if freedom else None
    # Step 3: Student's quantile, its level divided by the number of comparisons.
    quantile = student_quantile(1 - (1 - confidence) / (2 * max(1, len(ranked) - 1)), freedom) if freedom else 0.0
    # Step 4: the leader's lead over each other one, with the standard error of a difference of two means.
    comparisons = []
    for other in ranked[1:]:
        gap = sign * (centre(other) - centre(leader))
        interval = None
        if spread is not None:
            half = quantile * spread * math.sqrt(1 / len(leader.values) + 1 / len(other.values))
            interval = (_exp(gap - half), _exp(gap + half)) if positive else (gap - half, gap + half)
        difference = sign * (other.mean - leader.mean)
        comparisons.append(Comparison(other, _exp(gap) if positive else None, difference, interval))
    return Ranking(leader, tuple(comparisons))


def _exp(exponent: float) -> float:
    # With one degree of freedom and many comparisons an interval can be wider than a float can say.
    return math.exp(exponent) if exponent < 709.0 else math.inf


def _squares(measured: Sequence[Measured], positive: bool) -> float:
    total = 0.0
    for entry in measured:
        values = [math.log(value) for value in entry.values] if positive else list(entry.values)
        mean = math.fsum(values) / len(values)
        total += math.fsum((value - mean) ** 2 for value in values)
    return total
