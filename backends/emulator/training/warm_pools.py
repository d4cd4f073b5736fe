"""Managed warm pools: which request matches which pool, how long one is kept, what it bills. Pure but for its list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

LONGEST_CHAIN_S = 28 * 86400


def match_key(request: Mapping[str, Any]) -> str:
    """Return what has to be identical for a job to get another's instances, as one comparable string.

    The image, the code, hyperparameters, inputs and environment are no part of it.
    """
    resources = request.get("ResourceConfig", {})
    network = request.get("VpcConfig", {})
    chaining = request.get("SessionChainingConfig", {}).get("EnableSessionTagChaining", False)
    parts = [
        request.get("RoleArn"),
        resources.get("InstanceType"),
        resources.get("InstanceCount"),
        resources.get("VolumeSizeInGB"),
        resources.get("VolumeKmsKeyId"),
        sorted(network.get("Subnets", [])),
        sorted(network.get("SecurityGroupIds", [])),
        bool(request.get("EnableInterContainerTrafficEncryption", False)),
        bool(request.get("EnableNetworkIsolation", False)),
        bool(chaining),
    ]
    return json.dumps(parts)


@dataclass(frozen=True)
class WarmPool:
    """Instances that are kept after a job.

    Args:
        job: whose instances they were; `key`: what a job must match.
        since, until: from when to when they are kept, in seconds since the epoch.
        chain_since: when the first job of the chain got them.
        cache: folder of the persistent cache, of one host each.
    """

    job: str
    key: str
    instance_type: str
    instance_count: int
    since: float
    until: float
    chain_since: float
    cache: str


class WarmPools:
    """The pools that are available now."""

    def __init__(self) -> None:
        self._pools: dict[str, WarmPool] = {}

    def add(self, pool: WarmPool) -> WarmPool:
        """Keep a pool, no longer than a chain may last, and return it as it is kept."""
        kept = replace(pool, until=min(pool.until, pool.chain_since + LONGEST_CHAIN_S))
        self._pools[kept.job] = kept
        return kept

    def find(self, key: str, now: float) -> WarmPool | None:
        """Return the pool that a request gets: of the matching ones, the one that has been idle longest."""
        fitting = [pool for pool in self._pools.values() if pool.key == key and now < pool.until]
        return min(fitting, key=lambda pool: (pool.since, pool.job)) if fitting else None

    def of(self, job: str) -> WarmPool | None:
        """Return the pool that a job left behind and that is still there."""
        return self._pools.get(job)

    def remove(self, job: str) -> None:
        """Take a pool away, as it is reused or ended."""
        self._pools.pop(job, None)

    def instances(self, instance_type: str) -> int:
        """Return how many instances of a type wait in pools."""
        return sum(pool.instance_count for pool in self._pools.values() if pool.instance_type == instance_type)

    def all(self) -> list[WarmPool]:
        """Return all pools."""
        return list(self._pools.values())


def status(state: str, billed_s: float | None = None, reused_by: str = "") -> dict[str, Any]:
    """Return a job's `WarmPoolStatus`."""
    found: dict[str, Any] = {"Status": state}
    if billed_s is not None:
        found["ResourceRetainedBillableTimeInSeconds"] = round(billed_s)
    if reused_by:
        found["ReusedByJob"] = reused_by
    return found
