"""An endpoint's life as the service tells it: statuses, reasons, times. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

_NEXT = {
    "Creating": ("InService", "Failed"),
    "InService": ("Failed", "Deleting"),
    "Failed": ("Deleting",),
    "Deleting": (),
}
LONGEST_REASON = 1024


@dataclass(frozen=True)
class EndpointLife:
    """The life of an endpoint so far, in seconds since the epoch.

    Args:
        status: as Describe shows it.
        served_from: since when it has been in service for the first time; None where it never was.
        reason: why it failed.
    """

    created_at: float
    modified_at: float
    status: str = "Creating"
    served_from: float | None = None
    reason: str = ""

    @property
    def has_instances(self) -> bool:
        """Whether instances count against quotas: those of what failed do not."""
        return self.status != "Failed"

    @property
    def may_be_deleted(self) -> bool:
        """Whether DeleteEndpoint is taken; the service refuses it of one that is still being created."""
        return self.status in ("InService", "Failed")


def move_endpoint(life: EndpointLife, status: str, at: float, reason: str = "") -> EndpointLife:
    """Return the life after a step to another status.

    Args:
        life: the life before it.
        status: the status after it.
        at: time of the step; never taken to be before the previous one.
        reason: why it failed, cut to 1024 characters.

    Raises:
        ValueError: an endpoint cannot take this step.
    """
    if status not in _NEXT[life.status]:
        raise ValueError(f"an endpoint that is {life.status} cannot become {status}")
    at = max(at, life.modified_at)
    served_from = at if status == "InService" and life.served_from is None else life.served_from
    return replace(life, status=status, modified_at=at, served_from=served_from, reason=reason[:LONGEST_REASON] or life.reason)
