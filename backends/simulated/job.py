"""A job of the simulated back-end: its whole future is known, and told event by event."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backends.events import Accepted, Closed, Ended, Event, Progressed, Reported, Started
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.progress import ProgressLine


class SimulatedJob:
    """One job, whose events are made one by one, as a stop may spare most of them.

    Args:
        number: in the order in which jobs were launched.
        spec: what it runs.
        course: its events; `Closed` or `Rejected` is the last.
        started_at: when it starts; `ends_at`: when it ends by itself, infinite where it cannot. In seconds of the back-end's clock.
        made: reports of its run that are behind it.
    """

    __slots__ = ("_course", "ended", "ends_at", "made", "next", "number", "spec", "started_at", "stopping")

    def __init__(
        self, number: int, spec: JobSpec, course: Iterable[Event], started_at: float | None, ends_at: float = math.inf, made: int = 0
    ) -> None:
        self.number, self.spec, self.started_at, self.ends_at, self.made = number, spec, started_at, ends_at, made
        self.stopping = False
        self.ended = False
        self._course = iter(course)
        self.next: Event | None = next(self._course, None)

    def go_on(self) -> None:
        """Let `next` be the event after it; None where that was the last."""
        self.next = next(self._course, None)

    def cut_off(self, at: float, ends: Iterable[Event]) -> None:
        """Let these be the events after `at`."""
        coming = itertools.chain(() if self.next is None else (self.next,), self._course)
        kept = itertools.takewhile(lambda event: event.at <= at and isinstance(event, (Accepted, Started, Reported, Progressed)), coming)
        self._course = itertools.chain(kept, ends)
        self.go_on()


def course(
    name: str,
    accepted_at: float,
    started_at: float,
    reports: Iterable[tuple[float, Mapping[str, Any]]],
    *,
    before_s: float,
    duration_s: float,
    outcome: Outcome,
    cause: Cause | None,
    message: str,
) -> Iterator[Event]:
    """Yield the events of a job that runs.

    Args:
        name: of the job.
        accepted_at: when it is accepted, in seconds of the back-end's clock.
        started_at: when its script starts, in the same.
        reports: (seconds since the start of the measured run, metrics) of those that are not behind it.
        before_s: seconds of the measured run that are behind it.
        duration_s: seconds from its start to its end; later reports are not made.
        outcome: how it ends.
        cause: why, where it is not completed; else None.
        message: the same in words.
    """
    # One generator for all: a chain of several costs each event as much again as making it.
    yield Accepted(name, accepted_at)
    yield Started(name, started_at)
    for sequence, (at_s, metrics) in enumerate(reports):
        elapsed_s = at_s - before_s
        if elapsed_s > duration_s:
            break
        yield Reported(name, started_at + elapsed_s, sequence, metrics, elapsed_s)
    yield from ending(name, started_at + duration_s, started_at, outcome, cause, message)


def with_progress(events: Iterable[Event], name: str, started_at: float, progress: Iterable[ProgressLine]) -> Iterator[Event]:
    """Yield the events of a job, and in between what it says of how far it is.

    Args:
        events: of the job, in the order of time.
        name: of the job.
        started_at: when its script starts, in seconds of the back-end's clock.
        progress: in the order of time.
    """
    said = deque(Progressed.of(name, started_at + line.elapsed_s, line) for line in progress)
    for event in events:
        while said and said[0].at <= event.at and event.at > started_at:
            yield said.popleft()
        yield event


def ending(name: str, at: float, started_at: float | None, outcome: Outcome, cause: Cause | None, message: str) -> Iterator[Event]:
    """Yield the last events of a job.

    Args:
        name: of the job.
        at: when it ends, in seconds of the back-end's clock.
        started_at: when it started, in the same; None where it never did.
        outcome: how it ends.
        cause: why, where it is not completed; else None.
        message: the same in words.
    """
    yield Ended(name, at)
    yield Closed(
        name,
        at,
        outcome=outcome,
        cause=cause,
        message=message,
        started_at=started_at,
        ended_at=None if started_at is None else at,
        billable_s=0.0 if started_at is None else at - started_at,
    )
