"""Whether another trial may start: failures, time, money and trials, counting what is in flight. Pure."""

from __future__ import annotations

import enum

from definitions.backend_description import DEFAULT_MAX_RUN_S
from definitions.schema import Budget


class Limit(enum.StrEnum):
    """The limit that an experiment has reached."""

    FAILURES = "max_failures"
    TIME = "max_wallclock_time"
    COST = "max_cost"
    TRIALS = "max_num_trials"


def reached(budget: Budget, *, failures: int, elapsed_s: float) -> Limit | None:
    """Return the limit that ends the experiment at once, stopping what runs; None where there is none.

    Args:
        budget: the limits.
        failures: trials that count against `max_failures`.
        elapsed_s: seconds that the experiment's controllers have run.
    """
    if failures > budget.max_failures:
        return Limit.FAILURES
    if budget.max_wallclock_time is not None and elapsed_s >= budget.max_wallclock_time - 1e-6:
        return Limit.TIME
    return None


def most_trials(budget: Budget, killed: int = 0) -> int | None:
    """Return how many trials may be started; None where nothing limits them.

    Those that somebody ended by hand do not count, as long as they are no more than the limit: something that ends all of them goes on so.

    Args:
        budget: the limits.
        killed: trials that somebody ended from outside.
    """
    most = budget.max_num_trials
    return None if most is None else most + min(killed, most)


def may_add(budget: Budget, trials: int, killed: int = 0) -> Limit | None:
    """Return the limit that forbids a further trial, whatever it costs; None where there is none.

    Args:
        budget: the limits.
        trials: that were started.
        killed: of these, that somebody ended from outside.
    """
    most = most_trials(budget, killed)
    return Limit.TRIALS if most is not None and trials >= most else None


def affordable(budget: Budget, *, spent_usd: float, reserved_usd: float, worst_usd: float | None) -> bool:
    """Return whether a job fits: spent + in flight + its own worst case never pass `max_cost`; an unknown price never fits.

    Args:
        budget: the limits.
        spent_usd: money spent by closed jobs, over the whole invocation.
        reserved_usd: worst case of the jobs in flight.
        worst_usd: worst case of the job; None where its price is unknown.
    """
    if budget.max_cost is None:
        return True
    return worst_usd is not None and spent_usd + reserved_usd + worst_usd <= budget.max_cost * (1 + 1e-9)


def longest_run_s(budget: Budget, default_s: float | None) -> float | None:
    """Return the seconds that a job may run where no forecast says: `max_run`, else what its back-end has by default.

    Where the back-end has no limit but money has one, it is an hour: what a job without end may cost cannot be reserved.

    Args:
        budget: the limits.
        default_s: the back-end's own; None where it has none.
    """
    if budget.max_run is not None:
        return budget.max_run
    return DEFAULT_MAX_RUN_S if default_s is None and budget.max_cost is not None else default_s


def cost_usd(seconds: float | None, usd_per_hour: float | None, count: int) -> float | None:
    """Return seconds x price x instances in dollars; None where the price is unknown, or the seconds have no limit."""
    return None if usd_per_hour is None or seconds is None else seconds / 3600.0 * usd_per_hour * count
