"""Methods against a baseline, by seeds, on one benchmark or several: what each difference amounts to in the family of all. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarking.analysis.effects import Finding, Scale, Word, decide
from benchmarking.analysis.intervals import ConfidenceInterval, mean_interval
from benchmarking.analysis.step_curves import StepCurve, censored_median
from benchmarking.comparison.budgets import Done, FirstToEnd
from benchmarking.comparison.measured_methods import MeasuredMethods
from benchmarking.comparison.question import AGGREGATES
from benchmarking.comparison.runs import Axis
from definitions.schema import Mode


@dataclass(frozen=True)
class MethodRow:
    """One method on one benchmark.

    Args:
        method: its name.
        finals: seed -> best value at the common budget; seeds without any by then are absent.
        value: aggregate of these; None where there are none.
        interval: of their mean.
        missing: seeds that had no result by then.
        copies: seed -> seeds that ran exactly the same, and count once.
        final: how it compares with the baseline at the common budget; None for the baseline itself.
        reach: seed -> where it reached the target; None where it never did.
        sooner: how it compares with the baseline in reaching the target (those that never did count with the budget they had); None
            where that was not asked, as it is of those alone whose final values are decided.
        regret: seed -> area between its curve and the best known value, divided by its length, from where all curves have begun.
        seconds, dollars: median over seeds of what it took to reach the target; those that never did count as longer; None where that is
            the middle one, or no price is known.
        emulated: whether its speed or cost cannot be compared with the baseline's, as one of them ran on an emulator and the other did not.
    """

    method: str
    finals: Mapping[int, float]
    value: float | None
    interval: ConfidenceInterval | None
    missing: Sequence[int]
    copies: Mapping[int, Sequence[int]]
    final: Finding | None
    reach: Mapping[int, float | None]
    sooner: Finding | None
    regret: Mapping[int, float] = field(default_factory=dict)
    seconds: float | None = None
    dollars: float | None = None
    emulated: bool = False


@dataclass(frozen=True)
class BenchmarkComparison:
    """All methods on one benchmark.

    Args:
        benchmark: its name.
        objective: what was compared; `mode`: whether less or more is better.
        axis: on which equal budgets were given; `at`: the budget.
        baseline: the method that the others were compared with.
        target: value that was to be reached: the baseline's median at the budget; None where it has none.
        best_known: best value of any run; `best_known_of`: the run that had it.
        dollars: their kind; empty where it is not known.
        first_to_end: the run whose end set the budget and cut others short; None where there is none.
        family: comparisons of final values, of all benchmarks, that were judged together.
        done: method -> seed -> what it had done by the budget.
        aggregate: of the seeds, which is each row's value.
        possible: between what values can lie, at which intervals end.
        rows: the baseline first.
        scale: how values were compared.
        confidence: of all intervals.
    """

    benchmark: str
    objective: str
    mode: Mode
    axis: Axis
    at: float
    baseline: str
    target: float | None
    best_known: float | None
    rows: Sequence[MethodRow]
    scale: Scale
    confidence: float
    best_known_of: str = ""
    dollars: str = ""
    first_to_end: FirstToEnd | None = None
    family: int = 0
    done: Mapping[str, Mapping[int, Done]] = field(default_factory=dict)
    aggregate: str = "mean"
    possible: tuple[float, float] = (-math.inf, math.inf)


def compare_benchmarks(found: Sequence[MeasuredMethods]) -> list[BenchmarkComparison]:
    """Return how the methods of each benchmark compare; the unit is the experiment, never a trial or a report.

    All comparisons of final values are one family, over all benchmarks: whoever reads them looks for a "better" anywhere. Whether a method
    came to the target sooner is asked of those alone whose values are decided (a gate: Dmitrienko and Tamhane, Gatekeeping procedures with
    clinical trial applications, 2007), in a family of the same size, so that where nothing differs nothing more can be wrong.

    Args:
        found: what each benchmark's methods came to; what was asked of them is alike but for the baseline.
    """
    if not found:
        return []
    threshold, level = found[0].question.threshold, found[0].question.judged_level
    pairs = [(place, method) for place, one in enumerate(found) for method in one.leads]
    # Between an emulator and the real thing nothing is asked.
    asked_of = [(place, method) for place, method in pairs if method not in found[place].emulated]
    decided = {pair: Finding(found[pair[0]].leads[pair[1]], Word.NOT_DECIDED, None, None) for pair in pairs}
    decided |= zip(asked_of, decide([found[place].leads[method] for place, method in asked_of], threshold, level), strict=True)
    family = sum(found[place].leads[method].can_be_asked for place, method in asked_of)
    gated = [pair for pair in asked_of if decided[pair].word is Word.BETTER and found[pair[0]].target is not None]
    waits = [found[place].waits(method, 1 - level) for place, method in gated]
    sooner = dict(zip(gated, decide(waits, threshold, level, family=family, plan=False), strict=True))
    made = []
    for place, one in enumerate(found):
        rows = [_row(one, method, decided.get((place, method)), sooner.get((place, method))) for method in one.order]
        made.append(_comparison(one, rows, family))
    return made


def _row(one: MeasuredMethods, method: str, final: Finding | None, sooner: Finding | None) -> MethodRow:
    """Return what is said of a method."""
    finals, curves = one.finals[method], one.curves[method]
    known = [curve.at[0] for mine in one.curves.values() for curve in mine.values() if curve.at and curve.at[0] <= one.budget.at]
    best = None if one.best is None else one.best[0]
    interval = mean_interval([*finals.values()], 1 - one.question.judged_level)
    return MethodRow(
        method,
        finals,
        AGGREGATES[one.question.aggregate]([*finals.values()]) if finals else None,
        None if interval is None else interval.within(one.possible),
        [number for number in curves if number not in finals],
        one.kept[method][1],
        final,
        one.reach(method),
        sooner,
        _regrets(curves, best, one.budget.at, max(known, default=one.budget.at)),
        censored_median([None if each is None else each.wallclock for each in one.arrivals[method].values()]),
        censored_median([None if each is None else each.cost for each in one.arrivals[method].values()]) if one.dollars else None,
        emulated=method in one.emulated,
    )


def _comparison(one: MeasuredMethods, rows: Sequence[MethodRow], family: int) -> BenchmarkComparison:
    """Return all that is said of the benchmark."""
    best = one.best or (None, "")
    return BenchmarkComparison(
        one.runs[0].benchmark,
        one.objective,
        one.mode,
        one.budget.axis,
        one.budget.at,
        one.order[0],
        one.target,
        best[0],
        rows,
        one.scale,
        1 - one.question.judged_level,
        best[1],
        one.dollars,
        one.budget.first_to_end,
        family,
        one.done,
        one.question.aggregate,
        one.possible,
    )


def _regrets(curves: Mapping[int, StepCurve], best: float | None, until: float, since: float) -> dict[int, float]:
    if best is None:
        return {}
    found = {number: curve.mean_regret(best, until, since) for number, curve in curves.items()}
    return {number: value for number, value in found.items() if value is not None}
