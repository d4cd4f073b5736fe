"""Whether one of two is better, from measurements of both: effect, interval, test, and one of four words. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarking.analysis.intervals import (
    ConfidenceInterval,
    difference_interval,
    mean_interval,
    standard_deviation,
    student_quantile,
)
from benchmarking.analysis.permutations import holm, least_relabelling_p, least_sign_flip_p, relabelling_p, sign_flip_p
from definitions.schema import Mode

POWER = 0.8
"""Chance with which the number of seeds that is named would decide, were the difference the one measured."""

MOST_SEEDS = 1000


class Scale(StrEnum):
    """How values are compared: by ratios, for what is positive and has a zero; by differences, for shares and what may be negative."""

    RATIO = "ratio"
    DIFFERENCE = "difference"


class Word(StrEnum):
    """What a comparison came to."""

    BETTER = "better"
    TIE = "tie"
    NOT_DECIDED = "not decided"
    ONE_RUN_ONLY = "one run only"
    SAME = "same by construction"
    """No word about the two: both had done the same, so that equal values say nothing, e.g. within a start that they share."""


def possible_range(values: Sequence[float], mode: Mode, scale: Scale) -> tuple[float, float]:
    """Return between what a mean of such values can lie: shares are from 0 to 1, what ratios are taken of is above 0.

    Args:
        values: all that were measured.
        mode: whether less or more is better.
        scale: on which they are compared.
    """
    if mode == "max" and values and all(0.0 <= value <= 1.0 for value in values):
        return 0.0, 1.0
    return (0.0 if scale is Scale.RATIO else -math.inf), math.inf


def possible_leads(values: Sequence[float], mode: Mode, scale: Scale) -> tuple[float, float]:
    """Return between what a mean lead can lie: shares differ by 1 at most, logarithms by anything; arguments as for `possible_range`."""
    low, high = possible_range(values, mode, scale)
    return (low - high, high - low) if scale is Scale.DIFFERENCE else (-math.inf, math.inf)


@dataclass(frozen=True)
class Contrast:
    """How far one is ahead of another, on the scale where it adds up (logarithms for ratios); positive is better.

    Args:
        scale: see `Scale`.
        lead: mean lead, or None where nothing was measured of both.
        interval: of it; None where either has one measurement alone.
        paired: whether the measurements belong together in pairs.
        counts: measurements of each; twice the number of pairs where they are paired.
        correlation: Pearson's, of the pairs; None where they are fewer than three, or one side does not vary.
        spread: standard deviation of one pair's lead; for unpaired ones of a pair drawn at random.
        p: two-sided, of no difference; 1.0 where nothing can be tested.
        least_p: the smallest that so many measurements can have.
        unit: what a threshold is a share of: 1 for ratios and shares, else how large the values are.
        same: pairs of which both sides had done the same, so that they are equal whatever is better.
    """

    scale: Scale
    lead: float | None
    interval: ConfidenceInterval | None
    paired: bool
    counts: tuple[int, int]
    correlation: float | None = None
    spread: float = 0.0
    p: float = 1.0
    least_p: float = 1.0
    unit: float = 1.0
    same: int = 0

    @property
    def can_be_asked(self) -> bool:
        """Whether there is anything to judge: two measurements of each at least, in two pairs at least of which they are not the same."""
        return self.interval is not None and (not self.same or self.counts[0] - self.same > 1)

    def bound(self, threshold: float) -> float:
        """Return the least lead that matters on the contrast's own scale, where a share of the values is given."""
        return math.log1p(threshold) if self.scale is Scale.RATIO else threshold * self.unit

    @property
    def size(self) -> float | None:
        """How many times better (ratio), or by how much (difference)."""
        return None if self.lead is None else self._shown(self.lead)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval of `size`."""
        return None if self.interval is None else (self._shown(self.interval.low), self._shown(self.interval.high))

    def _shown(self, lead: float) -> float:
        if self.scale is Scale.DIFFERENCE:
            return lead
        return math.exp(lead) if lead < 709.0 else math.inf


@dataclass(frozen=True)
class Finding:
    """What a contrast amounts to within its family.

    Args:
        contrast: the measurements.
        word: what it amounts to.
        p: adjusted for the family (Holm); None where so few measurements could not have reached the level whatever they were.
        more: measurements of each in all that would decide it with a chance of 80 %; None where it is decided, or 1,000 would not do.
        nears_tie: whether the lead is one that does not matter, so that `more` would show a tie.
    """

    contrast: Contrast
    word: Word
    p: float | None
    more: int | None
    nears_tie: bool = False

    @property
    def ahead(self) -> bool:
        """Whether the first is the better one, so far as it is decided or not."""
        return (self.contrast.lead or 0.0) > 0


def scale_of(values: Sequence[float], mode: Mode) -> Scale:
    """Return on which scale values of an objective are compared.

    Ratios for times, money, bytes, rates and losses that are all positive; differences where a value is not positive, and for shares: more
    is better and none is above 1 (an accuracy of 0.98 is not "1.01 times better" than one of 0.97).
    """
    if not values or min(values) <= 0:
        return Scale.DIFFERENCE
    return Scale.DIFFERENCE if mode == "max" and max(values) <= 1.0 else Scale.RATIO


def unit_of(samples: Sequence[Sequence[float]], mode: Mode, scale: Scale) -> float:
    """Return what a threshold on differences is a share of: 1 for ratios and for shares, else the largest mean without its sign.

    Args:
        samples: values of each side.
        mode: whether less or more is better.
        scale: on which they are compared.
    """
    values = [value for sample in samples for value in sample]
    if scale is Scale.RATIO or (mode == "max" and all(0.0 <= value <= 1.0 for value in values)):
        return 1.0
    return max((abs(math.fsum(sample) / len(sample)) for sample in samples if sample), default=1.0)


def contrast(
    first: Mapping[int, float],
    second: Mapping[int, float],
    mode: Mode,
    *,
    scale: Scale | None = None,
    paired: bool = True,
    confidence: float = 0.95,
) -> Contrast:
    """Return how far the first is ahead of the second.

    Args:
        first: measurements by the number that pairs them, e.g. of the seed; finite.
        second: the other's, likewise.
        mode: whether less or more is better.
        scale: of the comparison; None for what the values suggest.
        paired: whether equal keys belong together; what has no partner is then left out.
        confidence: of the interval.
    """
    scale = scale or scale_of([*first.values(), *second.values()], mode)
    unit = unit_of([[*first.values()], [*second.values()]], mode, scale)
    sign = -1.0 if mode == "min" else 1.0
    possible = possible_leads([*first.values(), *second.values()], mode, scale)

    def placed(value: float) -> float:
        return sign * (math.log(value) if scale is Scale.RATIO else value)

    if paired:
        pairs = [(placed(first[key]), placed(second[key])) for key in first if key in second]
        leads = [one - other for one, other in pairs]
        if not leads:
            return Contrast(scale, None, None, True, (0, 0))
        return Contrast(
            scale,
            math.fsum(leads) / len(leads),
            _within(mean_interval(leads, confidence), possible),
            True,
            (len(leads), len(leads)),
            _correlation(pairs),
            standard_deviation(leads),
            sign_flip_p(leads) if len(leads) > 1 else 1.0,
            least_sign_flip_p(sum(lead != 0 for lead in leads)),
            unit,
        )
    mine, theirs = [placed(value) for value in first.values()], [placed(value) for value in second.values()]
    if not mine or not theirs:
        return Contrast(scale, None, None, False, (len(mine), len(theirs)))
    return Contrast(
        scale,
        math.fsum(mine) / len(mine) - math.fsum(theirs) / len(theirs),
        _within(difference_interval(mine, theirs, confidence), possible),
        False,
        (len(mine), len(theirs)),
        None,
        math.hypot(standard_deviation(mine), standard_deviation(theirs)),
        relabelling_p(mine, theirs) if min(len(mine), len(theirs)) > 1 else 1.0,
        least_relabelling_p(len(mine), len(theirs)),
        unit,
    )


def _within(interval: ConfidenceInterval | None, possible: tuple[float, float]) -> ConfidenceInterval | None:
    return None if interval is None else interval.within(possible)


def decide(
    contrasts: Sequence[Contrast], threshold: float, level: float = 0.05, *, family: int | None = None, plan: bool = True
) -> list[Finding]:
    """Return what each contrast of a family amounts to, so that "better" is said wrongly anywhere in it at most so often.

    *Better*: significant after Holm, its interval without zero, and the lead beyond the threshold. *Tie*: the interval within it.
    What cannot be asked, for want of measurements, is no part of the family: counts decide that, never values.

    Args:
        contrasts: all that are asked at once.
        threshold: least lead that matters, e.g. 0.01: one per cent for ratios, as it stands for shares, else one per cent of the values.
        level: of the family.
        family: how many contrasts could have been asked for instead of these; None for those that can be.
        plan: whether to find out how many more measurements would decide what is not decided.
    """
    asked = [index for index, one in enumerate(contrasts) if one.can_be_asked]
    adjusted = holm([contrasts[index].p for index in asked], family)
    # Were each as extreme as it can be: who is not rejected then never is, and its p value would only mislead.
    least = holm([contrasts[index].least_p for index in asked], family)
    p_of = {index: p if lowest <= level else None for index, p, lowest in zip(asked, adjusted, least, strict=True)}
    size = family or len(asked)
    return [_finding(one, p_of.get(index), threshold, level, size if plan else None) for index, one in enumerate(contrasts)]


def _finding(one: Contrast, p: float | None, threshold: float, level: float, family: int | None) -> Finding:
    bound = one.bound(threshold)
    if one.lead is None or one.interval is None:
        return Finding(one, Word.ONE_RUN_ONLY, None, None)
    if not one.can_be_asked:
        return Finding(one, Word.SAME, None, None)
    if p is not None and p <= level and one.interval.excludes(0.0) and abs(one.lead) > bound:
        return Finding(one, Word.BETTER, p, None)
    if one.interval.is_within(bound) and _may_be_a_tie(one, one.counts, level):
        return Finding(one, Word.TIE, p, None)
    more = None if family is None else seeds_to_decide(one, bound, level, family)
    return Finding(one, Word.NOT_DECIDED, p, more, abs(one.lead) <= bound)


def _may_be_a_tie(one: Contrast, counts: tuple[int, int], level: float) -> bool:
    """Return whether so many measurements can show a tie.

    Leads that are all equal have an interval without width, however few they are, which tells nothing of those that did not come up yet:
    as many are needed as could have shown a difference. What was tested by Student's t has the spread of other measurements too.
    """
    if one.spread > 0.0 or one.least_p == 0.0:
        return True
    return (least_sign_flip_p(counts[0]) if one.paired else least_relabelling_p(*counts)) <= level


def seeds_to_decide(one: Contrast, bound: float, level: float, family: int) -> int | None:
    """Return how many measurements of each would decide a contrast with a chance of 80 %, were lead and spread the measured ones.

    Power of Student's test from the noncentral t distribution (Cohen, Statistical Power Analysis, 1988, ch. 2), at level / family, as the
    first of Holm's steps has it; for a lead below the bound, when the interval would lie within it, however a new lead of that spread fell.

    Args:
        one: a contrast with an interval.
        bound: least lead that matters, on the contrast's own scale.
        level: of the family.
        family: how many contrasts it has.
    """
    lead, spread, size = abs(one.lead or 0.0), one.spread, max(one.counts)

    def decides(n: int) -> bool:
        error = spread / math.sqrt(n)
        freedom = n - 1 if one.paired else 2 * n - 2
        if lead <= bound and spread == 0.0:
            return _may_be_a_tie(one, (n, n), level)
        if lead <= bound:
            # A tie: what lies between lead and bound must hold the interval's half width, and how far the lead measured then may be off.
            off = student_quantile((1 + POWER) / 2, freedom) * error
            return student_quantile(1 - level / 2, freedom) * error + off < bound - lead
        # What was tested by Student's t has no least p.
        least = 0.0 if one.least_p == 0.0 else least_sign_flip_p(n) if one.paired else least_relabelling_p(n, n)
        return least * family <= level and _power(lead, error, freedom, level / family) >= POWER

    # What so many decide more do too, so half of the numbers are ruled out at each step.
    numbers = range(max(3, min(one.counts) + 1), MOST_SEEDS + 1)
    place = bisect_left(numbers, True, key=decides)
    if place == len(numbers):
        return None
    return numbers[place] if lead <= bound else max(numbers[place], size + 1)


def _power(lead: float, error: float, freedom: int, level: float) -> float:
    if error == 0.0:
        return 1.0
    from scipy.special import nctdtr

    return 1.0 - float(nctdtr(freedom, lead / error, student_quantile(1 - level / 2, freedom)))


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 3:
        return None
    means = [math.fsum(side) / len(pairs) for side in zip(*pairs, strict=True)]
    products = math.fsum((one - means[0]) * (other - means[1]) for one, other in pairs)
    squares = [math.fsum((value - mean) ** 2 for value in side) for side, mean in zip(zip(*pairs, strict=True), means, strict=True)]
    return products / math.sqrt(squares[0] * squares[1]) if all(squares) else None
