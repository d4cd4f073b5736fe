"""One job on one node or several: what happens to its parts, one a node, as what happens to the job. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from backends.events import Accepted, Closed, Ended, Event, Started
from backends.failures import Cause, Outcome

_MARK = ".rank"  # no name of a job has a dot


def part_name(job: str, rank: int) -> str:
    """Return what the part of a job is called on its node; the first has the job's own name."""
    return f"{job}{_MARK}{rank}" if rank else job


def part_of(name: str) -> tuple[str, int]:
    """Return whose part this is, and which."""
    job, _, rank = name.partition(_MARK)
    return job, int(rank or 0)


class JobParts:
    """The parts of one job.

    Args:
        count: how many there are.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._told: set[type[Event]] = set()
        self._ended: set[int] = set()
        self._closed: dict[int, Closed] = {}
        self._first_bad: int | None = None

    @property
    def open_ranks(self) -> list[int]:
        """Those that are not closed."""
        return [rank for rank in range(self._count) if rank not in self._closed]

    @property
    def is_doomed(self) -> bool:
        """Whether a part has ended otherwise than by completing, so that the others have nothing more to do."""
        return self._first_bad is not None

    def has_ended(self, rank: int) -> bool:
        """Return whether a part holds nothing any more."""
        return rank in self._ended

    def memo(self, rank: int) -> dict[str, Any]:
        """Return what another controller has to know of a part that nothing was told of, as JSON has it."""
        closed = self._closed.get(rank)
        said = None if closed is None else {**dataclasses.asdict(closed), "log_tail": [*closed.log_tail]}
        return {f"rank{rank}": {"closed": said, "was_first_bad": self._first_bad == rank}}

    def recall(self, memo: Mapping[str, Any], told: Sequence[type[Event]]) -> None:
        """Take in what an earlier controller knew.

        Args:
            memo: of the parts, as `memo` has them.
            told: kinds of events that the job had; with `Ended` all parts have ended.
        """
        self._told.update(told)
        for rank in range(self._count):
            known = memo.get(f"rank{rank}")
            if known is not None or Ended in told:
                self._ended.add(rank)
            if known is not None and known["closed"] is not None:
                self._closed[rank] = _closed(known["closed"])
                self._first_bad = rank if known["was_first_bad"] else self._first_bad

    def take(self, rank: int, event: Event) -> Event | None:
        """Return the event of the job that one of a part is; None where it is none.

        A job is accepted and starts with the first of its parts, and ends with the last; it reports by the part of rank 0 alone.
        """
        if isinstance(event, (Accepted, Started)):
            is_first = type(event) not in self._told
            self._told.add(type(event))
            return event if is_first else None
        if isinstance(event, Ended):
            if rank in self._ended:
                return None
            self._ended.add(rank)
            return event if len(self._ended) == self._count else None
        if isinstance(event, Closed):
            if rank in self._closed:
                return None
            self._closed[rank] = event
            if self._first_bad is None and event.outcome is not Outcome.COMPLETED:
                self._first_bad = rank
            return merged([self._closed[one] for one in range(self._count)], self._first_bad) if not self.open_ranks else None
        return event if rank == 0 else None


def _closed(said: Mapping[str, Any]) -> Closed:
    cause = None if said["cause"] is None else Cause(said["cause"])
    return Closed(**{**said, "outcome": Outcome(said["outcome"]), "cause": cause, "log_tail": tuple(said["log_tail"])})


def merged(closed: Sequence[Closed], first_bad: int | None) -> Closed:
    """Return how a job ended, given how its parts did, by rank.

    Args:
        closed: of each part.
        first_bad: the first that did not complete, by which the job is judged; None where all did.
    """
    if len(closed) == 1:
        return closed[0]
    judge = closed[first_bad or 0]
    usage = {**closed[0].usage}
    for name, together in (("peak_rss_bytes", max), ("cpu_s", sum)):
        found = [one.usage[name] for one in closed if name in one.usage]
        if found:
            usage[name] = together(found)
    started = [one.started_at for one in closed if one.started_at is not None]
    ended = [one.ended_at for one in closed if one.ended_at is not None]
    return dataclasses.replace(
        closed[0],
        job=closed[0].job,
        at=max(one.at for one in closed),
        outcome=judge.outcome,
        cause=judge.cause,
        message=f"rank {first_bad}: {judge.message}" if first_bad else judge.message,
        started_at=min(started, default=None),
        ended_at=max(ended, default=None),
        # All instances are held from the first start to the last end.
        billable_s=max(ended) - min(started) if started and ended else 0.0,
        usage=usage,
        log_tail=judge.log_tail,
    )
