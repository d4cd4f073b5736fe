"""Brings records to the object store: what an effect waits for at once, all else soon, each number written once."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backends.object_store import ObjectStore
from benchmarking.controller.journal import ControllerSession, JournalLostError
from benchmarking.controller.sqlite_journal import Row
from benchmarking.remote.layout import segment_key
from benchmarking.remote.segments import Segment, Writer, encoded, writer_of
from definitions.errors import EXIT_CLOUD, EXIT_TAKEN_OVER, OutriderError

logger = logging.getLogger(__name__)

EVERY_S = 10.0
"""Seconds that a record waits at most, when all goes well."""
EVERY_RECORDS = 256
"""Records that wait at most."""
RETRY_FOR_S = 300.0
"""Seconds for which a store that does not take a segment is tried again."""
_MOST_ROWS = 4096
_PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)


class TakenOverError(JournalLostError):
    """Another controller writes this journal: this one must do nothing more, to no job either."""

    exit_code = EXIT_TAKEN_OVER


class UnreachableJournalError(JournalLostError):
    """The store did not take a segment for so long that somebody else shall try, from another machine perhaps."""

    exit_code = EXIT_CLOUD


@dataclass(frozen=True)
class ShippingPace:
    """When records are to go, and what time it is.

    Args:
        now: seconds of a clock that never goes back.
        wait: waits so many seconds, or until what it is given is set; None for as long as it takes.
        every_s, every_records, retry_for_s: see the constants of this module.
    """

    now: Callable[[], float]
    wait: Callable[[threading.Event, float | None], object] = field(default=threading.Event.wait)
    every_s: float = EVERY_S
    every_records: int = EVERY_RECORDS
    retry_for_s: float = RETRY_FOR_S


class _There(NamedTuple):
    """What the store has: number of the last segment, sequence number of the last record, and how many of the sessions that were taken."""

    number: int
    last: int
    sessions: int


class Shipper:
    """Takes records and writes them as numbered segments, which nobody else may write. Safe to use from several threads.

    Args:
        store: of the run.
        experiment: its key.
        writer: who this is.
        shipped: number of the last segment that is there; 0 where there is none.
        last: sequence number of the last record in it.
        pace: when things are to happen.
        lost: called once, in any thread, when the journal is this controller's no more.
    """

    def __init__(self, store: ObjectStore, experiment: str, writer: Writer, shipped: int, last: int, pace: ShippingPace) -> None:
        self._store, self._experiment, self._writer, self._pace = store, experiment, writer, pace
        # One assignment: KeyboardInterrupt may come between any two.
        self._there = _There(shipped, last, 0)
        self._rows: list[Row] = []
        self._sessions: list[ControllerSession] = []
        self._since: float | None = None
        self._frozen: Segment | None = None
        self._mutex, self._shipping = threading.Lock(), threading.RLock()
        self._stirred = threading.Event()
        self.lost: Callable[[], None] = lambda: None
        self.error: JournalLostError | None = None
        """Why nothing more can be written; None for as long as it can."""

    @property
    def taken(self) -> int:
        """Sequence number of the last record that was taken."""
        return self._rows[-1][0] if self._rows else self._there.last

    def add(self, rows: Sequence[Row], sessions: Sequence[ControllerSession] = ()) -> None:
        """Take records that follow those that came before; they go soon."""
        if not rows and not sessions:
            return
        with self._mutex:
            if self._since is None:
                self._since = self._pace.now()
                self._stirred.set()
            self._rows += rows
            self._sessions += sessions
            if len(self._rows) >= self._pace.every_records:
                self._stirred.set()

    def ship(self, retry_for_s: float | None = None) -> None:
        """Write all that was taken before it returns, trying again for so many seconds.

        Raises:
            JournalLostError: another controller writes the journal, or the store does not take it.
        """
        with self._shipping:
            self._check()
            while (segment := self._next()) is not None:
                self._put(segment, self._pace.retry_for_s if retry_for_s is None else retry_for_s)

    def fence(self) -> None:
        """Write a segment also where nothing was taken: whoever wrote before learns that the journal is ours; raises as `ship`."""
        with self._shipping:
            self._check()
            self._put(self._next() or self._segment((), ()), self._pace.retry_for_s)

    def due_s(self) -> float | None:
        """Return in how many seconds something is to go, 0 where it is time; None where nothing waits."""
        with self._mutex:
            if self._since is None:
                return None
            if len(self._rows) >= self._pace.every_records:
                return 0.0
            return max(0.0, self._since + self._pace.every_s - self._pace.now())

    def run(self, over: Callable[[], bool]) -> None:
        """Ship what is due, again and again, until `over` says so or the journal is lost; `stir` wakes it."""
        while True:
            self._stirred.clear()
            if over() or self.error is not None:
                return
            due_s = self.due_s()
            if due_s != 0.0:
                self._pace.wait(self._stirred, due_s)
                continue
            try:
                self.ship()
            except JournalLostError as error:
                logger.warning("%s", error)

    def stir(self) -> None:
        """Have `run` look again."""
        self._stirred.set()

    def _check(self) -> None:
        if self.error is not None:
            raise self.error

    def _next(self) -> Segment | None:
        """Return the segment that is to be written now: the one whose writing was not answered, for as long as there is one."""
        with self._mutex:
            if self._frozen is not None and self._frozen.number > self._there.number:
                return self._frozen
            self._rows = [row for row in self._rows if row[0] > self._there.last]
            rows, sessions = self._rows[:_MOST_ROWS], self._sessions[self._there.sessions :]
            if rows or sessions:
                self._frozen = self._segment(rows, sessions)
                self._since = None if len(rows) == len(self._rows) else self._pace.now()
                return self._frozen
            self._since = None
            return None

    def _segment(self, rows: Sequence[Row], sessions: Sequence[ControllerSession]) -> Segment:
        return Segment(self._there.number + 1, self._writer, self._there.last + 1, (*rows,), (*sessions,))

    def _put(self, segment: Segment, retry_for_s: float) -> None:
        key, body = segment_key(self._experiment, segment.number), encoded(segment)
        began, tries = self._pace.now(), 0
        while True:
            try:
                created = self._store.create(key, body)
                break
            except OutriderError as error:
                pause_s = _PAUSES_S[min(tries, len(_PAUSES_S) - 1)]
                tries += 1
                if error.is_denied or self._pace.now() + pause_s - began > retry_for_s:
                    times = "once" if tries == 1 else f"{tries} times"
                    lost = UnreachableJournalError(f"{self._store.uri}/{key}: the journal cannot be written, tried {times}\n  {error}")
                    lost.is_denied = error.is_denied
                    raise self._as_lost(lost) from error
                logger.warning("%s; tried again in %g s", error, pause_s)
                self._pace.wait(threading.Event(), pause_s)
        if not created:
            raise self._as_lost(TakenOverError(self._taken_over(key)))
        self._there = _There(segment.number, segment.last, self._there.sessions + len(segment.sessions))

    def _as_lost(self, error: JournalLostError) -> JournalLostError:
        self.error = error
        self.lost()
        return error

    def _taken_over(self, key: str) -> str:
        who = "another controller"
        # That it cannot be read does not make it ours.
        with contextlib.suppress(OutriderError):
            there = self._store.get(key)
            writer = None if there is None else writer_of(there.body, key)
            who += f" ({writer.controller}, generation {writer.generation})" if writer is not None and writer.controller else ""
        return f"{self._experiment}: {who} is at work\n  {self._store.uri}/{key} is its; this one ends and touches no job"
