"""A job on a Ray cluster, as its controller knows it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from backends.base import JobSpec
from backends.common.capped_log import CappedLog
from backends.events import Closed, Event, Started
from backends.ray.node_time import NodeTime
from backends.ray.slots import Key, Slot


@dataclass
class RayJob:
    """A job from its submission to its end.

    Args:
        spec: what it runs.
        key: what it asks for.
        cores: of its node that it is promised; `memory_bytes`: likewise, None where its name does not say.
        slot: where it runs; None while it waits.
        last_at: time of its last event.
        began_at: when its script started; None before.
        ended: whether this event was seen.
        log: what its output is written to, where it comes from a node.
    """

    spec: JobSpec
    key: Key
    cores: int
    memory_bytes: int | None = None
    slot: Slot | None = None
    last_at: float = 0.0
    began_at: float | None = None
    ended: bool = False
    log: CappedLog | None = None

    def here(self, event: Event, time: NodeTime, now: float) -> Event:
        """Return an event of its node in the controller's time: never later than now, never before the one before it."""
        at = max(self.last_at, min(time.here(event.at), now))
        self.last_at = at
        if isinstance(event, Started):
            self.began_at = at
        if not isinstance(event, Closed):
            return dataclasses.replace(event, at=at)
        began_at = (
            None if event.started_at is None else self.began_at if self.began_at is not None else min(at, time.here(event.started_at))
        )
        ended_at = None
        if event.ended_at is not None and event.started_at is not None and began_at is not None:
            # Its length is the node's own measurement, whatever messages took.
            ended_at = min(at, began_at + event.ended_at - event.started_at)
        return dataclasses.replace(event, at=at, started_at=began_at, ended_at=ended_at)
