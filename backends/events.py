"""What can happen to a job, as back-ends tell it and the journal keeps it. In which order they come `backends.base.Backend` says."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.failures import Cause, Outcome
from backends.progress import ProgressLine
from definitions.made_at_once import made_at_once


@made_at_once
@dataclass(frozen=True)
class Event:
    """Something that happened to a job, at `at` seconds of the back-end's clock (UTC, since the epoch)."""

    job: str
    at: float


@made_at_once
@dataclass(frozen=True)
class Accepted(Event):
    """The back-end took the job: it holds a slot from now on."""


class Scope(enum.StrEnum):
    """What a rejection applies to."""

    JOB = "job"
    INSTANCE_TYPE = "instance_type"
    BACKEND = "backend"


@made_at_once
@dataclass(frozen=True)
class Rejected(Event):
    """Not taken: not now (`retry_at` says when to try again, in the back-end's clock), or never (`retry_at` is None)."""

    cause: Cause
    message: str
    scope: Scope = Scope.JOB
    retry_at: float | None = None


@made_at_once
@dataclass(frozen=True)
class Started(Event):
    """The script runs."""


@made_at_once
@dataclass(frozen=True)
class Restarted(Event):
    """The script runs anew within the same job, as its `incarnation`-th life (the first is 0)."""

    incarnation: int


@made_at_once
@dataclass(frozen=True)
class Reported(Event):
    """One report. Its identity is (job, incarnation, rank, sequence); a back-end delivers each once, and rank 0's only.

    Args:
        metrics: as the script reported them, NaN and infinities included.
        elapsed_s: seconds since the script started, by the script's own monotonic clock where it says, else the back-end's.
    """

    sequence: int
    metrics: Mapping[str, Any]
    elapsed_s: float
    incarnation: int = 0
    rank: int = 0


@made_at_once
@dataclass(frozen=True)
class Progressed(Event):
    """How far the script was at a moment; see `backends.progress.ProgressLine`. It may come late, and not all of it comes.

    Args:
        done: steps, rows, or whatever the script counts; `total`: how many there will be, None where it does not know.
        elapsed_s, cpu_s: seconds since the script started, and processor seconds since then.
        phases_s: seconds by phase; `peak_bytes`: most resident memory of its process so far, 0 where that is not known.
        at_most: how many there will be at most, where it may stop early; `by_step`: whether it only counted steps for its throughput.
        delayed_s: seconds that it could have run and other programs had the processor; 0 where that is not known.
    """

    done: float
    total: float | None
    elapsed_s: float
    cpu_s: float = 0.0
    phases_s: Mapping[str, float] = field(default_factory=dict)
    incarnation: int = 0
    number: int = 0
    at_most: float | None = None
    by_step: bool = False
    peak_bytes: float = 0.0
    delayed_s: float = 0.0

    @classmethod
    def of(cls, job: str, at: float, progress: ProgressLine) -> Progressed:
        """Return the event that a job's line of progress is."""
        return cls(job, at, **vars(progress))


@made_at_once
@dataclass(frozen=True)
class Ended(Event):
    """The slot is free: everything that the job held has been released. Late reports may follow."""


@made_at_once
@dataclass(frozen=True)
class Noted(Event):
    """Something that a person should know while they wait; nothing is decided by it.

    Args:
        job: whose stage it is; empty where it concerns the back-end as a whole.
        stage: what the job is at, in the service's words, e.g. `Downloading`; empty where that is not what is noted.
        text: e.g. `waiting for the API: CreateTrainingJob is throttled`.
        memo: what the back-end has to know of the job where another controller takes it over (`AdoptedJob.memo`), for itself alone.
    """

    stage: str = ""
    text: str = ""
    memo: Mapping[str, Any] | None = None


@made_at_once
@dataclass(frozen=True)
class Retained(Event):
    """Instances of a job that has ended are kept warm for the next one, and paid for. May come after the job's `Closed`, unlike all else.

    Args:
        worst_s: most seconds that they are still kept from now on.
        billable_s: seconds per instance that were paid for, once they were reused or released; None while they wait.
        reused_by: the job that got them; empty where none did.
        kept: name of what is kept, where it is not the job's own.
    """

    instance_type: str
    instance_count: int
    worst_s: float = 0.0
    billable_s: float | None = None
    reused_by: str = ""
    kept: str = ""


@made_at_once
@dataclass(frozen=True)
class Closed(Event):
    """All reports have arrived; nothing more will come of this job.

    Args:
        outcome: how it ended; `cause` and `message` say why where it was not completed.
        started_at, ended_at: in the back-end's clock; None where it never ran.
        billable_s: seconds that are paid for, per instance.
        usage: totals by the reporter (phases in seconds, steps, samples) and by the back-end (`peak_rss_bytes`,
            `alien_lines`: lines that looked like reports and were none). Of a back-end that keeps instances also `warm` (whether it got
            kept ones), `waited_s` (seconds that it waited for its instances), `quota_at_zero` (name of the quota that forbids keeping).
        log_tail: last lines of the log.
        instance_type: what it really ran on, where that is not what was asked for; else None.
    """

    outcome: Outcome
    cause: Cause | None = None
    message: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    billable_s: float = 0.0
    usage: Mapping[str, Any] = field(default_factory=dict)
    log_tail: tuple[str, ...] = ()
    instance_type: str | None = None
