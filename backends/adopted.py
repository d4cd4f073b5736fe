"""What an earlier controller left, as its journal has it: jobs that were submitted, and instances that were kept warm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.failures import Cause
from backends.job_spec import JobSpec


@dataclass(frozen=True)
class AdoptedJob:
    """A job that an earlier controller knew, as its journal has it.

    Args:
        spec: what was submitted.
        submitted_at: time of the intent; the effect may or may not have happened.
        last_event_at: time of its last event in the journal; None where there was none.
        accepted_at: time of its `Accepted`; None where that was not seen.
        started: whether `Started` was seen; `ended`: whether `Ended` was.
        reports: number of reports received of its current incarnation.
        received: metrics of all reports received, by (incarnation, sequence), by which a back-end knows what is new.
        stop_requested_at: time of the intent to stop it; None where there was none.
        memo: what the back-end noted of it for this moment (`Noted.memo`), all notes in one.
    """

    spec: JobSpec
    submitted_at: float
    last_event_at: float | None = None
    accepted_at: float | None = None
    started: bool = False
    ended: bool = False
    incarnation: int = 0
    reports: int = 0
    stop_requested_at: float | None = None
    stop_reason: Cause | None = None
    received: Mapping[tuple[int, int], Mapping[str, Any]] = field(default_factory=dict)
    memo: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AdoptedPool:
    """Instances that an earlier controller knew to be kept warm, as its journal has it.

    Args:
        job: whose instances they were; `since`: time of its first `Retained`.
        kept: name of what is kept, where it is not the job's own.
    """

    job: str
    instance_type: str
    instance_count: int
    since: float
    kept: str = ""
