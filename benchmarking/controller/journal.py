"""The append-only record of an experiment, from which everything else that a run leaves is derived: what it promises, and what is in it."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from definitions.errors import EXIT_BUDGET, OutriderError, UserError


class DiskFullError(UserError):
    """Nothing more can be written; what was is kept."""

    exit_code = EXIT_BUDGET


class JournalLostError(OutriderError):
    """This controller can write the journal no more, though nothing is wrong with the experiment: jobs that outlive it are left running."""


class Record(NamedTuple):
    """One entry.

    Args:
        sequence: position, from 1, without gaps.
        at: seconds of the back-end's clock.
        kind: `suggest`, `code`, `start`, `tell`, `stop`, `settle`, `late`, `end`, or the name of a back-end event.
        body: the entry's content, of JSON types and floats.
    """

    sequence: int
    at: float
    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class ControllerSession:
    """One controller's life: it began after record `after`, whose time was `last_at`, at `started_at` of its own back-end's clock."""

    after: int
    last_at: float
    started_at: float


class Journal(abc.ABC):
    """Append-only records of one experiment, written by one controller at a time."""

    is_tight: bool = False
    """Whether the disk was full, so that what was written last took the room that was kept for it."""

    def when_lost(self, wake: Callable[[], None]) -> None:  # noqa: B027 (a file is not lost)
        """Have `wake` called, in any thread, once the next `commit` will raise `JournalLostError`."""

    @abc.abstractmethod
    def append(self, at: float, kind: str, body: Mapping[str, Any]) -> Record:
        """Add a record, durable after the next `commit`."""

    @abc.abstractmethod
    def commit(self) -> None:
        """Make all records durable against the death of this process.

        Raises:
            UserError: the disk is full or not writable; what was committed before stands.
            JournalLostError: the journal is this controller's no more.
        """

    @abc.abstractmethod
    def records(self, after: int = 0) -> Iterator[Record]:
        """Yield the committed records after that of a sequence number, in order; raises `UserError` where they cannot be read."""

    @abc.abstractmethod
    def begin_session(self, session: ControllerSession) -> None:
        """Note that a controller takes over; raises `UserError` as `commit` does."""

    @abc.abstractmethod
    def sessions(self) -> list[ControllerSession]:
        """Return the controllers' lives in order."""

    @abc.abstractmethod
    def close(self) -> None:
        """Commit and release the file."""
