"""What of an experiment's state a back-end takes over that did not start it: its open jobs, and instances that wait warm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.adopted import AdoptedJob, AdoptedPool
from backends.job_spec import JobSpec
from benchmarking.controller.state import ExperimentState


def adopted_pools(state: ExperimentState) -> list[AdoptedPool]:
    """Return the warm instances that wait."""
    return [AdoptedPool(job, pool.instance_type, pool.instance_count, pool.since, pool.kept) for job, pool in state.money.pools.items()]


def adopted_jobs(
    state: ExperimentState,
    spec_of: Mapping[str, JobSpec],
    received: Mapping[str, Mapping[tuple[int, int], Mapping[str, Any]]] | None = None,
) -> list[AdoptedJob]:
    """Return the open jobs in the order of their submission.

    Args:
        state: that the journal was folded into.
        spec_of: what was submitted, by job.
        received: metrics of the reports that are in the journal, by (incarnation, sequence), by job.
    """
    return [
        AdoptedJob(
            spec=spec_of[job.name],
            submitted_at=job.submitted_at,
            last_event_at=job.last_event_at,
            accepted_at=job.accepted_at,
            started=job.started,
            ended=job.ended,
            incarnation=job.incarnation,
            reports=job.reports,
            stop_requested_at=job.stop_requested_at,
            stop_reason=job.stop_reason,
            received=(received or {}).get(job.name, {}),
            memo=job.memo,
        )
        for job in state.jobs.values()
    ]
