"""What becomes of a job's instances: taken from a warm pool, kept in one after the job, given back when their time is over."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from backends.emulator.container.context import Context
from backends.emulator.core.job import Job
from backends.emulator.http.errors import invalid
from backends.emulator.training.warm_pools import WarmPool, WarmPools, match_key, status


class WarmPoolManager:
    """Moves instances between jobs and pools; to be used holding the loop's lock.

    Args:
        context: the emulator's parts.
        jobs: all jobs by name.
        save: called with each job whose WarmPoolStatus has changed.
        is_within_quota: whether the quota allows a job's instances to be kept.
    """

    def __init__(
        self, context: Context, jobs: Mapping[str, Job], save: Callable[[Job], None], is_within_quota: Callable[[Job], bool]
    ) -> None:
        self._context, self._jobs, self._save, self._is_within_quota = context, jobs, save, is_within_quota
        self.pools = WarmPools()
        self._caches: dict[str, str] = {}

    def find(self, job: Job) -> WarmPool | None:
        """Return the pool whose instances a new job gets; None where it starts cold."""
        return None if job.spot else self.pools.find(match_key(job.request), self._context.now())

    def claim(self, job: Job, pool: WarmPool | None) -> Path | None:
        """Take a pool over for a job and return the cache folder that it uses; None where it uses none."""
        folder = self._own_cache(job)
        if pool is None:
            return folder if job.warm is not None else None
        former = self._jobs.get(pool.job)
        if former is not None:
            former.warm = status("Reused", self._context.now() - pool.since, job.name)
            self._save(former)
        self.pools.remove(pool.job)
        job.chain_since = pool.chain_since
        if pool.cache:
            self._caches[job.name] = pool.cache
            return Path(pool.cache)
        return folder

    def release(self, job: Job) -> None:
        """Keep the instances of a job that has ended, where it asked for that, may and did not fail by a fault of the service."""
        kept = job.warm is not None and job.life.started_at is not None and _keeps_pool(job) and job.keep_alive_s > 0
        if not kept or not self._is_within_quota(job):
            self._drop_cache(job)
            if job.warm is not None:
                job.warm = status("Terminated", 0)
                self._save(job)
            return
        now = self._context.now()
        pool = self.pools.add(
            WarmPool(
                job.name,
                match_key(job.request),
                job.instance_type,
                job.instance_count,
                now,
                now + job.keep_alive_s,
                job.chain_since if job.chain_since is not None else job.life.started_at or now,
                self._cache_of(job),
            )
        )
        job.warm = status("Available", 0)
        self._save(job)
        self._context.loop.call_at(pool.until, lambda: self._expire(pool))

    def keep_alive(self, job: Job, seconds: int) -> None:
        """Set how long a job's instances are kept after its end; raises the service's error where that cannot be."""
        if seconds > self._context.settings.keep_alive_max_s:
            raise invalid(f"KeepAlivePeriodInSeconds must be at most {self._context.settings.keep_alive_max_s}")
        if job.warm is None or job.warm["Status"] not in ("Available", "InUse"):
            raise invalid("The training job has no warm pool that could be updated.")
        job.request["ResourceConfig"] = {**job.request["ResourceConfig"], "KeepAlivePeriodInSeconds": seconds}
        pool = self.pools.of(job.name)
        if pool is None:
            return
        pool = self.pools.add(replace(pool, until=pool.since + seconds))
        if self._context.now() >= pool.until:
            self._end(replace(pool, until=self._context.now()))
        else:
            self._context.loop.call_at(pool.until, lambda: self._expire(pool))

    def _expire(self, pool: WarmPool) -> None:
        # The pool may have been taken, or its time have been prolonged, since this was set.
        current = self.pools.of(pool.job)
        if current is not None and self._context.now() >= current.until:
            self._end(current)

    def _end(self, pool: WarmPool) -> None:
        self.pools.remove(pool.job)
        job = self._jobs.get(pool.job)
        if job is not None:
            job.warm = status("Terminated", min(self._context.now(), pool.until) - pool.since)
            self._save(job)
        if pool.cache:
            self._remove(pool.cache)

    def _cache_of(self, job: Job) -> str:
        return self._caches.pop(job.name, str(self._own_cache(job)))

    def _own_cache(self, job: Job) -> Path:
        return self._context.folder / "caches" / f"{zlib.crc32(job.name.encode()):08x}-{job.number}"

    def _drop_cache(self, job: Job) -> None:
        if job.warm is not None or job.chain_since is not None:
            self._remove(self._cache_of(job))

    def _remove(self, folder: str) -> None:
        self._context.loop.run_in_thread(lambda: shutil.rmtree(folder, ignore_errors=True), lambda result, error: None)


def _keeps_pool(job: Job) -> bool:
    return job.life.status in ("Completed", "Stopped") or job.life.reason.startswith(("AlgorithmError", "ClientError"))
