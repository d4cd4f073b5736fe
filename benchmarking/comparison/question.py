"""What is asked of a comparison."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarking.analysis.across_benchmarks import interquartile_mean
from benchmarking.comparison.looks import level_after
from benchmarking.comparison.runs import Axis, ComparedRun
from definitions.errors import UserError, did_you_mean
from definitions.scalars import mean

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
        aggregate: of a method's seeds, a name in `AGGREGATES`; the mean is what intervals and leads are of.
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
    aggregate: str = "mean"
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


def baseline_of(methods: Sequence[str], asked: str) -> str:
    """Return the method that the others are compared with; raises `UserError` where it is asked for and there is none of this name."""
    if not asked:
        return "RS" if "RS" in methods else methods[0]
    found = next((method for method in methods if asked in (method, method.partition("=")[2])), None)
    if found is None:
        raise UserError(
            f"--baseline {asked}: it has no experiment here", f"there are {', '.join(methods)}", did_you_mean(asked, list(methods))
        )
    return found
