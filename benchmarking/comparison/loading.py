"""The one loader of results, for comparisons, reports and forecasts: what cannot be read is said, and the rest used."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from benchmarking.archive.dollars import kind_of_dollars
from benchmarking.archive.stored import StoredExperiment, load
from benchmarking.comparison.alike import environment_facts
from definitions.errors import UserError
from definitions.resolve import Resolved

_Read = TypeVar("_Read")


@dataclass(frozen=True)
class LoadedExperiments(Generic[_Read]):
    """What was read.

    Args:
        found: each experiment.
        warnings: a sentence for each folder that could not, or not as it should.
        error: of the last folder that could not be read at all; None where all could.
    """

    found: Sequence[_Read]
    warnings: Sequence[str]
    error: UserError | None = None


def load_experiments(
    folders: Sequence[Path],
    read: Callable[[StoredExperiment, Mapping[str, str]], _Read],
    instead: Callable[[StoredExperiment, Mapping[str, str]], _Read | None],
) -> LoadedExperiments[_Read]:
    """Return the experiments in some folders, of which another process may be writing some.

    The journal is read; where it is missing or damaged, the CSV files that were written from it.

    Args:
        folders: (n_folders,) each of one experiment.
        read: makes what is wanted of an experiment's journal, and of what has to be alike in a comparison.
        instead: makes it of the CSV files; returns None where there are none.
    """
    with _uncollected():
        return _loaded(folders, read, instead)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from going through all that was read again and again, which takes a third more of a thousand."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _loaded(
    folders: Sequence[Path],
    read: Callable[[StoredExperiment, Mapping[str, str]], _Read],
    instead: Callable[[StoredExperiment, Mapping[str, str]], _Read | None],
) -> LoadedExperiments[_Read]:
    seen: dict[tuple[str, str], Resolved] = {}
    found: list[_Read] = []
    warnings: list[str] = []
    last: UserError | None = None
    for folder in folders:
        try:
            stored = load(folder, seen)
            facts = environment_facts(folder) | {"dollars": kind_of_dollars(folder, stored.spec.backend)}
        except UserError as error:
            last = error
            warnings.append(f"left out: {error}")
            continue
        try:
            one = _read(stored, facts, read)
        except UserError as error:
            kept = instead(stored, facts)
            last = error if kept is None else last
            warnings.append(f"left out: {error}" if kept is None else f"read from its CSV files, without pauses: {error}")
            if kept is not None:
                found.append(kept)
            continue
        found.append(one if stored.is_started else instead(stored, facts) or one)
    return LoadedExperiments(found, warnings, last)


def _read(stored: StoredExperiment, facts: Mapping[str, str], read: Callable[[StoredExperiment, Mapping[str, str]], _Read]) -> _Read:
    try:
        return read(stored, facts)
    except (LookupError, TypeError, ValueError) as error:
        # Of a file that was copied in part some pages are there, and hold rows that follow from none before.
        raise UserError(
            f"the journal {stored.folder / 'journal.sqlite'} does not follow from itself",
            f"{type(error).__name__}: {error}",
            "copy the folder again",
        ) from error
