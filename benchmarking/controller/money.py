"""What an experiment has spent, and what it may still spend for what it has begun: jobs, engines, instances that are kept warm."""

from __future__ import annotations

from backends.events import Retained
from benchmarking.controller.rows import JobState
from benchmarking.controller.warm_usage import KeptPool


class Money:
    """Dollars of an experiment; of what has no known price nothing is counted.

    Attributes:
        spent_usd: on what is over. reserved_usd: what all that is open may cost at most.
        retained_s, retained_usd: billed seconds and cost of kept instances, in `spent_usd` too; None where a price is unknown.
        pools: instances that are kept, by the job that had them.
    """

    def __init__(self) -> None:
        self.spent_usd = 0.0
        self.reserved_usd = 0.0
        self.retained_usd: float | None = 0.0
        self.retained_s = 0.0
        self.pools: dict[str, KeptPool] = {}
        self._engines: dict[str, float] = {}

    def reserve(self, worst_usd: float | None) -> None:
        """Count what was begun with what it costs at most."""
        self.reserved_usd += worst_usd or 0.0

    def pay(self, cost_usd: float | None) -> None:
        """Count what something cost that is over."""
        self.spent_usd += cost_usd or 0.0

    def release(self, worst_usd: float | None, *, is_last: bool) -> None:
        """Take back a reservation, as what it was for is over.

        Args:
            worst_usd: what was reserved.
            is_last: whether no job is open; with no instances kept either, nothing is reserved, whatever the sums were rounded to.
        """
        self.reserved_usd = 0.0 if is_last and not self.pools else self.reserved_usd - (worst_usd or 0.0)

    def bound(self, job: JobState, worst_usd: float) -> None:
        """Reserve for a running job what it will cost at most by its own forecast."""
        self.reserved_usd += worst_usd - (job.worst_usd or 0.0)
        job.worst_usd = worst_usd

    def engine(self, job: str, usd: float | None) -> None:
        """Count what makes an engine for trials: its worst case from its order on, then its bill."""
        self.spent_usd += (usd or 0.0) - self._engines.get(job, 0.0)
        self._engines[job] = usd or 0.0

    def keep(self, event: Retained, job: JobState | None, worst_usd: float | None) -> bool:
        """Count instances that wait as money in flight; return whether they were not counted before.

        Args:
            event: that they wait.
            job: whose they were, where that is open.
            worst_usd: what they may cost until they are gone.
        """
        if event.job in self.pools or (job is not None and job.pool_booked):
            return False
        self.pools[event.job] = KeptPool(event.instance_type, event.instance_count, event.at, worst_usd, event.kept)
        self.reserved_usd += worst_usd or 0.0
        if job is not None and job.worst_usd is not None:
            # Its own worst case held what its instances may cost after it.
            moved_usd = min(job.worst_usd, worst_usd or 0.0)
            job.worst_usd -= moved_usd
            self.reserved_usd -= moved_usd
        return True

    def let_go(self, event: Retained, cost_usd: float | None, *, is_last: bool) -> bool:
        """Count instances as spent that wait no more; return whether they were counted as kept.

        Args:
            event: that they are gone, with the seconds that are billed.
            cost_usd: of these; None where the price is unknown.
            is_last: whether no job is open.
        """
        pool = self.pools.pop(event.job, None)
        if pool is None:
            return False
        self.release(pool.worst_usd, is_last=is_last)
        self.retained_s += event.billable_s or 0.0
        self.retained_usd = None if self.retained_usd is None or cost_usd is None else self.retained_usd + cost_usd
        self.pay(cost_usd)
        return True
