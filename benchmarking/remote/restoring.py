"""Brings a run from the store into a folder, as a run on this machine leaves it: while it runs or after, as often as one likes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from backends.object_store import ListedObject, ObjectStore, ReadObject
from benchmarking.archive.folder_lock import locked
from benchmarking.archive.stored import experiments_of, read_identity
from benchmarking.controller.sqlite_journal import has_records
from benchmarking.remote import layout
from benchmarking.remote.files import IDENTITY, fetch
from benchmarking.remote.journal_restoring import JOURNAL_FILE, Numbers, restore_journal
from benchmarking.remote.restored import read_restored
from benchmarking.studies.files import changing, read_study, write_study
from benchmarking.studies.record import from_json
from definitions import strict_json
from definitions.errors import OutriderError, UserError
from definitions.files import write_atomically

_AT_ONCE = 16


@dataclass(frozen=True)
class Restoration:
    """What came of it.

    Args:
        experiments: keys of those that the store has something of.
        records: how many were added to journals; `files`: how many files were fetched.
        problems: what of an experiment could not be brought, by its key.
    """

    experiments: tuple[str, ...]
    records: int
    files: int
    problems: Mapping[str, str]


def restore(store: ObjectStore, tag_folder: Path, *, keep_longer: bool = False, problems_end: bool = True) -> Restoration:
    """Bring a run into the folder of its tag; what came before is not fetched again.

    Args:
        store: of the run.
        tag_folder: `<results>/<tag>`.
        keep_longer: refuse to replace a journal that holds more than the store: of one who asks, and not of who goes on with the run.
        problems_end: whether an experiment that cannot be brought ends it; else the others are brought all the same.

    Raises:
        UserError: the store has no such run, the folder holds another one or cannot be written, or a segment is missing.
    """
    listed = store.list()
    by_experiment: dict[str, list[ListedObject]] = defaultdict(list)
    for one in listed:
        found = layout.segment_of(one.key) or layout.file_of(one.key)
        if found is not None:
            by_experiment[found[0]].append(one)
    # Read whether they are listed or not: what was just written may not be shown yet.
    about = {name: there for name in (layout.LAUNCH, layout.STUDY) if (there := store.get(name)) is not None}
    if not about and not by_experiment:
        raise UserError(f"{store.uri}: there is no run", "nothing is kept there", "check the tag, --bucket and --prefix")
    check_folder(store, tag_folder, {one.key for one in listed}, about.get(layout.LAUNCH))
    for name, there in about.items():
        _bring_file(store, tag_folder, name, there)
    records = files = 0
    problems: dict[str, str] = {}
    with ThreadPoolExecutor(_AT_ONCE) as fetching:
        for experiment, objects in by_experiment.items():
            try:
                added, fetched = _experiment(store, tag_folder / experiment, experiment, objects, fetching, keep_longer=keep_longer)
            except OutriderError as error:
                if problems_end:
                    raise
                problems[experiment] = str(error)
            else:
                records, files = records + added, files + fetched
    return Restoration((*by_experiment,), records, files, problems)


def _experiment(
    store: ObjectStore, folder: Path, experiment: str, objects: Sequence[ListedObject], fetching: Executor, *, keep_longer: bool
) -> tuple[int, int]:
    """Bring one experiment; return how many records were added, and how many files were fetched."""
    numbers = sorted(found[1] for one in objects if (found := layout.segment_of(one.key)) is not None)
    known = read_restored(folder)
    has_all = not numbers or (numbers[-1] <= known.number and (folder / JOURNAL_FILE).is_file())
    if known.uri == store.uri and has_all and not _changed(folder, objects, known.files):
        return 0, 0
    with locked(folder):
        # First what it is: a folder with a journal and without that is of no use.
        files = fetch(store, folder, objects, fetching)
        before = read_restored(folder).last
        after = restore_journal(store, folder, Numbers(experiment, numbers), fetching, keep_longer=keep_longer)
        return after.last - before, files


def _changed(folder: Path, objects: Sequence[ListedObject], had: Mapping[str, str]) -> bool:
    names = ((found[1], one.etag) for one in objects if (found := layout.file_of(one.key)) is not None)
    return any(had.get(name) != etag or not (folder / name).is_file() for name, etag in names)


def _bring_file(store: ObjectStore, tag_folder: Path, name: str, found: ReadObject) -> None:
    """Bring a file of the tag; of a study, what was looked at here is kept."""
    if name == layout.STUDY:
        study = from_json(found.body.decode(), f"{store.uri}/{name}")
        with changing(tag_folder):
            here = read_study(tag_folder)
            looks = {look.experiments: look for look in (*(() if here is None else here.looks), *study.looks)}
            study = replace(study, looks=tuple(looks[count] for count in sorted(looks)))
            if study != here:
                write_study(tag_folder, study)
    elif not (path := tag_folder / name).is_file() or path.read_bytes() != found.body:
        write_atomically(path, found.body.decode())


def check_folder(store: ObjectStore, tag_folder: Path, there: Collection[str], launched: ReadObject | None) -> None:
    """Raise `UserError` where the folder of a tag holds another run than the store.

    Args:
        store: of the run.
        tag_folder: `<results>/<tag>`, which need not exist.
        there: the keys that a listing of the store showed.
        launched: its launch.json; None where it has none.
    """
    here = tag_folder / layout.LAUNCH
    if launched is not None and here.is_file() and _nonce(here.read_bytes()) != _nonce(launched.body):
        raise _other(store, tag_folder, "it was launched at another time")
    for folder in experiments_of(tag_folder):
        experiment = folder.relative_to(tag_folder).as_posix()
        known = read_restored(folder)
        if known.uri == store.uri and IDENTITY in known.files:
            continue
        key = layout.file_key(experiment, IDENTITY)
        found = store.get(key) if key in there else None
        if found is None and not has_records(folder / JOURNAL_FILE):
            continue
        if found is None or not (folder / IDENTITY).is_file() or read_identity(folder).get("nonce") != _nonce(found.body):
            raise _other(store, tag_folder, f"its {experiment} is another")


def _nonce(body: bytes) -> str:
    try:
        return str(strict_json.loads(body.decode())["nonce"])
    except (LookupError, TypeError, ValueError):
        return ""


def _other(store: ObjectStore, tag_folder: Path, why: str) -> UserError:
    return UserError(
        f"{tag_folder} holds another run than {store.uri}: {why}",
        "nothing was changed",
        "give another folder: --results_dir; or move that one away",
    )
