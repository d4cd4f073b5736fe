"""Running jobs that will not end within their limits of time or money: pure decisions, and the observer that acts on them.

A job's bound is the one-sided 95 % bound of its forecast. What it will cost at most follows it, so that what others may spend does too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from backends.failures import Cause
from benchmarking.controller.budget import cost_usd
from benchmarking.controller.journal import Record
from benchmarking.controller.prefixes import is_prefix
from benchmarking.controller.rows import JobState
from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.running.outlook import RunningForecast, outlook
from benchmarking.forecasting.running.projection import Openness, Projection
from benchmarking.report.text import dollars, duration
from definitions.trial import TrialSpec

_LEAST_DONE = 0.05
"""Share of the work before which no job is ended by its forecast."""

_APART = 1.05
"""A job is looked at again when it has run so many times longer."""

_CHANGED = 0.1
"""A bound that has moved by less than this share is not written down."""


def over_time(found: RunningForecast, limit_s: float) -> str:
    """Return why a job is certain, at 95 %, to run longer than it may; empty where it is not.

    Args:
        found: what is forecast of it.
        limit_s: seconds that it may run.
    """
    end = found.end
    if isinstance(end, Openness) or not _LEAST_DONE <= end.done < 1.0 or end.lo90_s <= limit_s:
        return ""
    took = duration(found.curve.points[-1].elapsed_s)
    return (
        f"would run longer than max_run = {limit_s:g} s: {end.done:.0%} done after {took}, "
        f"so it would take {duration(end.median_s)} (95 %: more than {duration(end.lo90_s)})"
    )


def bound_usd(found: RunningForecast, beside_s: float, price: tuple[float | None, int]) -> float | None:
    """Return what a job costs at most, at 95 %, by its forecast; None where that does not say.

    Args:
        found: what is forecast of it; without what comes after its loop nothing is known of its end.
        beside_s: seconds that are billed beside its run.
        price: dollars per instance-hour, None where it is unknown, and the number of instances.
    """
    latest = found.latest
    if isinstance(latest, Openness) or found.tail is None or latest.done < _LEAST_DONE:
        return None
    return cost_usd(latest.hi90_s + beside_s, *price)


@dataclass(frozen=True)
class RunningCost:
    """A running job's money: `least_usd` it will have cost for certain, at 95 %; `so_far_usd` it has cost; `text` says how far it is."""

    trial: int
    least_usd: float
    so_far_usd: float
    text: str


def over_money(spent_usd: float, jobs: list[RunningCost], max_cost: float) -> tuple[int, str] | None:
    """Return the trial to be ended because all that run are certain to cost more than there is, and why; None where they are not.

    The one with most still to pay is ended, so that as little as possible of what is paid for is lost.

    Args:
        spent_usd: on closed jobs.
        jobs: that run, and are not being stopped.
        max_cost: limit of money.
    """
    least_usd = spent_usd + sum(job.least_usd for job in jobs)
    if not jobs or least_usd <= max_cost:
        return None
    worst = max(jobs, key=lambda job: job.least_usd - job.so_far_usd)
    if worst.least_usd <= worst.so_far_usd:
        return None
    return worst.trial, (
        f"max_cost = {max_cost:g} would be passed: {dollars(spent_usd)} are spent, and what runs will cost "
        f"{dollars(least_usd - spent_usd)} or more (95 %), of it this one {dollars(worst.least_usd)}: {worst.text}"
    )


class Loop(Protocol):
    """What the watch asks and tells the loop."""

    @property
    def spent_usd(self) -> float:
        """Money that was spent on closed jobs."""
        ...

    def now(self) -> float:
        """Return the back-end's time."""
        ...

    def price(self, configuration: Mapping[str, Any]) -> tuple[float | None, int]:
        """Return dollars per instance-hour (None where unknown) and the number of instances."""
        ...

    def book(self, job: str, worst_usd: float) -> None:
        """Write down what a running job will cost at most."""
        ...

    def request_stop(self, trial: int | None, cause: Cause, message: str) -> None:
        """Stop a running trial for a cause."""
        ...


class OverrunWatch:
    """Looks at running jobs as they tell how far they are; to be called after each record.

    Args:
        max_cost: limit of money; None where there is none.
        may_run_s: seconds that a trial's job may run; None where nothing limits them.
        worst_usd: what a trial's job costs at most by its limit; None where that is not known.
        beside_s: seconds that are billed beside a job's run.
        loop: the loop that runs.
    """

    def __init__(
        self,
        *,
        max_cost: float | None,
        may_run_s: Callable[[TrialSpec], float | None],
        worst_usd: Callable[[TrialSpec], float | None],
        beside_s: float,
        loop: Callable[[], Loop],
    ) -> None:
        self._max_cost, self._may_run_s, self._worst_usd = max_cost, may_run_s, worst_usd
        self._beside_s, self._loop = beside_s, loop
        self._next_s: dict[str, float] = {}
        self._found: dict[str, RunningForecast] = {}

    def observe(self, record: Record, state: ExperimentState) -> None:
        """Look at the job that a record is about, where it tells how far the job is."""
        if record.kind == "closed":
            self._next_s.pop(record.body["job"], None)
            self._found.pop(record.body["job"], None)
        if record.kind not in ("progressed", "reported"):
            return
        job = state.jobs.get(record.body["job"])
        if job is None or job.stop_requested_at is not None or job.incarnation > 0 or is_prefix(state.trials[job.trial]):
            # A prefix is stopped long before the end that it is forecast to have.
            return
        elapsed_s = record.body["elapsed_s"]
        if elapsed_s < self._next_s.get(job.name, 0.0):
            return
        self._next_s[job.name] = elapsed_s * _APART
        self._look(job, state)

    def _look(self, job: JobState, state: ExperimentState) -> None:
        trial = state.trials[job.trial]
        found = outlook(job, trial.level, state.setup.full_level, state.loops)
        if found is None:
            return
        self._found[job.name] = found
        # A method that hears levels may end the job long before the last one.
        ends_by_itself = state.setup.level_name is None
        limit_s = self._may_run_s(trial.spec)
        why = over_time(found, limit_s) if ends_by_itself and limit_s is not None else ""
        if why:
            self._loop().request_stop(job.trial, Cause.TIME_OUT, why)
        elif self._max_cost is not None:
            self._watch_money(job, found, state, self._max_cost, ends_by_itself=ends_by_itself)

    def _watch_money(self, job: JobState, found: RunningForecast, state: ExperimentState, max_cost: float, *, ends_by_itself: bool) -> None:
        loop, trial = self._loop(), state.trials[job.trial]
        bound, limit = bound_usd(found, self._beside_s, loop.price(trial.configuration)), self._worst_usd(trial.spec)
        if bound is not None and limit is not None and job.worst_usd is not None:
            bound = min(bound, limit)
            if abs(bound - job.worst_usd) > _CHANGED * job.worst_usd:
                loop.book(job.name, bound)
        # Mostly there is enough for all at their most, and nothing has to be summed.
        if not ends_by_itself or loop.spent_usd + state.money.reserved_usd <= max_cost:
            return
        over = over_money(
            loop.spent_usd, [self._cost(one, state) for one in state.jobs.values() if one.stop_requested_at is None], max_cost
        )
        if over is not None:
            loop.request_stop(over[0], Cause.BUDGET, over[1])

    def _cost(self, job: JobState, state: ExperimentState) -> RunningCost:
        loop, trial = self._loop(), state.trials[job.trial]
        price = loop.price(trial.configuration)
        runs_s = max(0.0, loop.now() - job.accepted_at) if job.started and job.accepted_at is not None else 0.0
        end = None if (found := self._found.get(job.name)) is None else found.end
        least_s = end.lo90_s if isinstance(end, Projection) and end.done >= _LEAST_DONE else 0.0
        text = f"{end.done:.0%} done, would take {duration(end.median_s)}" if isinstance(end, Projection) else "its end is not known"
        so_far = cost_usd(runs_s, *price) or 0.0
        return RunningCost(job.trial, max(so_far, cost_usd(least_s, *price) or 0.0), so_far, text)
