"""The most that the jobs of an experiment take and cost, from the same bounds of single jobs that the loop keeps to. Pure."""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.planning.concurrency import instance_types
from benchmarking.planning.job_builder import JobBuilder
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec


@dataclass(frozen=True)
class WorstCase:
    """The most that the jobs of an experiment take and cost.

    Args:
        longest_s: seconds until the last one ends; None where nothing limits them.
        usd: with each job at its forecast's upper bound where it has one, else at its limit; None where unknown or without limit.
        limit_usd: with each job at its limit.
        forecast: jobs whose forecast was used; `jobs`: all of them, None where nothing limits their number.
    """

    longest_s: float | None
    usd: float | None
    limit_usd: float | None
    forecast: int
    jobs: int | None


@dataclass(frozen=True)
class Plan:
    """What is known of an experiment's jobs before it starts.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        jobs: knows what a single job takes and costs at most.
        planned: the trials of all jobs; None where they depend on results, or are endless.
        workers: jobs that run at once.
        upper_s: upper bound of a trial's seconds by its forecast; None where it has none.
    """

    definition: BenchmarkDefinition
    backend: str
    jobs: JobBuilder
    planned: Sequence[TrialSpec] | None
    workers: int
    upper_s: Callable[[TrialSpec], float | None] = lambda trial: None

    @property
    def trials(self) -> int | None:
        """How many jobs there are at most; None where nothing limits their number."""
        most = self.definition.budget.max_num_trials
        return most if self.planned is None else min(len(self.planned), most or len(self.planned))

    @property
    def possible(self) -> list[dict[str, Any]]:
        """One configuration for each instance type that jobs can ask for, with as many instances as any can."""
        counts = self.definition.search_space.domains.get("instance_count")
        most = {} if counts is None else {"instance_count": max((int(value) for value in counts.grid(0)), default=1)}
        return [{"instance_type": name, **most} for name in instance_types(self.definition, self.backend)]

    @property
    def priced(self) -> bool:
        """Whether the price of each instance type is known."""
        return all(self.jobs.price(one)[0] is not None for one in self.possible)


def worst_case(plan: Plan) -> WorstCase:
    """Return the worst case within the limits of time and money."""
    planned, trials = plan.planned, plan.trials
    found = _of_any(plan, trials) if planned is None or trials is None else _of_planned(plan, planned, trials)
    budget = plan.definition.budget
    caps: list[float | None] = []
    if plan.priced:
        # What is under way when the time is over runs to its own limit; where it has none, to the end of its grace.
        last_s = plan.jobs.after_stop_s if plan.jobs.worst_s is None else plan.jobs.worst_s
        by_time_s = None if budget.max_wallclock_time is None else (budget.max_wallclock_time + last_s) * plan.workers
        caps = [None if by_time_s is None else _dearest_of(plan, by_time_s), budget.max_cost]
    return dataclasses.replace(
        found,
        longest_s=_least(found.longest_s, budget.max_wallclock_time),
        usd=_least(found.usd, *caps),
        limit_usd=_least(found.limit_usd, *caps),
    )


def least_usd(plan: Plan) -> tuple[float, float]:
    """Return what the cheapest single job costs at most, in dollars, and its seconds; what is unknown or has no limit counts as nothing."""
    jobs = plan.jobs
    if plan.planned:
        return min((jobs.worst_usd(one) or 0.0, jobs.worst_case_s(one) or 0.0) for one in plan.planned)
    cheapest = (jobs.most_usd({"instance_type": one["instance_type"]}, jobs.worst_s) for one in plan.possible)
    return min((usd or 0.0 for usd in cheapest), default=0.0), jobs.worst_s or 0.0


def dearest(values: Sequence[float | None], count: int) -> float | None:
    """Return the sum of the `count` largest values; None where one of them is unknown."""
    known = [value for value in values if value is not None]
    return math.fsum(heapq.nlargest(count, known)) if len(known) == len(values) else None


def _of_any(plan: Plan, trials: int | None) -> WorstCase:
    """Return the worst case of jobs that are not known beforehand: each as long and as expensive as any may be."""
    if trials is None:
        return WorstCase(None, None, None, 0, None)
    each_s = plan.jobs.worst_s
    if each_s is None:
        return WorstCase(None, None, None, 0, trials)
    usd = _dearest_of(plan, trials * each_s)
    return WorstCase(-(-trials // plan.workers) * each_s, usd, usd, 0, trials)


def _of_planned(plan: Plan, planned: Sequence[TrialSpec], trials: int) -> WorstCase:
    """Return the worst case of known jobs: the dearest of them, where not all may run."""
    jobs_s: list[float | None] = []
    usd: list[float | None] = []
    forecast = 0
    for trial in planned:
        limit_s, upper_s = plan.jobs.worst_case_s(trial), plan.upper_s(trial)
        seconds = _least(limit_s, upper_s)
        jobs_s.append(seconds)
        usd.append(plan.jobs.most_usd(trial.configuration, seconds))
        forecast += upper_s is not None
    limits_usd = [plan.jobs.worst_usd(trial) for trial in planned]
    return WorstCase(
        _span_s(jobs_s, trials, plan.workers), dearest(usd, trials), dearest(limits_usd, trials), min(forecast, trials), trials
    )


def _span_s(jobs_s: Sequence[float | None], count: int, workers: int) -> float | None:
    """Return the seconds until the `count` longest jobs are done; None where one of them has no limit."""
    known = [seconds for seconds in jobs_s if seconds is not None]
    if len(known) < len(jobs_s):
        return None
    # The longest first, each onto the worker that is free first.
    slots = [0.0] * workers
    for seconds in heapq.nlargest(count, known):
        slots[slots.index(min(slots))] += seconds
    return max(slots)


def _dearest_of(plan: Plan, seconds: float) -> float | None:
    """Return what so many seconds of jobs cost on the dearest instances that any can ask for; None where a price is unknown."""
    found = [plan.jobs.most_usd(one, seconds) for one in plan.possible]
    known = [usd for usd in found if usd is not None]
    return max(known, default=None) if len(known) == len(found) else None


def _least(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)
