"""A job on a Ray cluster, as its controller knows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backends.common.capped_log import CappedLog
from backends.events import Closed, Event, Reported, Restarted, Started
from backends.job_spec import JobSpec
from backends.processes.node_messages import LogPiece
from backends.ray.node_time import NodeTime
from backends.ray.parts import JobParts
from backends.ray.slots import Key, Slot


@dataclass
class RayJob:
    """A job from its submission to its end.

    Args:
        spec: what it runs.
        key: what it asks for.
        cores: of its node that it is promised; `memory_bytes`: likewise, None where its name does not say.
        slot: where it runs; None while it waits. `kept`: the same until it is given back.
        addresses: of its nodes, by rank; `unsent`: ranks of the parts that were not started yet.
        last_at: time of its last event.
        began_at: when its script started; None before.
        ended: whether this event was seen.
        parts: what its parts have done, one on each of its nodes.
        logs: what their output is written to by their names, where it comes from nodes.
        is_ending: whether those parts were told to end that have nothing to do without another.
        incarnation, received: of a job that was taken over, what of its reports is known already.
    """

    spec: JobSpec
    key: Key
    cores: int
    memory_bytes: int | None = None
    slot: Slot | None = None
    kept: Slot | None = None
    addresses: Sequence[str] = ()
    unsent: Sequence[int] = ()
    last_at: float = 0.0
    began_at: float | None = None
    ended: bool = False
    parts: JobParts = field(init=False)
    logs: dict[str, CappedLog] = field(default_factory=dict)
    is_ending: bool = False
    incarnation: int = 0
    received: frozenset[tuple[int, int]] = frozenset()
    _logged: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts = JobParts(self.key.count)

    def write(self, piece: LogPiece, folder: Path) -> None:
        """Append what a part has printed to its log in a folder."""
        if piece.job not in self.logs:
            path = folder / f"{piece.job}.log"
            # Of what comes again after a controller has gone, what it had written is there already.
            log = self.logs[piece.job] = CappedLog(path, self.spec.log_cap_bytes)
            self._logged[piece.job] = log.known_bytes
        known = self._logged[piece.job]
        self.logs[piece.job].write(piece.text[max(0, known - piece.at) :])
        self._logged[piece.job] = max(known, piece.at + len(piece.text))

    def is_known(self, event: Event) -> bool:
        """Return whether an earlier controller has recorded this."""
        if isinstance(event, Reported):
            return (event.incarnation, event.sequence) in self.received
        return isinstance(event, Restarted) and event.incarnation <= self.incarnation

    def close(self) -> None:
        """Release its logs."""
        for log in self.logs.values():
            log.close()

    def ranks_on(self, node: str) -> list[int]:
        """Return which parts run on a node."""
        return [] if self.slot is None else [rank for rank, one in enumerate(self.slot.nodes) if one == node]

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
