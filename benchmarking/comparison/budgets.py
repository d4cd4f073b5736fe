"""At which budget the runs of a benchmark are compared, and whose end sets it. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis, ComparedRun, axes_of
from benchmarking.report.text import dollars, duration
from definitions.errors import UserError

LEAST_SHARE = 0.05
"""Runs that went further than others by no more than this are as long as they: trials end where they end."""

_TIME = "max_wallclock_time"

_UNKNOWN = {Axis.COST: "the price of some of its trials is unknown", Axis.LEVEL: "its definition has no progressive fidelity"}


@dataclass(frozen=True)
class Done:
    """What a run had done within a budget; two of which this is equal measured the same, whatever chose it.

    Args:
        settings: what it ran under, besides its method: tag, back-end, region, workers, script.
        configurations: that it has results of, each with the level that it reached.
    """

    settings: tuple[str, ...]
    configurations: frozenset[tuple[float | None, frozenset[tuple[str, str]]]]

    def is_same(self, other: Done | None) -> bool:
        """Return whether another run had done the same; nothing was done by either is not."""
        return bool(self.configurations) and self == other


@dataclass(frozen=True)
class FirstToEnd:
    """The run whose end is the budget of all, where others went further.

    Args:
        title: what it is called; `ended`: why it ended, empty where it runs or was killed.
        alike: other runs that ended no more than a twentieth later.
        further: those that went further than that; `median`: how far these went.
    """

    title: str
    ended: str
    alike: int
    further: int
    median: float


@dataclass(frozen=True)
class CommonBudget:
    """Where runs are compared.

    Args:
        axis: on which budgets are equal; `at`: the budget.
        first_to_end: whose end it is, where that cuts others short; None where the budget was asked for, or all went about as far.
    """

    axis: Axis
    at: float
    first_to_end: FirstToEnd | None


def common_budget(runs: Sequence[ComparedRun], question: ComparisonQuestion) -> CommonBudget:
    """Return the largest budget that all runs with results have reached, or the one that is asked for.

    Args:
        runs: (n_runs,) of one benchmark.
        question: what is asked.

    Raises:
        UserError: an axis that some run has not, or a budget that none has reached.
    """
    started = [run for run in runs if run.measurements]
    axis = question.axis or _limiting_axis(started)
    if axis not in axes_of(started):
        unknown = next(run for run in started if axis not in run.ends)
        raise UserError(f"--x {axis}: {unknown.title} has none", _UNKNOWN.get(axis, "it did not begin"), "compare by another axis")
    ends = {run.title: run.ends[axis] for run in started}
    if question.at is None:
        return CommonBudget(axis, min(ends.values(), default=0.0), _first_to_end(started, axis))
    furthest = max(ends, key=lambda title: ends[title], default=None)
    if furthest is not None and question.at > ends[furthest]:
        raise UserError(
            f"--at {question.at:g}: no run of {runs[0].benchmark} went that far",
            f"{furthest} went furthest, {amount(ends[furthest], axis)}; all reached {amount(min(ends.values()), axis)}",
            "give a budget that some have reached, or leave --at out",
        )
    return CommonBudget(axis, question.at, None)


def amount(value: float, axis: Axis, kind: str = "") -> str:
    """Return a place on an axis in words, e.g. `20 trials`.

    Args:
        value: the place.
        axis: whose.
        kind: of dollars; it is said where they are not real.
    """
    if axis is Axis.TRIALS:
        return f"{value:g} {'trial' if value == 1 else 'trials'}"
    if axis is Axis.LEVEL:
        return f"level {value:g}"
    if axis is Axis.COST:
        return dollars(value) + (f" ({kind})" if kind not in ("", "real") else "")
    return f"{value:.3g} s" if value < 60 else duration(value)


def _first_to_end(runs: Sequence[ComparedRun], axis: Axis) -> FirstToEnd | None:
    ordered = sorted(runs, key=lambda run: run.ends[axis])
    if not ordered:
        return None
    first = ordered[0]
    further = [run.ends[axis] for run in ordered if run.ends[axis] > (1 + LEAST_SHARE) * first.ends[axis]]
    if not further:
        return None
    return FirstToEnd(first.title, first.ended_by or first.ended, len(ordered) - len(further) - 1, len(further), statistics.median(further))


def _limiting_axis(runs: Sequence[ComparedRun]) -> Axis:
    """Return the axis on which the experiments were limited: time where all had a limit of it and no other ended them all, else trials."""
    ended_by = {run.ended_by for run in runs if run.ended_by}
    if runs and all(_TIME in run.facts.get("budget", "") for run in runs) and (not ended_by or _TIME in ended_by):
        return Axis.WALLCLOCK
    return Axis.TRIALS


def done_by(run: ComparedRun, budget: CommonBudget, *, any_level: bool) -> Done:
    """Return what a run had a counted result of within a budget.

    Args:
        run: the experiment.
        budget: the common one.
        any_level: whether results below the full fidelity count.
    """
    reached: dict[int, float | None] = {}
    configurations = {}
    for one in run.measurements:
        place = one.at(budget.axis)
        if (one.full or any_level or budget.axis is Axis.LEVEL) and place is not None and place <= budget.at:
            known = reached.get(one.evaluation)
            reached[one.evaluation] = one.level if known is None or one.level is None else max(known, one.level)
            configurations[one.evaluation] = one.configuration
    settings = (run.tag, run.backend, *(run.facts.get(name, "") for name in ("region", "workers", "script")))
    return Done(
        settings,
        frozenset(
            (reached[number], frozenset([(key, repr(value)) for key, value in configuration.items()]))
            for number, configuration in configurations.items()
        ),
    )
