"""Training jobs whose instances are kept warm for the next one: SageMaker's managed warm pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backends.adopted import AdoptedJob
from backends.capabilities import Capabilities
from backends.events import Closed, Event, Rejected
from backends.failures import Cause
from backends.job_spec import JobSpec
from backends.sagemaker.aws.clients import is_emulated
from backends.sagemaker.aws.errors import CallFailure
from backends.sagemaker.aws.lookups import WARM_POOL
from backends.sagemaker.backend import SageMakerBackend
from backends.sagemaker.jobs.static_checks import named_instance_types
from backends.sagemaker.pools.pools import MatchKey


class WarmPoolBackend(SageMakerBackend):
    """The SageMaker back-end with keep-alive. Where the account's quota allows no pool, jobs start cold and nothing else changes.

    A `Closed` says in its usage whether the job got kept instances (`warm`), and which quota allows no pool for it where one does
    (`quota_at_zero`).
    """

    capabilities = Capabilities(checkpoints=True, survives_controller=True, real_money=True, warm_pools=True, endpoints=True)
    block = "warm_pool"

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.capabilities = replace(self.capabilities, warm_pools=True)
        self._quotas: dict[str, int | None] = {}
        self._said_at: set[str] = set()
        self._keys: dict[str, MatchKey] = {}

    @classmethod
    def expected_capabilities(cls, environ: Mapping[str, str]) -> Capabilities:
        """Return the capabilities; on the emulator nothing real is spent."""
        emulated = is_emulated(environ)
        return replace(cls.capabilities, real_money=not emulated, price_label="emulated" if emulated else "")

    def submit(self, job: JobSpec) -> None:
        """Create the training job, and say so once where its instances cannot be kept; see `SageMakerBackend.submit`."""
        super().submit(job)
        self._keys[job.name] = MatchKey(job.instance_type, job.instance_count)
        if self.pool_quota(job.instance_type) == 0 and job.instance_type not in self._said_at:
            self._said_at.add(job.instance_type)
            self._table.notify(f"no warm pools: the quota '{WARM_POOL.format(job.instance_type)}' is 0")

    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Take over an earlier controller's jobs; see `Backend.adopt`."""
        self._keys |= {adopted.spec.name: MatchKey(adopted.spec.instance_type, adopted.spec.instance_count) for adopted in jobs}
        super().adopt(jobs, last_seen_at)

    def capacity(self, instance_type: str) -> int:
        """Return how many jobs of this type the account's quota allows; looks the quota for pools up as well."""
        self.pool_quota(instance_type)
        return super().capacity(instance_type)

    def wait(self, timeout_s: float | None) -> list[Event]:
        """Return what happens next; see `Backend.wait`."""
        return [self._seen(event) for event in super().wait(timeout_s)]

    def pool_quota(self, instance_type: str) -> int | None:
        """Return how many instances of a type the account may keep warm; None where the quota cannot be looked up."""
        if instance_type not in self._quotas:
            types = {instance_type, *named_instance_types(self._definition)}
            found = self._quotas_of(WARM_POOL.format(name) for name in types)
            known = {} if isinstance(found, CallFailure) else found
            for name in types:
                quota = known.get(WARM_POOL.format(name))
                self._quotas[name] = None if quota is None else quota.limit
        return self._quotas[instance_type]

    def _seen(self, event: Event) -> Event:
        key = self._keys.pop(event.job, None) if isinstance(event, (Closed, Rejected)) else None
        if key is None:
            return event
        if isinstance(event, Rejected) and event.cause is Cause.QUOTA:
            # Idle instances count against the same quota, and a job of another size cannot have them.
            self._keeper.free_quota(key)
        if isinstance(event, Closed) and self.pool_quota(key.instance_type) == 0:
            return replace(event, usage={**event.usage, "quota_at_zero": WARM_POOL.format(key.instance_type)})
        return event
