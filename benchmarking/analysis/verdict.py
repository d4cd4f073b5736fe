"""Which configuration is best, by how much, and whether the measurements can carry that. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarking.analysis.effects import Contrast, Scale, Word, contrast, decide, scale_of, seeds_to_decide, unit_of
from benchmarking.analysis.intervals import ConfidenceInterval, student_quantile
from benchmarking.analysis.permutations import least_relabelling_p, least_sign_flip_p
from definitions.schema import Mode

THRESHOLD = 0.01
"""Least lead that matters where nobody says another: one per cent, one point of a share."""


@dataclass(frozen=True)
class Measured:
    """The repeated measurements of one configuration.

    Args:
        evaluation: its id.
        configuration: the point of the space.
        values: (n_repeats,) values of the primary objective, finite.
        numbers: (n_repeats,) what pairs a value with another configuration's, e.g. which repeat it is; empty for 0, 1, 2, ...
        disturbed: whether something else used the machine in each of them, so that they decide nothing.
    """

    evaluation: int
    configuration: Mapping[str, Any]
    values: Sequence[float]
    numbers: Sequence[int] = ()
    disturbed: bool = False

    @property
    def mean(self) -> float:
        """Arithmetic mean of the values."""
        return math.fsum(self.values) / len(self.values)

    @property
    def by_number(self) -> dict[int, float]:
        """The values by what pairs them."""
        return dict(zip(self.numbers or range(len(self.values)), self.values, strict=True))


@dataclass(frozen=True)
class Comparison:
    """The leader, or a baseline, against one other configuration.

    Args:
        other: the other one.
        factor: how many times better the leader is; None where values are compared by differences.
        difference: by how much it is better, in units of the objective.
        interval: joint 95 % confidence interval of the factor (else of the difference); None where nothing was measured twice.
        word: what it amounts to.
        p: adjusted for the family; None where so few measurements cannot be significant.
        more: repeats that would decide it; None where it is decided, nobody was asked, or 1,000 would not do.
        test: how p was found.
        emulated: whether it cannot be decided as one of the two is an emulation, or both are different ones.
    """

    other: Measured
    factor: float | None
    difference: float
    interval: tuple[float, float] | None
    word: Word = Word.NOT_DECIDED
    p: float | None = None
    more: int | None = None
    test: str = ""
    emulated: bool = False

    @property
    def decided(self) -> bool:
        """Whether one of the two is better."""
        return self.word is Word.BETTER


@dataclass(frozen=True)
class Ranking:
    """The leader, or the baseline that was asked for, and how it compares with the others: the best of them first."""

    leader: Measured
    comparisons: tuple[Comparison, ...]

    @property
    def tied(self) -> tuple[Comparison, ...]:
        """Those that the measurements do not separate from the leader."""
        return tuple(comparison for comparison in self.comparisons if not comparison.decided)


def without_emulations(ranking: Ranking | None, emulation: Callable[[Measured], str]) -> Ranking | None:
    """Return a ranking in which nothing is decided between an emulation and the real thing, nor between two emulations.

    Args:
        ranking: None where nothing was measured.
        emulation: of a configuration, by name; empty where it is real.
    """
    if ranking is None:
        return None
    mine = emulation(ranking.leader)
    return Ranking(
        ranking.leader,
        tuple(
            replace(one, word=Word.NOT_DECIDED, more=None, emulated=True) if emulation(one.other) != mine else one
            for one in ranking.comparisons
        ),
    )


def judge(
    measured: Sequence[Measured],
    mode: Mode,
    confidence: float = 0.95,
    *,
    paired: bool = False,
    threshold: float = THRESHOLD,
    baseline: int | None = None,
) -> Ranking | None:
    """Return the verdict on an objective, or None where nothing was measured.

    Ratios or differences, as `effects.scale_of` says. Where there are enough repeats that an exact test can reach the level, each is
    compared with the leader as methods are over seeds (`effects.contrast`). With fewer, the spread is pooled over all configurations and
    Student's t used (equal relative spread where ratios are compared); of interleaved repeats what all configurations have in common is
    taken out first, as of blocks (Montgomery, Design and Analysis of Experiments, ch. 4). Which of the two depends on counts alone.
    The leader is chosen by the same values, so that the family is all pairs of configurations; with a baseline it is those with it.
    Intervals hold jointly (Bonferroni; Miller, Simultaneous Statistical Inference, 1981, ch. 2).

    Args:
        measured: (n_configurations,) each with at least one value.
        mode: whether less or more is better.
        confidence: joint level of the intervals.
        paired: whether values of equal number belong together, as the repeats of interleaved configurations do.
        threshold: least lead that matters, see `effects.decide`.
        baseline: number of the configuration that the others are compared with; None for the leader.
    """
    usable = [entry for entry in measured if entry.values]
    if not usable:
        return None
    everything = [value for entry in usable for value in entry.values]
    scale, sign = scale_of(everything, mode), 1.0 if mode == "min" else -1.0
    centres = {entry.evaluation: _centre(entry.values, scale) for entry in usable}
    # Step 1: rank by means, geometric ones where ratios are compared; the first is the leader.
    ranked = sorted(usable, key=lambda entry: (sign * centres[entry.evaluation], entry.evaluation))
    leader = next((entry for entry in ranked if entry.evaluation == baseline), ranked[0])
    others = [entry for entry in ranked if entry is not leader]
    # Step 2: how many comparisons there could have been.
    family = max(1, len(others) if baseline is not None else len(ranked) * (len(ranked) - 1) // 2)
    level = 1 - confidence
    # Step 3: one spread for all configurations that have too few repeats for an exact test.
    spread = _Spread.of(usable, scale, paired=paired)
    contrasts = [_contrast(leader, other, mode, scale, spread, level / family, paired=paired) for other in others]
    # Step 4: one of four words for each.
    findings = decide(contrasts, threshold, level, family=family, plan=False)
    comparisons = []
    for number, (other, found) in enumerate(zip(others, findings, strict=True)):
        one = found.contrast
        # What was measured beside other load alone may be as it is for that.
        spoilt = leader.disturbed or other.disturbed
        word = Word.NOT_DECIDED if spoilt else found.word
        # How many repeats more is looked for where it is said: of the nearest one.
        wanted = number == 0 and word is Word.NOT_DECIDED and not spoilt
        more = seeds_to_decide(one, one.bound(threshold), level, family) if wanted else None
        factor = one.size if scale is Scale.RATIO else None
        test = "pooled Student's t" if one.least_p == 0.0 else "exact"
        comparisons.append(
            Comparison(other, factor, sign * (other.mean - leader.mean), one.bounds, word, found.p, more, test if one.interval else "")
        )
    return Ranking(leader, tuple(comparisons))


@dataclass(frozen=True)
class _Spread:
    """Standard deviation of a single measurement, pooled, and its degrees of freedom; `blocks`: repeats were interleaved."""

    deviation: float
    freedom: int
    blocks: bool

    @staticmethod
    def of(measured: Sequence[Measured], scale: Scale, *, paired: bool) -> _Spread | None:
        """Return it, or None where nothing was measured twice."""
        placed = [{number: _placed(value, scale) for number, value in entry.by_number.items()} for entry in measured]
        numbers = set(placed[0])
        if paired and len(placed) > 1 and len(numbers) > 1 and all(set(entry) == numbers for entry in placed):
            # Two-way layout: what is left of a value without its configuration's mean and its repeat's.
            rows = [math.fsum(entry.values()) / len(entry) for entry in placed]
            columns = {number: math.fsum(entry[number] for entry in placed) / len(placed) for number in numbers}
            grand = math.fsum(rows) / len(rows)
            left = [entry[number] - row - columns[number] + grand for entry, row in zip(placed, rows, strict=True) for number in numbers]
            freedom = (len(placed) - 1) * (len(numbers) - 1)
            return _Spread(_root(left, [*columns.values(), *rows], freedom), freedom, blocks=True)
        freedom = sum(len(entry) - 1 for entry in placed)
        if not freedom:
            return None
        means = [math.fsum(entry.values()) / len(entry) for entry in placed]
        left = [value - mean for entry, mean in zip(placed, means, strict=True) for value in entry.values()]
        return _Spread(_root(left, means, freedom), freedom, blocks=False)


def _root(residuals: Sequence[float], sizes: Sequence[float], freedom: int) -> float:
    found = math.sqrt(math.fsum(value * value for value in residuals) / freedom)
    # What rounding alone leaves is no spread.
    return found if found > 1e-14 * max(map(abs, sizes)) else 0.0


def _contrast(
    leader: Measured, other: Measured, mode: Mode, scale: Scale, spread: _Spread | None, level: float, *, paired: bool
) -> Contrast:
    mine, theirs = leader.by_number, other.by_number
    common = len(set(mine) & set(theirs))
    together = paired and common > 1
    least = least_sign_flip_p(common) if together else least_relabelling_p(len(mine), len(theirs))
    if least <= level or spread is None:
        return contrast(mine, theirs, mode, scale=scale, paired=together, confidence=1 - level)
    sign = 1.0 if mode == "min" else -1.0
    lead = sign * (_centre(other.values, scale) - _centre(leader.values, scale))
    error = spread.deviation * math.sqrt(1 / len(mine) + 1 / len(theirs))
    half = student_quantile(1 - level / 2, spread.freedom) * error
    return Contrast(
        scale,
        lead,
        ConfidenceInterval(lead - half, lead + half, "pooled Student's t"),
        spread.blocks,
        (len(mine), len(theirs)),
        spread=spread.deviation * math.sqrt(2),
        p=_two_sided(lead, error, spread.freedom),
        least_p=0.0,
        unit=unit_of([leader.values, other.values], mode, scale),
    )


def _two_sided(lead: float, error: float, freedom: int) -> float:
    if error == 0.0:
        return 1.0 if lead == 0.0 else 0.0
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -abs(lead) / error))


def _placed(value: float, scale: Scale) -> float:
    return math.log(value) if scale is Scale.RATIO else value


def _centre(values: Sequence[float], scale: Scale) -> float:
    return math.fsum(_placed(value, scale) for value in values) / len(values)
