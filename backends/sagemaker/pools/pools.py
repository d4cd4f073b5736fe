"""Warm pools: instances that SageMaker keeps after a job. Which are idle, who got them, what that cost, when to give them up. No I/O."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backends.events import Retained
from backends.sagemaker.jobs.outcome import stage_seconds

_GRACE_S = 5.0
_AGAIN_S = 5.0
_LEAST_WORTH_S = 1.0
_GONE = ("Reused", "Terminated")


@dataclass(frozen=True)
class MatchKey:
    """What a job must have in common with a pool to get its instances, as far as jobs of one experiment differ in it."""

    instance_type: str
    instance_count: int


@dataclass
class TrackedPool:
    """One pool that waits.

    Args:
        job: whose instances they were; `key`: who may get them.
        since: when the job ended; `until`: when they are given up at the latest; both by our clock.
        release_requested: whether its release was asked for.
        next_look_at: when it is looked at next.
        reserved_for: the job that was submitted for it, and of which it is not known yet whether it got it; empty where none was.
        is_doubtful: whether that job is over.
    """

    job: str
    key: MatchKey
    since: float
    until: float
    release_requested: bool = False
    next_look_at: float = 0.0
    looked_at: float = -math.inf
    reserved_for: str = ""
    is_doubtful: bool = False

    def __post_init__(self) -> None:
        self.next_look_at = self.until + _GRACE_S

    @property
    def is_free(self) -> bool:
        """Whether it waits for nobody in particular, and may go on waiting."""
        return not self.release_requested and not self.reserved_for


class PoolTracker:
    """The pools of one experiment.

    Args:
        keep_alive_s: how long instances are kept; 0 where none are.
    """

    def __init__(self, keep_alive_s: float) -> None:
        self._keep_alive_s = keep_alive_s
        self._pools: dict[str, TrackedPool] = {}
        self._starting_s: dict[str, float] = {}
        self._warm: set[str] = set()

    @property
    def open(self) -> Sequence[TrackedPool]:
        """Pools whose end was not seen yet, the one that waits longest first."""
        return sorted(self._pools.values(), key=lambda pool: (pool.since, pool.job))

    def idle(self, key: MatchKey) -> int:
        """Return how many pools a further job with this key could get."""
        return sum(pool.key == key and pool.is_free for pool in self._pools.values())

    def was_warm(self, job: str) -> bool:
        """Return whether a job is known to have got the instances of a pool."""
        return job in self._warm

    def submitted(self, job: str, key: MatchKey) -> None:
        """Take note of a job that is being created: the pool that it should get is no longer idle, nor given up."""
        for pool in self.open:
            if pool.key == key and pool.is_free:
                pool.reserved_for = job
                return

    def doubt_unused(self, is_over: Callable[[str], bool], now: float) -> None:
        """Have pools looked at that are due to a job which is over, or was never created; `is_over` takes a job's name."""
        for pool in self._pools.values():
            if pool.reserved_for and not pool.is_doubtful and is_over(pool.reserved_for):
                pool.is_doubtful, pool.next_look_at = True, now

    def ended(self, described: Mapping[str, Any], key: MatchKey, now: float) -> Iterator[Retained]:
        """Take in a job that has ended, by its description; yield what is kept of it."""
        name = str(described.get("TrainingJobName", ""))
        starting_s = stage_seconds(described).get("Starting")
        if starting_s is not None:
            self._starting_s[name] = starting_s
        status = described.get("WarmPoolStatus") or {}
        state, billed_s = status.get("Status", ""), status.get("ResourceRetainedBillableTimeInSeconds")
        if not state or name in self._pools or (state == "Terminated" and not billed_s):
            return
        self._pools[name] = TrackedPool(name, key, now, now + self._keep_alive_s)
        yield Retained(name, now, key.instance_type, key.instance_count, worst_s=self._keep_alive_s)
        yield from self.status_seen(name, status, now)

    def adopt(self, job: str, key: MatchKey, since: float) -> None:
        """Take over a pool that an earlier controller knew of."""
        self._pools[job] = TrackedPool(job, key, since, since + self._keep_alive_s)

    def status_seen(
        self, job: str, status: Mapping[str, Any], now: float, has_begun: Callable[[str], bool] = lambda job: True
    ) -> Iterator[Retained]:
        """Take in a pool's status as a listing or a description has it; yield its end, once.

        Args:
            job: whose instances they were.
            status: its `WarmPoolStatus`.
            now: by our clock.
            has_begun: whether a job has got its instances, wherever from.
        """
        pool = self._pools.get(job)
        state = status.get("Status", "")
        if pool is None:
            return
        if state not in _GONE:
            if state == "Available" and pool.reserved_for and has_begun(pool.reserved_for):
                # It got others.
                pool.reserved_for, pool.is_doubtful, pool.next_look_at = "", False, pool.until + _GRACE_S
            return
        by = str(status.get("ReusedByJob", ""))
        if by:
            self._warm.add(by)
            self._hand_on(pool, by)
        del self._pools[job]
        # Without a figure what passed by our clock is the best there is, and never too little.
        billed_s = status.get("ResourceRetainedBillableTimeInSeconds")
        seconds = float(billed_s) if billed_s is not None else max(0.0, min(now, pool.until) - pool.since)
        yield Retained(job, now, pool.key.instance_type, pool.key.instance_count, billable_s=seconds, reused_by=by)

    def _hand_on(self, pool: TrackedPool, by: str) -> None:
        """Where another job got a pool than was thought, that one's own goes to the job that went away empty."""
        for other in self._pools.values():
            if other is not pool and other.reserved_for == by:
                other.reserved_for, other.is_doubtful = pool.reserved_for, False

    def job_vanished(self, job: str, now: float) -> Iterator[Retained]:
        """Take in that the service knows nothing of a pool's job any more."""
        yield from self.status_seen(job, {"Status": "Terminated"}, now)

    def to_look_at(self, now: float, started: MatchKey | None = None, job: str = "") -> list[TrackedPool]:
        """Return the pools to be looked at now: those whose time is over, and those that a job which just started may have got.

        Args:
            now: by our clock.
            started: key of a job that just started; None for none.
            job: its name; where a pool is due to it, no other one is looked at, and else each every few seconds at most.
        """
        pools = self.open
        due = [pool for pool in pools if now >= pool.next_look_at]
        if started is not None:
            own = [pool for pool in pools if job and pool.reserved_for == job]
            may_be = own or [pool for pool in pools if pool.key == started and now >= pool.looked_at + _AGAIN_S]
            due += [pool for pool in may_be if pool not in due]
        for pool in due:
            pool.looked_at = now
            if now >= pool.next_look_at:
                pool.next_look_at = now + _AGAIN_S
        return due

    def release_was_requested(self, job: str, now: float) -> None:
        """Take note that a pool's release was asked for, so that it is looked at soon."""
        if job in self._pools:
            self._pools[job].release_requested, self._pools[job].next_look_at = True, now

    def next_at(self, now: float) -> float:
        """Return when a pool is to be looked at, or held no longer; infinity without pools."""
        held = [pool.since + self._worth_s() for pool in self._pools.values() if pool.is_free]
        return min([pool.next_look_at for pool in self._pools.values()] + [max(now, at) for at in held], default=math.inf)

    def _worth_s(self) -> float:
        """Return how long a pool is held at most while nothing comes; infinity where no job has started cold yet."""
        unsettled = {pool.reserved_for for pool in self._pools.values()}
        cold_s = [seconds for job, seconds in self._starting_s.items() if job not in self._warm and job not in unsettled]
        return max(statistics.median(cold_s), _LEAST_WORTH_S) if cold_s else math.inf

    def to_release(self, now: float, wanted: bool) -> list[TrackedPool]:
        """Return the pools to give up.

        While jobs may still come, one that has waited for as long as a cold start takes: to hold it for ever longer would cost more than
        it can save (the rule for renting or buying without knowing the future, which never pays more than twice the best). One that is
        due to a job waits for it.

        Args:
            now: by our clock.
            wanted: whether further jobs may come.
        """
        if not wanted:
            return [pool for pool in self.open if not pool.release_requested]
        free = [pool for pool in self.open if pool.is_free]
        if not free:
            return []
        worth_s = self._worth_s()
        return [pool for pool in free if now - pool.since >= worth_s]

    def in_the_way(self, key: MatchKey) -> list[TrackedPool]:
        """Return the idle pools whose instances count against the quota of jobs with this key, which cannot get them."""
        return [pool for pool in self.open if pool.is_free and pool.key != key and pool.key.instance_type == key.instance_type]
