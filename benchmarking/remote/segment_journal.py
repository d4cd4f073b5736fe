"""A journal on this machine whose records are brought to an object store too, so that any machine can go on with the experiment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarking.controller.journal import ControllerSession, Journal, Record
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.remote.shipping import Shipper

INTENTS = frozenset({"start", "stop"})
"""Kinds of records that an effect follows, which must be found by whoever comes after."""


class SegmentJournal(Journal):
    """A `SqliteJournal` that says the same in segments.

    What a commit writes is on this machine when it returns. Where an intent is among it, it is in the store too, with all before it; other
    records follow soon, by a thread of their own, and nothing waits for them.

    Args:
        local: of this machine, at the same record as the segments, or ahead of them; closed by `close`.
        shipper: of the experiment's segments.
        shipped: sequence number of the last record in them.
        start: starts a thread; for tests.
    """

    def __init__(
        self, local: SqliteJournal, shipper: Shipper, shipped: int, start: Callable[[threading.Thread], None] = threading.Thread.start
    ) -> None:
        self._local, self._shipper = local, shipper
        self._is_over = False
        # What a run on this machine measured before it became one whose state is kept elsewhere.
        shipper.add([*local.rows(shipped)], () if shipped else local.sessions())
        self._thread = threading.Thread(target=shipper.run, args=(lambda: self._is_over,), name="segments", daemon=True)
        start(self._thread)

    def when_lost(self, wake: Callable[[], None]) -> None:
        """Have `wake` called once the journal is another's; see `Journal`."""
        self._shipper.lost = wake

    def append(self, at: float, kind: str, body: Mapping[str, Any]) -> Record:
        """Add a record; see `Journal`."""
        return self._local.append(at, kind, body)

    def commit(self) -> None:
        """Write all added records here, and intents, with all before them, to the store.

        Raises:
            UserError: the disk is full or not writable; what was committed before stands.
            JournalLostError: another controller writes the journal, or the store does not take it.
        """
        if self._shipper.error is not None:
            raise self._shipper.error
        rows = self._local.pending
        try:
            self._local.commit()
        finally:
            self.is_tight = self._local.is_tight
        # A second Ctrl-C may have come between the two at an earlier commit.
        taken = self._shipper.taken
        self._shipper.add(rows if not rows or rows[0][0] == taken + 1 else [*self._local.rows(taken)])
        if any(kind in INTENTS for _, _, kind, _ in rows):
            self._shipper.ship()

    def records(self, after: int = 0) -> Iterator[Record]:
        """Yield the committed records; see `Journal`."""
        return self._local.records(after)

    def begin_session(self, session: ControllerSession) -> None:
        """Note that a controller takes over; see `Journal`."""
        self._local.begin_session(session)
        self._shipper.add((), [session])

    def sessions(self) -> list[ControllerSession]:
        """Return the controllers' lives in order."""
        return self._local.sessions()

    def close(self) -> None:
        """Commit, bring all that is left to the store, and release the file.

        Raises:
            UserError: the file cannot be written; what could not be is in the store.
            JournalLostError: as `commit`; the file is released all the same.
        """
        self._is_over = True
        self._shipper.stir()
        pending = self._local.pending
        left = {row[0]: row for row in (*self._local.rows(self._shipper.taken), *pending)}
        try:
            self._local.close()
        finally:
            if self._shipper.error is None:
                self._shipper.add([*left.values()])
                self._shipper.ship()
            if self._thread.is_alive():
                self._thread.join()
