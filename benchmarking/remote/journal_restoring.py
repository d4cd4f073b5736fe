"""From segments back to the journal of an experiment, in its folder: as much as is there, in order, or nothing where one is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

from backends.object_store import ObjectStore
from benchmarking.controller.journal import DiskFullError
from benchmarking.controller.sqlite_journal import RESERVES, SqliteJournal, has_records
from benchmarking.remote.layout import segment_key, segment_of
from benchmarking.remote.restored import Restored, note_restored, read_restored
from benchmarking.remote.segments import Segment, damaged, decoded
from definitions.errors import UserError
from definitions.files import replacing_with

JOURNAL_FILE = "journal.sqlite"
_AT_ONCE = 64
"""Segments that are fetched before the first of them is written."""


@dataclass(frozen=True)
class Numbers:
    """Which segments of an experiment's journal a listing showed, in order."""

    experiment: str
    numbers: Sequence[int]


def numbers_of(store: ObjectStore, experiment: str) -> Numbers:
    """Return which segments an experiment has, also those that a listing does not show yet, as long as none of them is missing."""
    found = [numbered[1] for one in store.list(f"{experiment}/journal/") if (numbered := segment_of(one.key)) is not None]
    last = max(found, default=0)
    while store.get(segment_key(experiment, last + 1)) is not None:
        last += 1
        found.append(last)
    return Numbers(experiment, sorted(found))


def restore_journal(store: ObjectStore, folder: Path, there: Numbers, fetching: Executor, *, keep_longer: bool = False) -> Restored:
    """Bring the journal in an experiment's folder to what the segments say, and return how far it is then.

    What was restored there before is added to; any other journal is made anew, as whoever wrote it may have been cut off anywhere.

    Args:
        store: of the run.
        folder: of the experiment, which the caller has locked.
        there: the segments.
        fetching: makes calls at once.
        keep_longer: refuse to replace a journal that holds more records than the segments.

    Raises:
        UserError: a segment is missing or damaged, the disk is full, or the folder's journal is longer. What was restored before stands.
    """
    known, path = read_restored(folder), folder / JOURNAL_FILE
    if known.number and (known.uri != store.uri or not path.is_file() or _last(path) != known.last):
        known = replace(known, number=0, last=0)
    if not there.numbers or there.numbers[-1] <= known.number:
        return known
    _check_whole(store, there, known.number)
    wanted = range(known.number + 1, there.numbers[-1] + 1)
    if known.number:
        return _added(store, folder, there.experiment, wanted, known, fetching)
    if keep_longer and path.is_file():
        _check_longer(store, path, there, fetching)
    with replacing_with(path) as temporary:
        temporary.unlink()
        made = _written(store, temporary, there.experiment, wanted, replace(known, uri=store.uri), fetching)
        # Of the journal that goes: what its writer had not yet put into the file must not be taken for a part of the new one.
        for name in (f"{JOURNAL_FILE}-wal", f"{JOURNAL_FILE}-shm", *RESERVES):
            path.with_name(name).unlink(missing_ok=True)
    note_restored(folder, made)
    return made


def _added(store: ObjectStore, folder: Path, experiment: str, wanted: Sequence[int], known: Restored, fetching: Executor) -> Restored:
    found = _written(store, folder / JOURNAL_FILE, experiment, wanted, known, fetching)
    note_restored(folder, found)
    return found


def _written(store: ObjectStore, path: Path, experiment: str, wanted: Sequence[int], known: Restored, fetching: Executor) -> Restored:
    """Add segments to a journal, and return how far it is then."""
    number, last = known.number, known.last
    with _room_for(path), contextlib.closing(SqliteJournal(path)) as journal:
        for segment in _segments(store, experiment, wanted, fetching):
            if segment.first != last + 1:
                name = f"{store.uri}/{segment_key(experiment, segment.number)}"
                raise damaged(name, f"it begins with record {segment.first}, and the one before it ended with {last}")
            for session in segment.sessions:
                journal.begin_session(session)
            journal.extend(segment.rows)
            journal.commit()
            number, last = segment.number, segment.last
    return replace(known, number=number, last=last)


@contextlib.contextmanager
def _room_for(path: Path) -> Iterator[None]:
    try:
        yield
    except DiskFullError as error:
        raise UserError(
            f"there is no room for {path.parent / JOURNAL_FILE}",
            "what was brought before stands, and the run itself needs nothing of this disk",
            "make room, or give another --results_dir, and do the same again",
        ) from error


def _segments(store: ObjectStore, experiment: str, numbers: Sequence[int], fetching: Executor) -> Iterator[Segment]:
    """Yield segments in order, fetched several at a time."""

    def fetched(number: int) -> Segment:
        key = segment_key(experiment, number)
        found = store.get(key)
        if found is None:
            raise _missing(store, experiment, [number], numbers[-1])
        segment = decoded(found.body, f"{store.uri}/{key}")
        if segment.number != number:
            raise damaged(f"{store.uri}/{key}", f"it says that it is number {segment.number}")
        return segment

    for first in range(0, len(numbers), _AT_ONCE):
        yield from _in_order(fetching, fetched, numbers[first : first + _AT_ONCE])


def _in_order(fetching: Executor, fetched: object, numbers: Iterable[int]) -> Iterator[Segment]:
    yield from fetching.map(fetched, numbers)  # type: ignore[arg-type]


def _check_whole(store: ObjectStore, there: Numbers, after: int) -> None:
    """Raise `UserError` where one of the segments up to the last is missing, which a listing that lags may only not show."""
    shown = {*there.numbers}
    lacking = [number for number in range(after + 1, there.numbers[-1]) if number not in shown]
    gone = [number for number in lacking if store.get(segment_key(there.experiment, number)) is None]
    if gone:
        raise _missing(store, there.experiment, gone, there.numbers[-1])


def _missing(store: ObjectStore, experiment: str, numbers: Sequence[int], last: int) -> UserError:
    names = ", ".join(segment_key(experiment, number) for number in numbers[:3]) + (" and more" if numbers[3:] else "")
    return UserError(
        f"{store.uri}: {names} {'is' if len(numbers) == 1 else 'are'} missing, and the journal goes on to segment {last}",
        "what is not there cannot be guessed, and what follows from it neither; nothing was changed",
        "bring it back (an earlier version of the object, where the bucket keeps them)",
    )


def _last(path: Path) -> int:
    try:
        with contextlib.closing(SqliteJournal(path, read_only=True)) as journal:
            return journal.last_sequence
    except UserError:
        return -1


def _check_longer(store: ObjectStore, path: Path, there: Numbers, fetching: Executor) -> None:
    if not has_records(path):
        return
    last = next(iter(_segments(store, there.experiment, [there.numbers[-1]], fetching))).last
    here = _last(path)
    if here > last:
        raise UserError(
            f"{path} holds {here} records, and {store.uri} {last} of this experiment",
            "what was measured here did not get there; nothing was changed",
            "resume it here with --take_over, which brings them there; or give another --results_dir",
        )
