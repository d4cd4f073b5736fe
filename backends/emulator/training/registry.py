"""All training jobs of an emulator: creation, stops, quotas, warm pools, what is left after a crash."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from backends.emulator.container.context import Context
from backends.emulator.core import lifecycle
from backends.emulator.core.database import JobStore
from backends.emulator.core.job import Job
from backends.emulator.core.settings import WARM_POOL_QUOTA
from backends.emulator.http.errors import ServiceError, invalid, name_taken, not_found
from backends.emulator.training import quotas
from backends.emulator.training.execution import INTERNAL, JobExecution
from backends.emulator.training.job_faults import JobFaults
from backends.emulator.training.warm_pools import WarmPool, WarmPools, match_key, status


class JobRegistry:
    """The registry. Its methods hold the loop's lock, so that answers and the jobs' own steps never mix.

    Args:
        store: what outlives this process; jobs in it that were running have failed.
    """

    def __init__(self, context: Context, store: JobStore) -> None:
        self._context, self._store = context, store
        self._jobs: dict[str, Job] = {}
        self._runs: dict[str, JobExecution] = {}
        self._pools = WarmPools()
        self._number = 0
        self._caches: dict[str, str] = {}
        self._load()

    @property
    def lock(self) -> Any:
        """The lock under which jobs may be looked at."""
        return self._context.loop.lock

    def all(self) -> list[Job]:
        """Return all jobs in the order of their creation."""
        return list(self._jobs.values())

    def get(self, name: str) -> Job:
        """Return a job; raises the service's error for an unknown one."""
        if name not in self._jobs:
            raise not_found(name)
        return self._jobs[name]

    def run_of(self, name: str) -> JobExecution:
        """Return a job's run; raises the service's error where it is over."""
        job = self.get(name)
        if name not in self._runs:
            raise invalid(f"The request was rejected because the training job is in status {job.life.status}.")
        return self._runs[name]

    def create(self, request: dict[str, Any]) -> Job:
        """Accept a valid request; raises the service's error for a name that exists, a quota, or a lack of capacity."""
        name = request["TrainingJobName"]
        context = self._context
        with self.lock:
            if name in self._jobs:
                raise name_taken(context.settings.arn(name))
            job = self._job(name, request)
            pool = self._pools.find(match_key(request), context.now()) if not job.spot else None
            self._check_quota(job, pool)
            refused = JobFaults(job, context.injector).no_capacity("create", job.instance_type)
            if refused is not None:
                raise ServiceError("CapacityError", refused)
            self._number += 1
            self._jobs[name] = job
            self._save(job)
            run = self._runs[name] = JobExecution(job, context, self._save, self._ended, pool is not None, self._claim(job, pool))
            run.begin()
            return job

    def stop(self, name: str) -> None:
        """Do what StopTrainingJob does."""
        with self.lock:
            job = self.get(name)
            if job.life.over:
                raise invalid(f"The request was rejected because the training job is in status {job.life.status}.")
            if job.life.status != "Stopping":
                self._runs[name].stop()

    def delete(self, name: str) -> None:
        """Do what DeleteTrainingJob does."""
        with self.lock:
            job = self.get(name)
            if not job.life.over:
                raise ServiceError("ResourceInUse", f"The training job is in status {job.life.status} and cannot be deleted.")
            if self._pools.of(name) is not None:
                raise ServiceError("ResourceInUse", "The training job retains an Available warm pool and cannot be deleted.")
            for stream in job.streams:
                self._context.logs.delete(stream)
            del self._jobs[name]
            self._store.delete(name)

    def update(self, name: str, request: Mapping[str, Any]) -> Job:
        """Do what UpdateTrainingJob does: another keep-alive period, another profiler configuration."""
        with self.lock:
            job = self.get(name)
            if "ResourceConfig" in request:
                self._keep_alive(job, request["ResourceConfig"]["KeepAlivePeriodInSeconds"])
            for part in ("ProfilerConfig", "ProfilerRuleConfigurations", "RemoteDebugConfig"):
                if part in request:
                    if job.life.over:
                        raise invalid(f"The training job is in status {job.life.status}; {part} cannot be updated.")
                    earlier = job.request.get(part)
                    job.request[part] = {**earlier, **request[part]} if isinstance(earlier, dict) else request[part]
            self._save(job)
            return job

    def tagged(self, job: Job, tags: Mapping[str, str], removed: tuple[str, ...] = ()) -> None:
        """Set and remove tags of a job."""
        with self.lock:
            found = {key: value for key, value in {**job.tags, **tags}.items() if key not in removed}
            if len(found) > 50:
                raise invalid("A resource can have at most 50 tags")
            job.tags = found
            self._save(job)

    def used(self, quota: str) -> int:
        """Return how many instances count against a quota now."""
        return quotas.used(quota, self._jobs.values(), self._pools)

    def limit(self, quota: str) -> int:
        """Return a quota's limit, by the faults in force or by the settings."""
        limit = self._context.injector.quota(quota)
        return quotas.limit_of(quota, self._context.settings.quotas) if limit is None else limit

    def close(self) -> None:
        """End all runs and pools."""
        with self.lock:
            for run in self._runs.values():
                run.close()
            self._runs.clear()

    def _job(self, name: str, request: dict[str, Any]) -> Job:
        resources = request["ResourceConfig"]
        options = resources.get("InstancePreferences") or resources.get("InstanceGroups") or [resources]
        tags = {tag["Key"]: tag["Value"] for tag in request.get("Tags", [])}
        life = lifecycle.created(self._context.now())
        retries = request.get("RetryStrategy", {}).get("MaximumRetryAttempts", 0)
        count = sum(group["InstanceCount"] for group in options) if "InstanceGroups" in resources else options[0].get("InstanceCount", 1)
        job = Job(name, self._number + 1, request, tags, life, options[0]["InstanceType"], count, attempts_left=retries)
        if job.keep_alive_s and self.limit(WARM_POOL_QUOTA.format(job.instance_type)) > 0:
            job.warm = status("InUse")
        return job

    def _check_quota(self, job: Job, pool: WarmPool | None) -> None:
        wanted = quotas.wanted(job)
        for quota, count in wanted.items():
            # Instances of the pool that the job gets are counted already.
            delta = count - (pool.instance_count if pool is not None else 0)
            quotas.check(quota, self.limit(quota), self.used(quota), delta)

    # Warm pools

    def _claim(self, job: Job, pool: WarmPool | None) -> Path | None:
        """Take the pool over and return the cache folder that the job uses."""
        folder = self._own_cache(job)
        if pool is None:
            return folder if job.warm is not None else None
        former = self._jobs.get(pool.job)
        if former is not None:
            former.warm = status("Reused", self._context.now() - pool.since, job.name)
            self._save(former)
        self._pools.remove(pool.job)
        job.chain_since = pool.chain_since
        if pool.cache:
            self._caches[job.name] = pool.cache
            return Path(pool.cache)
        return folder

    def _ended(self, job: Job) -> None:
        self._runs.pop(job.name, None)
        self._save(job)
        kept = job.warm is not None and job.life.started_at is not None and _keeps_pool(job) and job.keep_alive_s > 0
        if kept:
            kept = self.used(WARM_POOL_QUOTA.format(job.instance_type)) + job.instance_count <= self.limit(
                WARM_POOL_QUOTA.format(job.instance_type)
            )
        if not kept:
            self._drop_cache(job)
            if job.warm is not None:
                job.warm = status("Terminated", 0)
                self._save(job)
            return
        now = self._context.now()
        chain_since = job.chain_since if job.chain_since is not None else job.life.started_at or now
        pool = WarmPool(
            job.name,
            match_key(job.request),
            job.instance_type,
            job.instance_count,
            now,
            now + job.keep_alive_s,
            chain_since,
            self._cache_of(job),
        )
        pool = self._pools.add(pool)
        job.warm = status("Available", 0)
        self._save(job)
        self._context.loop.call_at(pool.until, lambda: self._expire(pool))

    def _expire(self, pool: WarmPool) -> None:
        current = self._pools.of(pool.job)
        if current is not None and self._context.now() >= current.until:
            self._end_pool(current)

    def _end_pool(self, pool: WarmPool) -> None:
        self._pools.remove(pool.job)
        job = self._jobs.get(pool.job)
        if job is not None:
            job.warm = status("Terminated", min(self._context.now(), pool.until) - pool.since)
            self._save(job)
        if pool.cache:
            self._context.loop.run_in_thread(lambda: shutil.rmtree(pool.cache, ignore_errors=True), lambda result, error: None)

    def _keep_alive(self, job: Job, seconds: int) -> None:
        if seconds > self._context.settings.keep_alive_max_s:
            raise invalid(f"KeepAlivePeriodInSeconds must be at most {self._context.settings.keep_alive_max_s}")
        if job.warm is None or job.warm["Status"] not in ("Available", "InUse"):
            raise invalid("The training job has no warm pool that could be updated.")
        job.request["ResourceConfig"] = {**job.request["ResourceConfig"], "KeepAlivePeriodInSeconds": seconds}
        pool = self._pools.of(job.name)
        if pool is None:
            return
        pool = self._pools.add(replace(pool, until=pool.since + seconds))
        if self._context.now() >= pool.until:
            self._end_pool(replace(pool, until=self._context.now()))
        else:
            self._context.loop.call_at(pool.until, lambda: self._expire(pool))

    def _cache_of(self, job: Job) -> str:
        return self._caches.pop(job.name, str(self._own_cache(job)))

    def _own_cache(self, job: Job) -> Path:
        return self._context.folder / "caches" / f"{zlib.crc32(job.name.encode()):08x}-{job.number}"

    def _drop_cache(self, job: Job) -> None:
        if job.warm is None and job.chain_since is None:
            return
        folder = self._cache_of(job)
        self._context.loop.run_in_thread(lambda: shutil.rmtree(folder, ignore_errors=True), lambda result, error: None)

    def _save(self, job: Job) -> None:
        self._store.save(job.name, job.number, job.to_json())

    def _load(self) -> None:
        now = self._context.now()
        for data in self._store.load():
            job = Job.from_json(data)
            self._jobs[job.name] = job
            self._number = max(self._number, job.number)
            if not job.life.over:
                job.life = lifecycle.move(job.life, "Failed", now, reason=INTERNAL)
                self._save(job)
            if job.warm is not None and job.warm["Status"] in ("Available", "InUse"):
                job.warm = status("Terminated", max(0.0, now - (job.life.ended_at or now)))
                self._save(job)


def _keeps_pool(job: Job) -> bool:
    if job.life.status in ("Completed", "Stopped"):
        return True
    return job.life.reason.startswith(("AlgorithmError", "ClientError"))
