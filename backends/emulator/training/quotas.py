"""Quotas by instance type: what a job wants of which, what is in use, and whether there is room. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping

from backends.emulator.core.job import Job
from backends.emulator.core.settings import SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA
from backends.emulator.http.errors import limit_exceeded
from backends.emulator.training.warm_pools import WarmPools


def limit_of(quota: str, limits: Mapping[str, int]) -> int:
    """Return a quota's limit by the first pattern that fits its name; 0 where none does."""
    return next((limit for pattern, limit in limits.items() if fnmatch.fnmatchcase(quota, pattern)), 0)


def wanted(job: Job) -> dict[str, int]:
    """Return how many instances a job needs, by quota."""
    form = SPOT_QUOTA if job.spot else TRAINING_QUOTA
    found: dict[str, int] = {}
    for instance in job.instances:
        quota = form.format(instance.instance_type)
        found[quota] = found.get(quota, 0) + 1
    return found


def used(quota: str, jobs: Iterable[Job], pools: WarmPools) -> int:
    """Return how many instances count against a quota: of jobs that are not over, a stopping one included, and of waiting pools."""
    for form in (TRAINING_QUOTA, WARM_POOL_QUOTA):
        instance_type = quota.removesuffix(form.format(""))
        if instance_type != quota:
            waiting = pools.instances(instance_type)
            if form == WARM_POOL_QUOTA:
                return waiting
            return waiting + sum(wanted(job).get(quota, 0) for job in jobs if not job.life.over)
    return sum(wanted(job).get(quota, 0) for job in jobs if not job.life.over)


def check(quota: str, limit: int, in_use: int, delta: int) -> None:
    """Raise `ResourceLimitExceeded` where so many more instances are too many."""
    if delta > 0 and in_use + delta > limit:
        raise limit_exceeded(quota, limit, in_use, delta)
