"""All training jobs of an emulator: creation, stops, quotas, warm pools, what is left after a crash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.emulator.container.context import Context
from backends.emulator.container.filesystem import CHECKPOINTS
from backends.emulator.core import lifecycle
from backends.emulator.core.database import JobStore
from backends.emulator.core.job import Job
from backends.emulator.core.settings import WARM_POOL_QUOTA
from backends.emulator.http.errors import ServiceError, invalid, name_taken, not_found
from backends.emulator.training import quotas
from backends.emulator.training.execution import INTERNAL, JobExecution
from backends.emulator.training.job_faults import JobFaults
from backends.emulator.training.warm_pool_manager import WarmPoolManager
from backends.emulator.training.warm_pools import WarmPool, status
from definitions.errors import UserError


class JobRegistry:
    """The registry. Its methods hold the loop's lock, so that answers and the jobs' own steps never mix.

    Args:
        store: what outlives this process; jobs in it that were running have failed.
    """

    def __init__(self, context: Context, store: JobStore) -> None:
        self._context, self._store = context, store
        self._jobs: dict[str, Job] = {}
        self._executions: dict[str, JobExecution] = {}
        self._pools = WarmPoolManager(context, self._jobs, self._save, self._pool_is_within_quota)
        self._number = 0
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

    def execution_of(self, name: str) -> JobExecution:
        """Return a job's execution; raises the service's error where it is over."""
        job = self.get(name)
        if name not in self._executions:
            raise invalid(f"The request was rejected because the training job is in status {job.life.status}.")
        return self._executions[name]

    def create(self, request: dict[str, Any]) -> Job:
        """Accept a valid request; raises the service's error for a name that exists, a quota, or a lack of capacity."""
        name = request["TrainingJobName"]
        context = self._context
        with self.lock:
            if name in self._jobs:
                raise name_taken(context.settings.arn(name))
            job = self._job(name, request)
            pool = self._pools.find(job)
            self._check_quota(job, pool)
            refused = JobFaults(job, context.injector).no_capacity("create", job.instance_type)
            if refused is not None:
                raise ServiceError("CapacityError", refused)
            self._number += 1
            self._jobs[name] = job
            self._save(job)
            cache = self._pools.claim(job, pool)
            execution = JobExecution(job, context, self._save, self._ended, pool is not None, cache)
            self._executions[name] = execution
            execution.begin()
            return job

    def stop(self, name: str) -> None:
        """Do what StopTrainingJob does."""
        with self.lock:
            job = self.get(name)
            if job.life.over:
                raise invalid(f"The request was rejected because the training job is in status {job.life.status}.")
            if job.life.status != "Stopping":
                self._executions[name].stop()

    def delete(self, name: str) -> None:
        """Do what DeleteTrainingJob does."""
        with self.lock:
            job = self.get(name)
            if not job.life.over:
                raise ServiceError("ResourceInUse", f"The training job is in status {job.life.status} and cannot be deleted.")
            if self._pools.pools.of(name) is not None:
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
                self._pools.keep_alive(job, request["ResourceConfig"]["KeepAlivePeriodInSeconds"])
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
        return quotas.used(quota, self._jobs.values(), self._pools.pools)

    def limit(self, quota: str) -> int:
        """Return a quota's limit, by the faults in force or by the settings."""
        limit = self._context.injector.quota(quota)
        return quotas.limit_of(quota, self._context.settings.quotas) if limit is None else limit

    def close(self) -> None:
        """End all executions and pools."""
        with self.lock:
            for execution in self._executions.values():
                execution.close()
            self._executions.clear()

    def _job(self, name: str, request: dict[str, Any]) -> Job:
        if "CheckpointConfig" in request:
            request["CheckpointConfig"].setdefault("LocalPath", CHECKPOINTS)
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

    def _ended(self, job: Job) -> None:
        self._executions.pop(job.name, None)
        self._save(job)
        self._pools.release(job)

    def _pool_is_within_quota(self, job: Job) -> bool:
        quota = WARM_POOL_QUOTA.format(job.instance_type)
        return self.used(quota) + job.instance_count <= self.limit(quota)

    def _save(self, job: Job) -> None:
        self._store.save(job.name, job.number, job.to_json())

    def _load(self) -> None:
        now = self._context.now()
        for data in self._store.load():
            try:
                job = Job.from_json(data)
            except (KeyError, TypeError, ValueError) as error:
                what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
                raise UserError(
                    f"the emulator's folder holds a job that cannot be read: {data.get('name', 'without a name')}",
                    f"{what}; it was written by an earlier Outrider",
                    "give another folder, or use the Outrider that wrote it",
                ) from None
            self._jobs[job.name] = job
            self._number = max(self._number, job.number)
            if not job.life.over:
                job.life = lifecycle.move(job.life, "Failed", now, reason=INTERNAL)
                self._save(job)
            if job.warm is not None and job.warm["Status"] in ("Available", "InUse"):
                job.warm = status("Terminated", max(0.0, now - (job.life.ended_at or now)))
                self._save(job)
