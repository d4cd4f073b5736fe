"""Methods against a baseline on one benchmark, by seeds: final values, time to a target, and what each difference amounts to. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarking.analysis.across_benchmarks import interquartile_mean
from benchmarking.analysis.effects import Contrast, Finding, Scale, contrast, decide, scale_of
from benchmarking.analysis.intervals import ConfidenceInterval, mean_interval
from benchmarking.analysis.step_curves import StepCurve, censored_median
from benchmarking.comparison.alike import one_kind_of_dollars
from benchmarking.comparison.looks import level_after
from benchmarking.comparison.runs import Axis, ComparedRun, Measurement, axes_of, distinct
from definitions.errors import UserError, did_you_mean
from definitions.parts import is_timed
from definitions.scalars import mean
from definitions.schema import Mode

AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "iqm": interquartile_mean,
    "mean": lambda values: mean(list(values)) or 0.0,
    "median": statistics.median,
}


_TIME = "max_wallclock_time"

_UNKNOWN = {Axis.COST: "the price of some of its trials is unknown", Axis.LEVEL: "its definition has no progressive fidelity"}


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
        by: what is compared: `method`, other names of `runs.RUN_KEYS`, or keys of configurations.
        facet_by: keys for each of whose values there is a comparison of its own.
        looks: how often the study was looked at before it was extended, which divides the level (see `looks`).
        expect_seeds: seeds that each method should have; 0 where nobody said.
        planned: pairs of benchmark and method that there are to be, as far as that is known.
    """

    objective: str = ""
    baseline: str = ""
    axis: Axis | None = None
    at: float | None = None
    any_level: bool = False
    aggregate: str = "iqm"
    threshold: float = 0.01
    level: float = 0.05
    by: tuple[str, ...] = ("method",)
    facet_by: tuple[str, ...] = ()
    looks: int = 0
    expect_seeds: int = 0
    planned: tuple[tuple[str, str], ...] = ()

    @property
    def judged_level(self) -> float:
        """The level at which the family of all differences is judged: lower where a study was looked at and then extended."""
        return level_after(self.looks, self.level)


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
        held_back_by: the run that ended so early that it alone set the budget, though others went twice as far; empty for none.
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
    held_back_by: str = ""


def compare_methods(runs: Sequence[ComparedRun], question: ComparisonQuestion) -> BenchmarkComparison:
    """Return how the methods of one benchmark compare; the unit is the experiment, never a trial or a report.

    Args:
        runs: (n_runs,) of one benchmark.
        question: what is asked.

    Raises:
        UserError: an unknown objective or baseline, or an axis that some run has not.
    """
    first = runs[0]
    objective = objective_of(first, question.objective)
    mode = first.objectives[objective]
    by_method: dict[str, list[ComparedRun]] = {}
    for run in runs:
        by_method.setdefault(run.method, []).append(run)
    baseline = _baseline([*by_method], question.baseline)
    started = [run for run in runs if run.measurements]
    axis = question.axis or _limiting_axis(started)
    dollars = one_kind_of_dollars(runs, "--x cost" if axis is Axis.COST else "cost_usd" if objective == "cost_usd" else "")
    if axis not in axes_of(started):
        unknown = next(run for run in started if axis not in run.ends)
        raise UserError(f"--x {axis}: {unknown.title} has none", _UNKNOWN.get(axis, "it did not begin"), "compare by another axis")
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
    arrivals = {
        method: {run.number: None if target is None else _arrival(run, question, objective, axis, target, at) for run in mine}
        for method, (mine, _) in kept.items()
    }
    reach = {method: {number: None if one is None else one.at(axis) for number, one in mine.items()} for method, mine in arrivals.items()}
    level = question.judged_level
    others = [method for method in by_method if method != baseline]
    leads = [contrast(finals[method], finals[baseline], mode, scale=scale, confidence=1 - level) for method in others]
    waits = [_sooner(reach[method], reach[baseline], at, 1 - level) for method in others]
    # One family for each question that is asked of all: is it better, and is it sooner.
    found = dict(
        zip(others, zip(decide(leads, question.threshold, level), decide(waits, question.threshold, level), strict=True), strict=True)
    )
    aggregate = AGGREGATES[question.aggregate]
    best = _best_known(runs, objective, mode, any_level=question.any_level or axis is Axis.LEVEL)
    platforms = {method: {run.stood_in.platform for run in mine} for method, mine in by_method.items()}
    since = max((curve.at[0] for mine in curves.values() for curve in mine.values() if curve.at and curve.at[0] <= at), default=at)
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
            _regrets(curves[method], best[0] if best else None, at, since),
            censored_median([None if one is None else one.wallclock for one in arrivals[method].values()]),
            censored_median([None if one is None else one.cost for one in arrivals[method].values()]) if dollars else None,
            emulated=is_timed(objective) and platforms[method] != platforms[baseline],
        )
        for method in [baseline, *others]
    ]
    return BenchmarkComparison(
        first.benchmark,
        objective,
        mode,
        axis,
        at,
        baseline,
        target,
        best[0] if best else None,
        rows,
        scale,
        1 - level,
        best[1] if best else "",
        dollars,
        _shortest(started, axis) if question.at is None else "",
    )


def _shortest(runs: Sequence[ComparedRun], axis: Axis) -> str:
    """Return the run that sets the common budget, where the next one went at least twice as far."""
    ordered = sorted(runs, key=lambda run: run.ends[axis])
    if len(ordered) < 2 or ordered[1].ends[axis] < 2 * ordered[0].ends[axis]:
        return ""
    return ordered[0].title


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


def _regrets(curves: Mapping[int, StepCurve], best: float | None, until: float, since: float) -> dict[int, float]:
    if best is None:
        return {}
    found = {number: curve.mean_regret(best, until, since) for number, curve in curves.items()}
    return {number: value for number, value in found.items() if value is not None}


def _arrival(run: ComparedRun, question: ComparisonQuestion, objective: str, axis: Axis, target: float, at: float) -> Measurement | None:
    """Return the first measurement within the budget that is as good as a target; None where there is none: it is censored."""
    sign = 1.0 if run.objectives[objective] == "min" else -1.0
    found = [
        (place, number)
        for number, one in enumerate(run.measurements)
        if (one.full or question.any_level or axis is Axis.LEVEL)
        and objective in one.values
        and sign * one.values[objective] <= sign * target
        and (place := one.at(axis)) is not None
        and place <= at
    ]
    return run.measurements[min(found)[1]] if found else None


def objective_of(run: ComparedRun, asked: str) -> str:
    """Return the name of the objective that is meant; raises `UserError` where the run has none of this name."""
    objective = asked or next(iter(run.objectives))
    if objective not in run.objectives:
        known = [*run.objectives]
        raise UserError(
            f"--objective {objective}: {run.benchmark} has none of this name", f"it has {', '.join(known)}", did_you_mean(asked, known)
        )
    return objective


def has_baseline(runs: Sequence[ComparedRun], asked: str) -> bool:
    """Return whether one of the runs is of the baseline that is asked for; of a key's value, e.g. `workers=2`, the value alone will do."""
    return any(asked in (run.method, run.method.partition("=")[2]) for run in runs)


def _baseline(methods: Sequence[str], asked: str) -> str:
    if not asked:
        return "RS" if "RS" in methods else methods[0]
    found = next((method for method in methods if asked in (method, method.partition("=")[2])), None)
    if found is None:
        raise UserError(
            f"--baseline {asked}: it has no experiment here", f"there are {', '.join(methods)}", did_you_mean(asked, list(methods))
        )
    return found


def _limiting_axis(runs: Sequence[ComparedRun]) -> Axis:
    """Return the axis on which the experiments were limited: time where all had a limit of it and no other ended them all, else trials."""
    ended_by = {run.ended_by for run in runs if run.ended_by}
    if runs and all(_TIME in run.facts.get("budget", "") for run in runs) and (not ended_by or _TIME in ended_by):
        return Axis.WALLCLOCK
    return Axis.TRIALS


def _sooner(mine: Mapping[int, float | None], theirs: Mapping[int, float | None], at: float, confidence: float) -> Contrast:
    """Return the contrast of when a target was reached: who never did counts with the whole budget, which favours him, never the other."""
    filled = [{number: at if value is None else value for number, value in side.items()} for side in (mine, theirs)]
    positive = all(value > 0 and math.isfinite(value) for side in filled for value in side.values())
    return contrast(filled[0], filled[1], "min", scale=Scale.RATIO if positive else Scale.DIFFERENCE, confidence=confidence)
