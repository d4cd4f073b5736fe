"""Writes records: each goes to the journal, is folded into the state, and is shown to observers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.events import Event, Noted
from backends.failures import Cause
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.interfaces import Observer
from benchmarking.controller.journal import Journal
from benchmarking.controller.state import ExperimentState

_VIRTUAL_BATCH = 512
"""Records per commit on a virtual clock, where the same run can be had again for nothing."""


class Recorder:
    """The only writer of an experiment's journal and the only one who changes its state.

    Args:
        journal: the record; the caller closes it.
        state: folded from the journal.
        now: the back-end's clock, in seconds.
        observers: called after each record.
        virtual: whether the clock is virtual, so that a commit may wait for more records.
    """

    def __init__(
        self, journal: Journal, state: ExperimentState, now: Callable[[], float], observers: tuple[Observer, ...], *, virtual: bool
    ) -> None:
        self._journal, self._state, self._now, self._observers, self._virtual = journal, state, now, observers, virtual
        self._uncommitted = 0
        self.disk_full = ""
        """What showed that the disk is full, in this process; empty while nothing did."""

    def note(self, text: str) -> None:
        """Write down something that concerns no single job, so that it is shown; also for observers."""
        event = Noted("", self._now(), text=text)
        self.record(*event_record(event), event)

    def book(self, job: str, worst_usd: float) -> None:
        """Write down what a running job will cost at most by its own forecast; also for observers."""
        self.record("bound", {"job": job, "worst_usd": worst_usd})

    def record(self, kind: str, body: Mapping[str, Any], event: Event | None = None) -> None:
        """Add a record, of the time of its event or of now; it is durable after the next `commit`."""
        # A job that an earlier controller stopped because its disk was full says nothing of the disk as it is now.
        is_told = kind == "settle" and body["cause"] == Cause.DISK_FULL
        if is_told and self._state.due_settlements[0][0].stop_reason is not Cause.DISK_FULL:
            self.disk_full = self.disk_full or body["message"]
        record = self._journal.append(self._now() if event is None else event.at, kind, body)
        self._state.apply(record, event)
        self._uncommitted += 1
        for observer in self._observers:
            observer(record, self._state)

    def commit(self, *, always: bool = False) -> None:
        """Make what was recorded durable; on a virtual clock only every 512 records, unless `always`.

        Raises:
            UserError: the journal cannot be written.
        """
        if always or not self._virtual or self._uncommitted >= _VIRTUAL_BATCH:
            self._journal.commit()
            self._uncommitted = 0
            if self._journal.is_tight and not self.disk_full:
                self.disk_full = "the journal took the room that was kept for it"
