"""What an experiment's warm instances amount to: what waits, who got it, what that saved and cost. Folded by the state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from definitions.scalars import mean

_OLD_STAGE, _OLD_QUOTA = "Starting", "warm_pool_quota_at_zero"
"""What journals of earlier versions have in place of `waited_s` (a stage of `stages_s`) and `quota_at_zero`."""


@dataclass(frozen=True, slots=True)
class KeptPool:
    """Instances of an ended job that are kept for the next one.

    Args:
        since: when they began to wait, by the back-end's clock.
        worst_usd: what they may still cost; None where the price is unknown.
        kept: name of what is kept, where it is not the job's own.
    """

    instance_type: str
    instance_count: int
    since: float
    worst_usd: float | None
    kept: str = ""


@dataclass(frozen=True)
class WarmFigures:
    """How much good warm instances did.

    Args:
        jobs: that got instances; `warm`: of these, kept ones; `eligible`: those submitted since the first instances were kept.
        cold_s, warm_s: mean seconds that a job waited for new and for kept instances; None where none did.
        kept: how often instances were kept.
        quotas_at_zero: names of quotas because of which none were kept.
    """

    jobs: int
    warm: int
    eligible: int
    cold_s: float | None
    warm_s: float | None
    kept: int
    quotas_at_zero: tuple[str, ...]

    @property
    def hit_rate(self) -> float | None:
        """Share of the jobs that could have started warm which did; None where none could."""
        return self.warm / self.eligible if self.eligible else None

    @property
    def saved_s(self) -> float | None:
        """Seconds of waiting that kept instances saved; None where it is not known what waiting there is without them."""
        if not self.warm:
            return 0.0
        return None if self.cold_s is None or self.warm_s is None else max(0.0, self.cold_s - self.warm_s) * self.warm


class WarmStarts:
    """Which jobs got kept instances, and how long each waited for its own."""

    def __init__(self) -> None:
        self.kept = 0
        self._first_at = math.inf
        self._reused: set[str] = set()
        self._waited_s: dict[str, tuple[float, float]] = {}
        self._quotas_at_zero: set[str] = set()

    def kept_at(self, at: float) -> None:
        """Instances were kept."""
        self.kept += 1
        self._first_at = min(self._first_at, at)

    def reused_by(self, job: str) -> None:
        """Kept instances went to a job, of this experiment or another."""
        self._reused.add(job)

    def closed(self, job: str, submitted_at: float, usage: Mapping[str, Any]) -> None:
        """A job ended, of a back-end that keeps instances."""
        waited_s = usage.get("waited_s", usage.get("stages_s", {}).get(_OLD_STAGE))
        if waited_s is not None:
            self._waited_s[job] = (submitted_at, waited_s)
        if usage["warm"]:
            self._reused.add(job)
        quota = usage.get("quota_at_zero", usage.get(_OLD_QUOTA))
        if quota:
            self._quotas_at_zero.add(quota)

    def figures(self) -> WarmFigures:
        """Return what it amounts to so far."""
        warm = [seconds for job, (_, seconds) in self._waited_s.items() if job in self._reused]
        cold = [seconds for job, (_, seconds) in self._waited_s.items() if job not in self._reused]
        eligible = sum(job in self._reused or at >= self._first_at for job, (at, _) in self._waited_s.items())
        return WarmFigures(len(self._waited_s), len(warm), eligible, mean(cold), mean(warm), self.kept, tuple(sorted(self._quotas_at_zero)))
