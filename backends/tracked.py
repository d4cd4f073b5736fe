"""What a tracker elsewhere (MLflow, a service of a back-end) is told of experiments, and what it must be able to do."""

from __future__ import annotations

import abc
import enum
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class RunStatus(enum.StrEnum):
    """Where a tracked run stands."""

    RUNNING = "running"
    WAITING = "waiting"
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a metric.

    Args:
        name: as the script reported it.
        value: NaN and infinities included.
        step: the level, or the number of the report where no level is a whole number.
        at: seconds since the epoch, by the back-end's clock.
        sequence: of the journal's record that it is from.
        job: that reported it; empty for what was measured from outside.
    """

    name: str
    value: float
    step: int
    at: float
    sequence: int
    job: str = ""


@dataclass(frozen=True)
class TrackedJob:
    """One job of a trial, i.e. one attempt."""

    name: str
    attempt: int
    status: RunStatus
    started_at: float
    ended_at: float | None = None


@dataclass(frozen=True)
class TrackedRun:
    """An experiment as a whole, or one of its trials.

    Args:
        job: by which it is found again: the name of its first job; of an experiment what all its jobs' names begin with.
        name: for people.
        status, started_at, ended_at: seconds since the epoch, by the back-end's clock; None while it goes on.
        parameters: of its configuration, or of the experiment.
        tags: cause, costs and what else is known of it, as text.
        points: its metrics, in the order of the journal.
        sequence: of the journal's latest record that changed anything of it.
        jobs: its attempts, in their order.
    """

    job: str
    name: str
    status: RunStatus
    started_at: float
    ended_at: float | None
    parameters: Mapping[str, Any]
    tags: Mapping[str, str]
    points: Sequence[Point]
    sequence: int
    jobs: Sequence[TrackedJob] = ()
    trial: int | None = None


@dataclass(frozen=True)
class TrackedExperiment:
    """One experiment: its own run first, then those of its trials.

    Args:
        commit: of the script's repository; empty where that is not known.
        region: whose prices count for it, that of its jobs where they are in one.
    """

    tag: str
    benchmark: str
    whole: TrackedRun
    trials: Sequence[TrackedRun]
    commit: str = ""
    region: str = ""


@dataclass(frozen=True)
class KnownRun:
    """What a tracker holds of a run.

    Args:
        key: its own name of it.
        sequence: of the latest record whose points it has; -1 where it has not even the parameters.
        status: as it stands there; None where that is not known.
        ended: whether it has an end.
        tags: that it has.
    """

    key: str
    sequence: int = -1
    status: RunStatus | None = None
    ended: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """What a tracker lacks of one run.

    Args:
        run: as it should be; `known`: as it is there, None where it is not.
        points: that it lacks; `tags`: that it lacks or has otherwise, as the tracker keeps them.
        settles: whether its status or end are to be written.
    """

    run: TrackedRun
    known: KnownRun | None
    points: Sequence[Point]
    tags: Mapping[str, str]
    settles: bool


def changes(
    wanted: TrackedExperiment, known: Mapping[str, KnownRun], as_kept: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda tags: tags
) -> list[Change]:
    """Return what a tracker lacks of an experiment, its own run first; empty where it has all.

    Args:
        wanted: as it stands in the journal.
        known: what the tracker holds, by `TrackedRun.job`.
        as_kept: turns tags into those that the tracker keeps.
    """
    found = []
    for run in (wanted.whole, *wanted.trials):
        there = known.get(run.job)
        if there is None:
            found.append(Change(run, None, run.points, as_kept(run.tags), settles=True))
            continue
        # Points are in the order of the journal, so that what is lacking is an end of the list.
        first = bisect_right(run.points, there.sequence, key=lambda point: point.sequence)
        tags = {name: text for name, text in as_kept(run.tags).items() if there.tags.get(name) != text}
        settles = there.status is not run.status or there.ended != (run.ended_at is not None)
        if there.sequence < 0 or first < len(run.points) or tags or settles:
            found.append(Change(run, there, run.points[first:], tags, settles))
    return found


class TrackerError(Exception):
    """A tracker did not do what it was asked; `will_pass` says whether the same may go well later."""

    def __init__(self, message: str, *, will_pass: bool = True) -> None:
        super().__init__(message)
        self.will_pass = will_pass


class Tracker(abc.ABC):
    """Keeps experiments somewhere else. All methods raise `TrackerError`; what was written before stands."""

    @abc.abstractmethod
    def find(self, experiment: TrackedExperiment) -> dict[str, KnownRun]:
        """Return what is there of an experiment, by `TrackedRun.job`; makes the place for it where there is none."""

    @abc.abstractmethod
    def write(self, change: Change, known: Mapping[str, KnownRun]) -> KnownRun:
        """Make one change, and return what is there of the run then.

        Args:
            change: what is lacking.
            known: what is there of the experiment; its own run is, where the change is one of a trial.
        """

    @abc.abstractmethod
    def holds(self, tag: str) -> Mapping[str, int]:
        """Return by the tracker's names of them where it keeps experiments of a tag, and how many runs are there."""

    @abc.abstractmethod
    def delete(self, tag: str) -> int:
        """Delete all experiments of a tag, and return how many runs those had."""

    def as_kept(self, tags: Mapping[str, str]) -> Mapping[str, str]:
        """Return tags with the names and values that the tracker gives them; as they are by default."""
        return tags

    def remarks(self) -> list[str]:
        """Return what was changed to be taken there, in sentences, each once; nothing by default."""
        return []
