"""The files of an experiment beside its journal: which of them are kept in the store, brought there and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path, PurePosixPath

from backends.object_store import ListedObject, ObjectStore
from benchmarking.controller.sqlite_journal import RESERVES
from benchmarking.remote.journal_restoring import JOURNAL_FILE
from benchmarking.remote.layout import file_key, file_of
from benchmarking.remote.restored import NAME, note_restored, read_restored
from definitions.errors import UserError

IDENTITY = "experiment.json"
BEFORE_A_START = ("definition.yaml", "environment.json")
"""Written before an experiment begins, beside what it is."""
_OF_THIS_MACHINE = frozenset({NAME, "lock", "stop", *RESERVES, *(f"{JOURNAL_FILE}{end}" for end in ("", "-wal", "-shm", "-journal"))})
_ELSEWHERE = frozenset({"checkpoints", "source"})
"""Folders that are kept in places of their own: checkpoints by the back-end, sources by content as jobs got them."""


def kept_files(folder: Path) -> Iterator[str]:
    """Yield the names of the files in an experiment's folder that belong to its state, relative to it."""
    for path in sorted(folder.iterdir()):
        if path.name in _OF_THIS_MACHINE or path.name in _ELSEWHERE or path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_dir():
            yield from (str(one.relative_to(folder)) for one in sorted(path.rglob("*")) if one.is_file() and not one.is_symlink())
        elif path.is_file():
            yield path.name


def send(store: ObjectStore, folder: Path, experiment: str, names: Iterable[str], sending: Executor) -> int:
    """Write files of an experiment's folder to the store, and return how many; raises `OutriderError` where one cannot be written."""
    wanted = [*names]

    def one(name: str) -> None:
        store.upload(folder / name, file_key(experiment, name))

    for _ in sending.map(one, wanted):
        pass
    return len(wanted)


def fetch(store: ObjectStore, folder: Path, listed: Sequence[ListedObject], fetching: Executor) -> int:
    """Bring the files of one experiment from the store to its folder, but for those that came before and are as they were.

    What an experiment is comes last, so that a folder has it once the rest is there.

    Args:
        store: of the run.
        folder: of the experiment.
        listed: of the store; other objects than files are passed over.
        fetching: makes calls at once.

    Returns:
        How many were fetched.

    Raises:
        UserError: the folder cannot be written, the disk is full, or a name leads out of the folder.
    """
    known = read_restored(folder)
    had = known.files if known.uri == store.uri else {}
    wanted = {
        name: one for one in listed if (name := _name(store, one.key)) and (had.get(name) != one.etag or not (folder / name).is_file())
    }
    done = dict(had)

    def bring(name: str) -> str:
        store.download(wanted[name].key, folder / name)
        return name

    try:
        for group in (sorted(wanted.keys() - {IDENTITY}), [name for name in wanted if name == IDENTITY]):
            for name in fetching.map(bring, group):
                done[name] = wanted[name].etag
    finally:
        if done != had:
            # What a cut download has brought is not fetched again. The number of segments of another run says nothing of this one.
            noted = known if known.uri == store.uri else replace(known, number=0, last=0)
            note_restored(folder, replace(noted, uri=store.uri, files=done))
    return len(wanted)


def _name(store: ObjectStore, key: str) -> str:
    """Return the name of a file; empty for what is none."""
    found = file_of(key)
    if found is None:
        return ""
    parts = PurePosixPath(found[1]).parts
    if ".." in parts or found[1].startswith("/") or found[1] in _OF_THIS_MACHINE:
        raise UserError(f"{store.uri}/{key} would lead to {found[1]}", "no run of ours has such a file", "find out who wrote it")
    return found[1]
