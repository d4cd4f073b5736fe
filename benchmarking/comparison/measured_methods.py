"""What the methods on one benchmark came to at a common budget, and how far ahead each is, before anything is decided. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarking.analysis.effects import Contrast, Scale, contrast, possible_range, scale_of
from benchmarking.analysis.step_curves import StepCurve
from benchmarking.comparison.alike import one_kind_of_dollars
from benchmarking.comparison.budgets import CommonBudget, Done, common_budget, done_by
from benchmarking.comparison.question import ComparisonQuestion, baseline_of, objective_of
from benchmarking.comparison.runs import Axis, ComparedRun, Measurement, distinct
from definitions.parts import is_money, is_timed
from definitions.schema import Mode


@dataclass(frozen=True)
class MeasuredMethods:
    """What the runs of one benchmark came to, before anything is decided.

    Args:
        question: what was asked; `runs`: all, by method those that count, and copies of these.
        objective, mode, scale: what is compared, and how; `budget`: where.
        order: methods, the baseline first; `curves`, `finals`: method -> seed -> best so far, and its value at the budget.
        done: method -> seed -> what it had done by then.
        arrivals: method -> seed -> the measurement that reached the target; `target`: None where the baseline has no value.
        leads: method -> its contrast with the baseline.
        best: best value of any run, and whose; None where there is none.
        emulated: methods whose speed or cost is asked for and that ran on an emulator where the baseline did not, or the other way round.
    """

    question: ComparisonQuestion
    runs: Sequence[ComparedRun]
    kept: Mapping[str, tuple[Sequence[ComparedRun], Mapping[int, Sequence[int]]]]
    objective: str
    mode: Mode
    scale: Scale
    budget: CommonBudget
    dollars: str
    order: Sequence[str]
    curves: Mapping[str, Mapping[int, StepCurve]]
    finals: Mapping[str, Mapping[int, float]]
    done: Mapping[str, Mapping[int, Done]]
    arrivals: Mapping[str, Mapping[int, Measurement | None]]
    target: float | None
    leads: Mapping[str, Contrast]
    best: tuple[float, str] | None
    emulated: Collection[str] = ()

    @property
    def possible(self) -> tuple[float, float]:
        """Between what values can lie."""
        return possible_range([value for mine in self.finals.values() for value in mine.values()], self.mode, self.scale)

    def reach(self, method: str) -> dict[int, float | None]:
        """Return seed -> where it reached the target."""
        return {number: None if one is None else one.at(self.budget.axis) for number, one in self.arrivals[method].items()}

    def waits(self, method: str, confidence: float) -> Contrast:
        """Return the contrast of when the target was reached, paired as the values are."""
        mine, theirs = self.reach(method), self.reach(self.order[0])
        return _sooner(mine, theirs, self.budget.at, confidence, paired=self.leads[method].paired)


def measure_methods(runs: Sequence[ComparedRun], question: ComparisonQuestion) -> MeasuredMethods:
    """Return what the methods of one benchmark came to.

    Args:
        runs: (n_runs,) of one benchmark.
        question: what is asked.

    Raises:
        UserError: an unknown objective or baseline, an axis that some run has not, or a budget that none has reached.
    """
    objective = objective_of(runs[0], question.objective)
    mode = runs[0].objectives[objective]
    by_method: dict[str, list[ComparedRun]] = {}
    for run in runs:
        by_method.setdefault(run.method, []).append(run)
    baseline = baseline_of([*by_method], question.baseline)
    order = [baseline, *(method for method in by_method if method != baseline)]
    budget = common_budget(runs, question)
    in_dollars = "--x cost" if budget.axis is Axis.COST else objective if is_money(objective) else ""
    kinds = one_kind_of_dollars(runs, in_dollars)
    kept = {method: distinct(sorted(mine, key=lambda run: run.number)) for method, mine in by_method.items()}
    any_level = question.any_level
    curves = {
        method: {run.number: run.curve(objective, budget.axis, any_level=any_level) for run in mine} for method, (mine, _) in kept.items()
    }
    finals = {
        method: {number: value for number, curve in mine.items() if (value := curve(budget.at)) is not None}
        for method, mine in curves.items()
    }
    scale = scale_of([value for mine in finals.values() for value in mine.values()], mode)
    target = statistics.median(finals[baseline].values()) if finals[baseline] else None
    arrivals = {
        method: {run.number: None if target is None else _arrival(run, question, objective, budget, target) for run in mine}
        for method, (mine, _) in kept.items()
    }
    done = {
        method: {run.number: done_by(run, budget, any_level=any_level) for run in mine if run.number in finals[method]}
        for method, (mine, _) in kept.items()
    }
    leads = {
        method: lead_over(
            finals[method],
            finals[baseline],
            (done[method], done[baseline]),
            mode,
            scale=scale,
            confidence=1 - question.judged_level,
        )
        for method in order[1:]
    }
    platforms = {method: {run.stood_in.platform for run in mine} for method, mine in by_method.items()}
    emulated = [method for method in order if is_timed(objective) and platforms[method] != platforms[baseline]]
    best = _best_known(runs, objective, mode, any_level=any_level or budget.axis is Axis.LEVEL)
    return MeasuredMethods(
        question, runs, kept, objective, mode, scale, budget, kinds, order, curves, finals, done, arrivals, target, leads, best, emulated
    )


def lead_over(
    mine: Mapping[int, float],
    theirs: Mapping[int, float],
    done: tuple[Mapping[int, Done], Mapping[int, Done]],
    mode: Mode,
    *,
    scale: Scale,
    confidence: float,
) -> Contrast:
    """Return the contrast of two methods: of seeds in common, or where there are none, of all as two samples.

    Args:
        mine: seed -> value.
        theirs: likewise.
        done: of each, seed -> what it had done by then; pairs in which that is the same, as in a start that they share, are counted.
        mode: whether less or more is better.
        scale: of the comparison.
        confidence: of the interval.
    """
    apart = not mine.keys() & theirs.keys() and min(len(mine), len(theirs)) > 1
    found = contrast(mine, theirs, mode, scale=scale, paired=not apart, confidence=confidence)
    common = [number for number in mine if number in theirs and number in done[0]]
    return replace(found, same=sum(done[0][number].is_same(done[1].get(number)) for number in common))


def _best_known(runs: Sequence[ComparedRun], objective: str, mode: Mode, *, any_level: bool) -> tuple[float, str] | None:
    sign = 1.0 if mode == "min" else -1.0
    found = [
        (sign * one.values[objective], number)
        for number, run in enumerate(runs)
        for one in run.measurements
        if (one.full or any_level) and objective in one.values and math.isfinite(one.values[objective])
    ]
    if not found:
        return None
    value, number = min(found)
    return sign * value, f"{runs[number].method}, seed {runs[number].number}"


def _arrival(run: ComparedRun, question: ComparisonQuestion, objective: str, budget: CommonBudget, target: float) -> Measurement | None:
    """Return the first measurement within the budget that is as good as a target; None where there is none: it is censored."""
    sign = 1.0 if run.objectives[objective] == "min" else -1.0
    found = [
        (place, number)
        for number, one in enumerate(run.measurements)
        if (one.full or question.any_level or budget.axis is Axis.LEVEL)
        and objective in one.values
        and sign * one.values[objective] <= sign * target
        and (place := one.at(budget.axis)) is not None
        and place <= budget.at
    ]
    return run.measurements[min(found)[1]] if found else None


def _sooner(
    mine: Mapping[int, float | None], theirs: Mapping[int, float | None], at: float, confidence: float, *, paired: bool
) -> Contrast:
    """Return the contrast of when a target was reached: who never did counts with the whole budget, which favours him, never the other."""
    filled = [{number: at if value is None else value for number, value in side.items()} for side in (mine, theirs)]
    positive = all(value > 0 and math.isfinite(value) for side in filled for value in side.values())
    scale = Scale.RATIO if positive else Scale.DIFFERENCE
    return contrast(filled[0], filled[1], "min", scale=scale, paired=paired, confidence=confidence)
