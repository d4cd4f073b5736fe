"""Opens the journal of an experiment whose state is kept in an object store, for writing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from backends.object_store import ObjectStore
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.remote.journal_restoring import JOURNAL_FILE, numbers_of, restore_journal
from benchmarking.remote.restored import note_restored
from benchmarking.remote.segment_journal import SegmentJournal
from benchmarking.remote.segments import Writer
from benchmarking.remote.shipping import Shipper, ShippingPace

_AT_ONCE = 16


def open_journal(store: ObjectStore, folder: Path, experiment: str, writer: Writer, pace: ShippingPace) -> SegmentJournal:
    """Return the journal of an experiment, brought to what its segments say, of which nobody else writes any more from now on.

    Args:
        store: of the run.
        folder: of the experiment, which the caller has locked.
        experiment: its key.
        writer: who writes.
        pace: when records are to go.

    Raises:
        UserError: as `restore_journal`.
        JournalLostError: another controller was faster, or the store does not take a segment.
    """
    there = numbers_of(store, experiment)
    with ThreadPoolExecutor(_AT_ONCE) as fetching:
        restored = restore_journal(store, folder, there, fetching)
    shipper = Shipper(store, experiment, writer, restored.number, restored.last, pace)
    if there.numbers:
        # Before anything is done with it. Of an experiment that nobody began the first intent says whose it is.
        shipper.fence()
    local = SqliteJournal(folder / JOURNAL_FILE)
    try:
        if restored.number:
            # What is written from now on is not made of segments: the next one who restores begins anew.
            note_restored(folder, replace(restored, number=0, last=0))
        return SegmentJournal(local, shipper, restored.last)
    except BaseException:
        local.close()
        raise
