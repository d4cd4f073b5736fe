"""A training job's life as the service tells it: statuses, transitions, times, what is billed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

RUNNING = ("Starting", "Pending", "Downloading", "Training", "Uploading")
FINAL = {
    "Completed": "Completed",
    "Failed": "Failed",
    "Stopped": "Stopped",
    "MaxRuntimeExceeded": "Stopped",
    "MaxWaitTimeExceeded": "Stopped",
}
"""Primary status by final secondary status."""

MESSAGES = {
    "Starting": "Preparing the instances for training",
    "Pending": "Training job waiting for capacity",
    "Downloading": "Downloading input data",
    "Training": "Training image download completed. Training in progress.",
    "Interrupted": "Training job interrupted because the managed spot training instances were interrupted",
    "Restarting": "Restarting the training job after an internal error",
    "Uploading": "Uploading generated training model",
    "Stopping": "Stopping the training job",
    "Completed": "Training job completed",
    "Failed": "Training job failed",
    "Stopped": "Training job stopped",
    "MaxRuntimeExceeded": "Training job runtime exceeded MaxRuntimeInSeconds provided",
    "MaxWaitTimeExceeded": "Training job wait time exceeded MaxWaitTimeInSeconds provided",
}

_NEXT = {
    "": ("Starting",),
    "Starting": ("Pending", "Downloading", "Stopping", "Failed", "MaxWaitTimeExceeded"),
    "Pending": ("Starting", "Downloading", "Stopping", "Restarting", "Failed", "MaxWaitTimeExceeded"),
    "Downloading": ("Training", "Stopping", "Interrupted", "Restarting", "Failed", "MaxWaitTimeExceeded"),
    "Training": ("Uploading", "Stopping", "Interrupted", "Restarting", "Failed", "MaxRuntimeExceeded", "MaxWaitTimeExceeded"),
    "Interrupted": ("Starting", "Stopping", "Restarting", "Failed", "MaxWaitTimeExceeded"),
    "Restarting": ("Starting", "Stopping", "Restarting", "Failed", "MaxWaitTimeExceeded"),
    "Stopping": ("Uploading", "Stopped", "Failed", "MaxRuntimeExceeded", "MaxWaitTimeExceeded"),
    "Uploading": ("Completed", "Stopping", "Stopped", "Failed", "MaxRuntimeExceeded", "MaxWaitTimeExceeded"),
}
_ON_INSTANCES = ("Downloading", "Training", "Uploading", "Stopping")


@dataclass(frozen=True)
class Transition:
    """One secondary status: since when, until when (None: still), and what is said of it."""

    status: str
    start: float
    end: float | None
    message: str


@dataclass(frozen=True)
class Lifecycle:
    """The life of a job so far, in seconds since the epoch.

    Args:
        status, secondary: as Describe shows them.
        launched: whether instances have been had at some time; `started_at`: since when the first were.
        used_s: seconds on instances in attempts that are over; `on_since`: since when there are instances now, None where there are none.
        reason: why it failed.
    """

    created_at: float
    status: str = "InProgress"
    secondary: str = ""
    transitions: tuple[Transition, ...] = ()
    modified_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None
    used_s: float = 0.0
    on_since: float | None = None
    reason: str = ""

    @property
    def over(self) -> bool:
        """Whether the job has reached its end."""
        return self.status in ("Completed", "Failed", "Stopped")

    def training_s(self, at: float | None = None) -> float | None:
        """Return seconds on instances so far, over all attempts; None where there never were any."""
        if self.started_at is None:
            return None
        running = 0.0 if self.on_since is None or at is None else max(0.0, at - self.on_since)
        return self.used_s + running


def created(at: float) -> Lifecycle:
    """Return the life of a job that has just been accepted."""
    return move(Lifecycle(created_at=at, modified_at=at), "Starting", at, "Starting the training job")


def move(life: Lifecycle, secondary: str, at: float, message: str = "", reason: str = "") -> Lifecycle:
    """Return the life after a step to another secondary status.

    Args:
        life: the life before it.
        secondary: the status after it.
        at: time of the step; never taken to be before the previous one.
        message: what is said of it, by default the usual words.
        reason: why it failed, cut to 1024 characters.

    Raises:
        ValueError: a job cannot take this step.
    """
    if secondary not in _NEXT.get(life.secondary, ()):
        raise ValueError(f"a job in {life.secondary or 'no status'} cannot become {secondary}")
    at = max(at, life.modified_at)
    over = secondary in FINAL
    status = FINAL.get(secondary, life.status)
    if secondary == "Stopping":
        status = "Stopping"
    earlier = life.transitions
    if earlier:
        earlier = (*earlier[:-1], replace(earlier[-1], end=at))
    step = Transition(secondary, at, at if over else None, message or (reason[:1024] if reason else MESSAGES[secondary]))
    has_instances = secondary in _ON_INSTANCES and (secondary != "Stopping" or life.on_since is not None) and not over
    used_s, on_since = life.used_s, life.on_since
    if has_instances and on_since is None:
        on_since = at
    elif not has_instances and on_since is not None:
        used_s, on_since = used_s + at - on_since, None
    return replace(
        life,
        status=status,
        secondary=secondary,
        transitions=(*earlier, step),
        modified_at=at,
        started_at=life.started_at if life.started_at is not None or not has_instances else at,
        ended_at=at if over else None,
        used_s=used_s,
        on_since=on_since,
        reason=reason[:1024] if secondary == "Failed" else life.reason,
    )


def times(life: Lifecycle, billed_fraction: float = 1.0) -> dict[str, Any]:
    """Return the time fields of Describe; those of a job that never had an instance are absent.

    Args:
        life: of the job.
        billed_fraction: share of the training time that is billed, below 1 for managed spot.
    """
    found: dict[str, Any] = {"CreationTime": life.created_at, "LastModifiedTime": life.modified_at}
    if life.started_at is not None:
        found["TrainingStartTime"] = life.started_at
    if life.ended_at is not None:
        found["TrainingEndTime"] = life.ended_at
        training_s = life.training_s()
        if training_s is not None:
            # Nothing that had an instance is free.
            found["TrainingTimeInSeconds"] = max(1, round(training_s))
            found["BillableTimeInSeconds"] = max(1, round(training_s * billed_fraction))
    return found


def to_json(life: Lifecycle) -> dict[str, Any]:
    """Return what `from_json` makes the same life of."""
    return {**vars(life), "transitions": [vars(step) for step in life.transitions]}


def from_json(data: Mapping[str, Any]) -> Lifecycle:
    """Return the life that `to_json` was given."""
    return Lifecycle(**{**data, "transitions": tuple(Transition(**step) for step in data["transitions"])})
