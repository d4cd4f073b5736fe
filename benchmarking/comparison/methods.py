"""Methods against a baseline on one benchmark, by seeds: final values, time to a target, and what each difference amounts to. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarking.analysis.across_benchmarks import interquartile_mean
from benchmarking.analysis.effects import Contrast, Finding, Scale, contrast, decide, scale_of
from benchmarking.analysis.intervals import ConfidenceInterval, mean_interval
from benchmarking.comparison.runs import Axis, ComparedRun, axes_of, distinct
from definitions.errors import UserError, did_you_mean
from definitions.scalars import mean
from definitions.schema import Mode

AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "iqm": interquartile_mean,
    "mean": lambda values: mean(list(values)) or 0.0,
    "median": statistics.median,
}


@dataclass(frozen=True)
class ComparisonQuestion:
    """What is asked of a comparison.

    Args:
        objective: its name; empty for each benchmark's primary one.
        baseline: name of the method that the others are compared with; empty for RS where it took part, else the first.
        axis: on which equal budgets are given; None for what limited the experiments.
        at: the budget on that axis; None for the largest that all have reached.
        any_level: whether results below the full fidelity count.
        aggregate: of a method's seeds, a name in `AGGREGATES`.
        threshold: least lead that matters, e.g. 0.01.
        level: at which the family of all differences may err; its complement is the confidence of intervals.
    """

    objective: str = ""
    baseline: str = ""
    axis: Axis | None = None
    at: float | None = None
    any_level: bool = False
    aggregate: str = "iqm"
    threshold: float = 0.01
    level: float = 0.05


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
        sooner: how it compares with the baseline in reaching the target (those that never did count with the budget they had).
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


@dataclass(frozen=True)
class BenchmarkComparison:
    """All methods on one benchmark.

    Args:
        benchmark: its name.
        objective: what was compared; `mode`: whether less or more is better.
        axis: on which equal budgets were given; `at`: the budget.
        baseline: the method that the others were compared with.
        target: value that was to be reached: the baseline's median at the budget; None where it has none.
        best_known: best value of any run.
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


def compare_methods(runs: Sequence[ComparedRun], question: ComparisonQuestion) -> BenchmarkComparison:
    """Return how the methods of one benchmark compare; the unit is the experiment, never a trial or a report.

    Args:
        runs: (n_runs,) of one benchmark.
        question: what is asked.

    Raises:
        UserError: an unknown objective or baseline, or an axis that some run has not.
    """
    first = runs[0]
    objective = _objective(first, question.objective)
    mode = first.objectives[objective]
    by_method: dict[str, list[ComparedRun]] = {}
    for run in runs:
        by_method.setdefault(run.method, []).append(run)
    baseline = _baseline([*by_method], question.baseline)
    started = [run for run in runs if run.measurements]
    axis = question.axis or _limiting_axis(started)
    if axis not in axes_of(started):
        unknown = next(run for run in started if axis not in run.ends)
        raise UserError(f"--x {axis}: {unknown.title} has none", "the price of some of its trials is unknown", "compare by another axis")
    at = question.at if question.at is not None else min((run.ends[axis] for run in started), default=0.0)
    kept = {method: distinct(sorted(mine, key=lambda run: run.number)) for method, mine in by_method.items()}
    curves = {
        method: {run.number: run.curve(objective, axis, any_level=question.any_level) for run in mine} for method, (mine, _) in kept.items()
    }
    finals = {
        method: {number: value for number, curve in mine.items() if (value := curve(at)) is not None} for method, mine in curves.items()
    }
    scale = scale_of([value for mine in finals.values() for value in mine.values()], mode)
    target = statistics.median(finals[baseline].values()) if finals[baseline] else None
    reach = {
        method: {number: None if target is None else _before(curve.reached(target, mode), at) for number, curve in mine.items()}
        for method, mine in curves.items()
    }
    level = question.level
    others = [method for method in by_method if method != baseline]
    leads = [contrast(finals[method], finals[baseline], mode, scale=scale, confidence=1 - level) for method in others]
    waits = [_sooner(reach[method], reach[baseline], at, 1 - level) for method in others]
    # One family for each question that is asked of all: is it better, and is it sooner.
    found = dict(
        zip(others, zip(decide(leads, question.threshold, level), decide(waits, question.threshold, level), strict=True), strict=True)
    )
    aggregate = AGGREGATES[question.aggregate]
    rows = [
        MethodRow(
            method,
            finals[method],
            aggregate([*finals[method].values()]) if finals[method] else None,
            mean_interval([*finals[method].values()], 1 - level),
            [number for number in curves[method] if number not in finals[method]],
            kept[method][1],
            found[method][0] if method in found else None,
            reach[method],
            found[method][1] if method in found and target is not None else None,
        )
        for method in [baseline, *others]
    ]
    values = [
        value
        for run in runs
        for one in run.measurements
        if one.full and (value := one.values.get(objective)) is not None and math.isfinite(value)
    ]
    best = (min(values) if mode == "min" else max(values)) if values else None
    return BenchmarkComparison(first.benchmark, objective, mode, axis, at, baseline, target, best, rows, scale, 1 - level)


def _objective(run: ComparedRun, asked: str) -> str:
    objective = asked or next(iter(run.objectives))
    if objective not in run.objectives:
        known = [*run.objectives]
        raise UserError(
            f"--objective {objective}: {run.benchmark} has none of this name", f"it has {', '.join(known)}", did_you_mean(asked, known)
        )
    return objective


def _baseline(methods: Sequence[str], asked: str) -> str:
    if asked and asked not in methods:
        raise UserError(
            f"--baseline {asked}: it has no experiment here", f"there are {', '.join(methods)}", did_you_mean(asked, list(methods))
        )
    return asked or ("RS" if "RS" in methods else methods[0])


def _limiting_axis(runs: Sequence[ComparedRun]) -> Axis:
    """Return the axis on which the experiments were limited: time where that was, else trials."""
    if runs and all("max_wallclock_time" in run.facts.get("budget", "") for run in runs):
        return Axis.WALLCLOCK
    return Axis.TRIALS


def _before(reached: float | None, at: float) -> float | None:
    return None if reached is None or reached > at else reached


def _sooner(mine: Mapping[int, float | None], theirs: Mapping[int, float | None], at: float, confidence: float) -> Contrast:
    """Return the contrast of when a target was reached: who never did counts with the whole budget, which favours him, never the other."""
    filled = [{number: at if value is None else value for number, value in side.items()} for side in (mine, theirs)]
    positive = all(value > 0 and math.isfinite(value) for side in filled for value in side.values())
    return contrast(filled[0], filled[1], "min", scale=Scale.RATIO if positive else Scale.DIFFERENCE, confidence=confidence)
