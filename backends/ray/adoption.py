"""Takes over what an earlier controller has left on a cluster: jobs that go on there, that ended meanwhile, or never began."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from backends.adopted import AdoptedJob
from backends.events import Accepted, Closed, Ended, Event, Started
from backends.failures import Cause, Outcome
from backends.ray.job import RayJob
from backends.ray.nodes import LeftAgent
from backends.ray.parts import part_name
from backends.ray.shapes import parse_shape
from backends.ray.slots import slot_at


class Fate(enum.Enum):
    """What becomes of a job of an earlier controller."""

    GOES_ON = enum.auto()
    LOST = enum.auto()
    STOPPED = enum.auto()
    ANEW = enum.auto()


def fate_of(job: AdoptedJob, *, is_known: bool) -> Fate:
    """Return what becomes of a job; `is_known`: whether a node that is alive was told to start it."""
    if is_known:
        return Fate.GOES_ON
    if job.accepted_at is not None or job.started:
        return Fate.LOST
    # No node has begun it: one that had would say so, or is gone with whatever it had begun.
    return Fate.ANEW if job.stop_requested_at is None else Fate.STOPPED


def ends_with_controller(job: AdoptedJob, now: float) -> list[Event]:
    """Return the events of a job whose controller ended, and it with it."""
    return _end(job, now, Outcome.FAILED, Cause.CONTROLLER, "its controller ended, and it with it")


def end_of(job: AdoptedJob, fate: Fate, now: float) -> list[Event]:
    """Return the events of a job that does not go on."""
    if fate is Fate.STOPPED:
        return _end(job, now, Outcome.STOPPED, job.stop_reason or Cause.INTERRUPTED, "stopped before it started")
    return _end(job, now, Outcome.FAILED, Cause.LOST, "its node was gone when this controller came")


def _end(job: AdoptedJob, now: float, outcome: Outcome, cause: Cause, message: str) -> list[Event]:
    at = max(now, job.last_event_at or 0.0)
    ended: list[Event] = [] if job.ended else [Ended(job.spec.name, at)]
    return [*ended, Closed(job.spec.name, at, outcome, cause, message)]


def taken_over_text(count: int, of: int) -> str:
    """Return what is said of jobs that were taken over; `of`: how many the earlier controller had."""
    verb = "is" if count == 1 else "are"
    return f"{count} of {of} job{'s' * (of != 1)} of the controller before went on, or ended, without it, and {verb} taken over"


def places_of(job: AdoptedJob, left: Mapping[str, LeftAgent]) -> dict[int, Any]:
    """Return where the parts of a job have their room that nodes were told to start, by rank."""
    found: dict[int, Any] = {}
    for rank in range(job.spec.instance_count):
        name = part_name(job.spec.name, rank)
        place = next((agent.jobs[name] for agent in left.values() if name in agent.jobs), None)
        if place is not None:
            found[rank] = place
    return found


def going_on(job: AdoptedJob, place: Mapping[str, Any]) -> RayJob:
    """Return a job that goes on, as this controller knows it from now on; events that the earlier one recorded are not told again."""
    shape = parse_shape(job.spec.instance_type)
    slot = slot_at(place)
    made = RayJob(job.spec, slot.key, shape.cpus, shape.memory_bytes, slot)
    made.last_at = max(job.submitted_at, job.last_event_at or 0.0)
    made.began_at = job.accepted_at if job.started else None
    made.ended, made.incarnation, made.received = job.ended, job.incarnation, frozenset(job.received)
    kinds: Sequence[tuple[type[Event], bool]] = ((Accepted, job.accepted_at is not None), (Started, job.started), (Ended, job.ended))
    made.parts.recall(job.memo, [kind for kind, was_told in kinds if was_told])
    return made
