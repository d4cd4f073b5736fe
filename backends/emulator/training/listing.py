"""ListTrainingJobs: sorting, pages that stay stable while jobs come and go, and filters after the page is cut. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.emulator.core.job import Job
from backends.emulator.http.paging import decode_token, encode_token


def page(jobs: Sequence[Job], request: Mapping[str, Any], ahead_s: float) -> tuple[list[Job], str | None]:
    """Return the jobs of one page and the token of the next.

    StatusEquals and WarmPoolStatusEquals apply to the page, which can therefore be short or empty and still have a successor; name and
    time filters apply before. Newest first unless the request says otherwise, as the documentation's example has it.

    Args:
        jobs: all.
        request: ListTrainingJobs'.
        ahead_s: how far the service's clock is ahead of the jobs' times, in seconds.
    """
    field = request.get("SortBy", "CreationTime")
    descending = request.get("SortOrder", "Descending") == "Descending"
    found = [job for job in jobs if _fits(job, request, ahead_s)]
    found.sort(key=lambda job: _place(job, field), reverse=descending)
    after = decode_token(request["NextToken"]) if request.get("NextToken") else None
    if after is not None:
        limit = [tuple(part) if isinstance(part, list) else part for part in after]
        found = [job for job in found if (list(_place(job, field)) < limit if descending else list(_place(job, field)) > limit)]
    size = request.get("MaxResults", 10)
    cut = found[:size]
    token = encode_token(list(_place(cut[-1], field))) if len(found) > size else None
    wanted, pool = request.get("StatusEquals"), request.get("WarmPoolStatusEquals")
    shown = [
        job
        for job in cut
        if (wanted is None or job.life.status == wanted) and (pool is None or (job.warm is not None and job.warm["Status"] == pool))
    ]
    return shown, token


def _place(job: Job, field: str) -> tuple[Any, ...]:
    if field == "Name":
        return (job.name,)
    if field == "Status":
        return (job.life.status, job.number)
    return (job.number,)


def _fits(job: Job, request: Mapping[str, Any], ahead_s: float) -> bool:
    created, modified = job.life.created_at + ahead_s, job.life.modified_at + ahead_s
    plan = request.get("TrainingPlanArnEquals")
    return (
        request.get("NameContains", "") in job.name
        and _between(created, request.get("CreationTimeAfter"), request.get("CreationTimeBefore"))
        and _between(modified, request.get("LastModifiedTimeAfter"), request.get("LastModifiedTimeBefore"))
        and (plan is None or job.request.get("ResourceConfig", {}).get("TrainingPlanArn") == plan)
    )


def _between(at: float, after: float | None, before: float | None) -> bool:
    return (after is None or at >= after) and (before is None or at <= before)
