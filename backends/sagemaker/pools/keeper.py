"""Looks after warm pools: who got them, what they cost, when they are given up."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from backends.adopted import AdoptedPool
from backends.sagemaker.aws.call_queue import Call
from backends.sagemaker.jobs.job import JobPhase
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.pools.pools import MatchKey, PoolTracker, TrackedPool

_WAITING = ("", "Starting", "Pending")


class PoolKeeper:
    """The warm pools of one experiment.

    Args:
        table: the jobs; its options say how long instances are kept.
    """

    def __init__(self, table: JobTable) -> None:
        self._table = table
        self._pools = PoolTracker(table.options.keep_alive_s)
        self.released = False

    @property
    def releasing(self) -> bool:
        """Whether pools were given up whose end is not known yet."""
        return self.released and bool(self._pools.open)

    def idle(self, key: MatchKey) -> int:
        """Return how many pools wait for a further job with this key."""
        return self._pools.idle(key)

    def was_warm(self, job: str) -> bool:
        """Return whether a job is known to have got the instances of a pool."""
        return self._pools.was_warm(job)

    def adopt(self, pool: AdoptedPool) -> None:
        """Follow a pool that an earlier controller knew of."""
        self._pools.adopt(pool.job, MatchKey(pool.instance_type, pool.instance_count), pool.since)
        self._look(pool.job)

    def submitted(self, job: str, key: MatchKey) -> None:
        """Take note of a job that is being created; as long as there are any, pools are worth keeping."""
        self.released = False
        self._pools.submitted(job, key)

    def job_began(self, job: str, key: MatchKey) -> None:
        """Look whether a job that just got its instances got them from a pool."""
        for pool in self._pools.to_look_at(self._table.now(), key, job):
            self._look(pool.job)

    def job_ended(self, described: Mapping[str, Any], key: MatchKey) -> None:
        """Take in an ended job, whose instances may be kept, and which may have used up a pool without having been seen to start."""
        if self._table.options.keep_alive_s:
            self.job_began(str(described.get("TrainingJobName", "")), key)
            self._table.events += self._pools.ended(described, key, self._table.now())

    def status_seen(self, job: str, status: Mapping[str, Any]) -> None:
        """Take in a pool's status."""
        self._table.events += self._pools.status_seen(job, status, self._table.now(), self._has_begun)

    def free_quota(self, key: MatchKey) -> None:
        """Give up idle pools that take up the quota of a job which cannot have them."""
        for pool in self._pools.in_the_way(key):
            self._give_up(pool)

    def release(self) -> None:
        """Give up all pools, those there are and those that jobs still leave."""
        self.released = True
        self.plan()

    def plan(self) -> None:
        """Give up what is not worth its price any more, and look at pools whose time is over."""
        now = self._table.now()
        self._pools.doubt_unused(self._is_over, now)
        for pool in self._pools.to_release(now, wanted=not self.released):
            self._give_up(pool)
        for pool in self._pools.to_look_at(now):
            self._look(pool.job)

    def next_at(self) -> float:
        """Return when `plan` has something to do; infinity where nothing is planned."""
        return self._pools.next_at(self._table.now())

    def _give_up(self, pool: TrackedPool) -> None:
        pool.release_requested = True
        update = functools.partial(self._update, TrainingJobName=pool.job, ResourceConfig={"KeepAlivePeriodInSeconds": 0})
        # Taken or refused: the next look tells what has become of it.
        answered = functools.partial(self._asked, pool.job)
        self._table.calls.put(Call("UpdateTrainingJob", update, answered, answered))

    def _update(self, **request: Any) -> Any:
        return self._table.clients.get("sagemaker", attempts=1).update_training_job(**request)

    def _asked(self, job: str, _: Any) -> None:
        self._pools.release_was_requested(job, self._table.now())

    def _look(self, job: str) -> None:
        def vanished() -> None:
            self._table.events += self._pools.job_vanished(job, self._table.now())

        self._table.describe(job, lambda answer: self.status_seen(job, answer.get("WarmPoolStatus") or {}), vanished)

    def _is_over(self, job: str) -> bool:
        return job not in self._table.jobs

    def _has_begun(self, job: str) -> bool:
        cloud = self._table.jobs.get(job)
        return cloud is None or cloud.phase is JobPhase.OVER or cloud.stage not in _WAITING
