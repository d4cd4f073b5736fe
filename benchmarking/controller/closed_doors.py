"""Until when the back-end takes no jobs: none at all, or none of an instance type whose quota is full."""

from __future__ import annotations

from backends.events import Rejected, Scope


class ClosedDoors:
    """What refusals said of when to try again.

    Attributes:
        until: seconds since the epoch, by instance type; under an empty name for jobs of all kinds.
    """

    def __init__(self) -> None:
        self.until: dict[str, float] = {}

    def __bool__(self) -> bool:
        """Whether jobs of any kind were refused, and nothing has made room for them."""
        return bool(self.until)

    def refused(self, event: Rejected, instance_type: str) -> None:
        """Take in a refusal; one of a single job, or without a time, closes nothing."""
        if event.retry_at is not None and event.scope is not Scope.JOB:
            door = "" if event.scope is Scope.BACKEND else instance_type
            self.until[door] = max(event.retry_at, self.until.get(door, 0.0))

    def last_at(self) -> float:
        """Return until when jobs of some kind are not taken; 0 where all are."""
        return max(self.until.values(), default=0.0)

    def closed_until(self, instance_type: str) -> float:
        """Return until when none at all are taken, or none of an instance type (empty: none at all); 0 where they are."""
        until = self.until
        return max(until.get("", 0.0), until.get(instance_type, 0.0)) if until else 0.0

    def open(self, instance_type: str) -> None:
        """Let jobs of the instance type be tried again."""
        del self.until[instance_type]
