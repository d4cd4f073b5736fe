"""Whether another trial may start: failures, time, money and trials, counting what is in flight. Pure."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from definitions.schema import Budget

DEFAULT_MAX_RUN_S = 3600.0
"""Longest run of a job where neither the definition nor a forecast says."""


@dataclass(frozen=True)
class Usage:
    """What an experiment has used so far.

    Args:
        elapsed_s: seconds that its controllers have run.
        failures: trials that count against `max_failures`.
        trials: trials started.
        spent_usd: money spent by closed jobs, over the whole invocation.
        reserved_usd: worst case of the jobs in flight.
    """

    elapsed_s: float = 0.0
    failures: int = 0
    trials: int = 0
    spent_usd: float = 0.0
    reserved_usd: float = 0.0


class Limit(enum.StrEnum):
    """The limit that an experiment has reached."""

    FAILURES = "max_failures"
    TIME = "max_wallclock_time"
    COST = "max_cost"
    TRIALS = "max_num_trials"


def reached(budget: Budget, usage: Usage) -> Limit | None:
    """Return the limit that ends the experiment at once, stopping what runs; None where there is none."""
    if usage.failures > budget.max_failures:
        return Limit.FAILURES
    if budget.max_wallclock_time is not None and usage.elapsed_s >= budget.max_wallclock_time - 1e-6:
        return Limit.TIME
    return None


def may_add(budget: Budget, usage: Usage) -> Limit | None:
    """Return the limit that forbids a further trial, whatever it costs; None where there is none."""
    if budget.max_num_trials is not None and usage.trials >= budget.max_num_trials:
        return Limit.TRIALS
    return None


def affordable(budget: Budget, usage: Usage, worst_usd: float | None) -> bool:
    """Return whether a job of that worst case fits: spent + in flight + its own never pass `max_cost`; an unknown price never fits."""
    if budget.max_cost is None:
        return True
    return worst_usd is not None and usage.spent_usd + usage.reserved_usd + worst_usd <= budget.max_cost * (1 + 1e-9)


def cost_usd(seconds: float, usd_per_hour: float | None, count: int) -> float | None:
    """Return seconds x price x instances in dollars; None where the price is unknown."""
    return None if usd_per_hour is None else seconds / 3600.0 * usd_per_hour * count
