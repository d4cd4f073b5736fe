"""A race as data: its settings, and how it stands."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from benchmarking.forecasting.model.billing import Billing

TIME, COST = "duration_s", "cost_usd"


@dataclass(frozen=True)
class RaceSettings:
    """What a race is for, and what it may spend.

    Args:
        ladder: levels as fractions of the full job, ascending.
        objectives: `cost_usd`, `duration_s`, or both for a Pareto set.
        confidence: that nothing is better than the winner by more than `tolerance` (a share).
        repeats: most runs of one configuration at one rung; `first`: at the lowest.
        least: configurations that are kept beyond the lowest rung.
        most_usd: money that canaries may cost; None for no limit of its own.
        full_runs: full jobs that the winner is wanted for: a race goes on only as long as knowing more can save more than it costs.
        width: half of the leader's 80 % interval over its median at which it is known well enough, whoever leads; None for no such end.
        prefixes: whether the full jobs' beginnings are run, and small jobs only for what they leave open.
        billing: prices.
        draws: number of draws of each configuration's full job.
    """

    ladder: tuple[float, ...] = (0.01, 0.03, 0.1)
    objectives: tuple[str, ...] = (COST,)
    confidence: float = 0.9
    tolerance: float = 0.05
    repeats: int = 3
    first: int = 1
    least: int = 3
    most_usd: float | None = None
    full_runs: float = 4.0
    width: float | None = None
    draws: int = 1000
    prefixes: bool = False
    billing: Billing = field(kw_only=True)


class RaceDecision(enum.StrEnum):
    """Whether a race is decided, and how."""

    OPEN = "open"
    DECIDED = "decided"
    TIED = "tied"
    NARROW = "narrow enough"
    NOT_DECIDED = "not decided"
    NOTHING_FITS = "nothing fits"


@dataclass(frozen=True)
class RaceStatus:
    """How a race stands.

    Args:
        decision: open while there is a run to make.
        winner: of a decided or tied race; else the leader. `tied`: all that may be as good, the winner first.
        next: (configuration, level, repeat) of the run to make; None where there is none.
        confidence: probability that no other is better by more than the tolerance.
        reason: in words.
    """

    decision: RaceDecision
    winner: str | None
    tied: tuple[str, ...]
    next: tuple[str, float, int] | None
    confidence: float
    reason: str
