"""Data that are there already: what a folder or a prefix holds, how much of it is read, and what is not."""

from __future__ import annotations

import itertools
import os
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from benchmarking.datasets.s3target import S3Target, objects_under
from benchmarking.workloads.ingestion.tfrecord import DamagedRecordError, records
from definitions.datasets import PathDataset, S3Dataset
from definitions.errors import UserError
from definitions.formats import FORMATS, unread

MOST_LISTED = 50_000
"""Objects of a prefix that are listed to see what it holds: 50 requests."""


@dataclass(frozen=True)
class Holding:
    """What a folder or prefix holds.

    Args:
        samples: their number; None where a file holds many, or not all was listed. `classes`: likewise, None where folders do not tell.
        size_bytes: of all files that are read; None where not all was listed.
        note: what is not read, in a line; empty where nothing.
    """

    samples: int | None
    classes: int | None
    size_bytes: int | None
    note: str


def holding(files: Iterable[tuple[str, int]], dataset: PathDataset | S3Dataset, *, is_whole: bool = True) -> Holding | None:
    """Return what files hold, or None where none of them is of the data set's format.

    Args:
        files: (name relative to the place, bytes).
        dataset: its definition.
        is_whole: whether these are all there are.
    """
    form = FORMATS[dataset.format]
    listed = list(files)
    read = [(name, size) for name, size in listed if form.holds(name)]
    if not read:
        return None
    by_folder = form.layout == "files" and dataset.label_place == "folder"
    note = unread((name for name, _ in listed), dataset.format)
    return Holding(
        samples=len(read) if is_whole and form.layout == "files" else None,
        classes=len({PurePosixPath(name).parent for name, _ in read}) if is_whole and by_folder else None,
        size_bytes=sum(size for _, size in read) if is_whole else None,
        note=note if is_whole or not note else f"{note}, of the first {len(listed)}",
    )


def files_below(folder: Path) -> list[tuple[str, Path]]:
    """Return (name relative to the folder, path) of all files below it, sorted."""
    return sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file())


def check_folder(name: str, dataset: PathDataset) -> None:
    """Raise `UserError` where a folder is missing or holds nothing of its format; it is read until something is found."""
    folder, form = Path(dataset.path), FORMATS[dataset.format]
    if not folder.is_dir():
        raise UserError(f"data set {name!r}: {folder}", "there is no such folder", "check `path` in the definition")
    if not any(form.holds(file) for _, _, files in os.walk(folder, followlinks=True) for file in files):
        raise _nothing(name, folder, dataset)


def look_into_folder(name: str, dataset: PathDataset) -> Holding:
    """Return what a folder holds; raises `UserError` where it is missing or holds nothing of its format."""
    check_folder(name, dataset)
    folder = Path(dataset.path)
    listed = files_below(folder)
    found = holding(((relative, path.stat().st_size) for relative, path in listed), dataset)
    if found is None:
        raise _nothing(name, folder, dataset)
    form = FORMATS[dataset.format]
    first = next(path for relative, path in listed if form.holds(relative))
    notes = [note for note in (found.note, inner_note(first, dataset)) if note]
    return replace(found, note="; ".join(notes))


def inner_note(path: Path, dataset: PathDataset) -> str:
    """Return what is wrong with the first sample of an archive or record file, in a line; empty where nothing is, or others hold it.

    Args:
        path: of the file.
        dataset: its definition.
    """
    if dataset.layout == "shards":
        try:
            with tarfile.open(path) as archive:
                members = [member.name for member in itertools.islice((one for one in archive if one.isfile()), 8)]
        except (tarfile.TarError, OSError) as error:
            return f"{path.name} is no TAR archive that can be read ({error})"
        stems = {member.partition(".")[0] for member in members[:1]}
        beside = [member for member in members if member.partition(".")[0] in stems]
        if dataset.label_place == "member" and members and not any(member.lower().endswith((".cls", ".label")) for member in beside):
            return f"{path.name} has no .cls beside {members[0]}: its samples have no labels, which `labels: none` says"
    if dataset.layout == "records":
        try:
            with path.open("rb") as file:
                next(records(file, path.name), None)
        except (DamagedRecordError, OSError) as error:
            return str(error)
    return ""


def look_into_prefix(name: str, dataset: S3Dataset, target: S3Target | None) -> Holding:
    """Return what a prefix holds, as far as `MOST_LISTED` objects tell.

    Raises:
        UserError: the bucket cannot be reached or read, nothing is under the prefix, or nothing of its format.
    """
    objects = objects_under(dataset.uri, target)
    listed = list(itertools.islice(objects, MOST_LISTED))
    is_whole = len(listed) < MOST_LISTED
    if not listed:
        raise UserError(f"data set {name!r}: {dataset.uri}", "there is no object under this prefix", "check the URI")
    found = holding(listed, dataset, is_whole=is_whole)
    if found is not None:
        return found
    if is_whole:
        raise _nothing(name, dataset.uri, dataset)
    return Holding(None, None, None, f"not read: the first {len(listed)} objects, of which none is a {FORMATS[dataset.format].pattern}")


def _nothing(name: str, place: object, dataset: PathDataset | S3Dataset) -> UserError:
    others = [other.name for other in FORMATS.values() if other.name != dataset.format]
    return UserError(
        f"data set {name!r}: {place}",
        f"it holds no {FORMATS[dataset.format].pattern}",
        f"check the place and `format` in the definition (others: {', '.join(others)})",
    )
