"""One training job as the back-end follows it, and the difference between the service's clock and ours."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backends.failures import Cause
from backends.job_spec import JobSpec
from backends.sagemaker.aws.call_queue import Call
from backends.sagemaker.logs.parser import JobLog

WAITING_STAGES = ("", "Starting", "Pending")
"""Secondary statuses of a job that has no instances yet."""
_RUNNING_STAGES = ("Training", "Uploading", "Interrupted", "Restarting")


class JobPhase(enum.Enum):
    """Where a job stands: its creation is under way; it exists; it is over and its last words are awaited; it is closed."""

    NEW = "new"
    LIVE = "live"
    OVER = "over"
    CLOSED = "closed"


@dataclass(eq=False)
class CloudJob:
    """One job.

    Args:
        spec: what was submitted; `instance_type`: what was asked of the service.
        log: what its log said.
        create: the call that creates it.
        accepted, started, ended: which events were sent.
        incarnation: the last that was announced.
        stage: its secondary status as last seen.
        stop_reason: why it is to stop; None where it is not. `stop_message`: who wanted it, where that is not this program.
        unstoppable: why the service would not stop it.
        is_mark_read: whether it was looked whether its end is that of its whole experiment.
        described: the service's description once it has ended.
        script_ended_at: when its log was seen to say that its script has ended; None before. `is_end_asked`: whether it was asked for then;
            `outlives_script`: it was not over when it was.
        end_seen_at: when its end was seen.
        next_look_at: when its log is to be read once more; infinity while it is being read.
        n_looks: how often that was done.
        awaits_sweep: whether its last lines are expected from the next look at the logs of all jobs.
        tail: its last lines, once they were asked for.
        is_looked_up: whether it is being looked up, as an earlier controller may have created it.
        submitted_at: when it was submitted; `exists_since`: since when it is known to exist.
        accepted_at: when an earlier controller heard of its creation.
    """

    spec: JobSpec
    log: JobLog
    instance_type: str
    phase: JobPhase = JobPhase.NEW
    create: Call | None = None
    accepted: bool = False
    started: bool = False
    ended: bool = False
    incarnation: int = 0
    stage: str = ""
    stop_reason: Cause | None = None
    stop_accepted: bool = False
    unstoppable: str = ""
    stop_message: str = ""
    is_mark_read: bool = False
    described: Mapping[str, Any] | None = None
    script_ended_at: float | None = None
    is_end_asked: bool = False
    outlives_script: bool = False
    end_seen_at: float = 0.0
    next_look_at: float = math.inf
    n_looks: int = 0
    awaits_sweep: bool = False
    tail: tuple[str, ...] | None = None
    is_looked_up: bool = False
    submitted_at: float = 0.0
    exists_since: float = 0.0
    accepted_at: float | None = None

    @property
    def runs_script(self) -> bool:
        """Whether, by its stage, the script runs or has run."""
        return self.stage in _RUNNING_STAGES


def ever_trained(described: Mapping[str, Any]) -> bool:
    """Return whether a job's script ran at all, by the service's description."""
    return any(step.get("Status") == "Training" for step in described.get("SecondaryStatusTransitions", ()))


def lives(described: Mapping[str, Any]) -> int:
    """Return how many lives a job's script had, by the service's description; 1 at least."""
    trained = [step for step in described.get("SecondaryStatusTransitions", ()) if step.get("Status") == "Training"]
    return max(1, len(trained))


def seconds(value: Any) -> float | None:
    """Return a service's stamp as seconds since the epoch of its clock."""
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, (int, float)) else None


class ClockSkew:
    """By how much the service's clock is ahead of ours: a job was created between the sending of the call and its answer."""

    def __init__(self) -> None:
        self._least, self._most = -math.inf, math.inf

    @property
    def ahead_s(self) -> float:
        """The best guess, in seconds; 0 without any sign."""
        if math.isinf(self._least) or math.isinf(self._most):
            return 0.0
        if self._least <= 0.0 <= self._most:
            return 0.0
        return (self._least + self._most) / 2

    def learn(self, created_at: float, sent_at: float, answered_at: float) -> None:
        """Take in one creation: its stamp by the service's clock, and both ends of the call by ours."""
        least, most = created_at - answered_at, created_at - sent_at
        narrowed = max(self._least, least), min(self._most, most)
        # Where the signs contradict each other a clock was set, and the newest is right.
        self._least, self._most = narrowed if narrowed[0] <= narrowed[1] else (least, most)
