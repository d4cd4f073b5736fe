"""study.json: read, written whole, and locked while it is changed."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from backends.common.file_lock import try_lock
from benchmarking.export.files import utc
from benchmarking.studies.record import StudyRecord, as_json, from_json
from definitions.errors import UserError
from definitions.files import write_atomically

NAME = "study.json"
_LOCK = "study.lock"
_BUDGET = "budget.lock"
_ELSEWHERE = "give a folder on another disk: --results_dir"


def read_study(tag_folder: Path) -> StudyRecord | None:
    """Return the study in a tag's folder; None where there is none.

    Raises:
        UserError: its study.json cannot be read, is damaged, or of a later version.
    """
    path = tag_folder / NAME
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}", str(error), "take it from a copy of the folder") from error
    return from_json(text, str(path))


def write_study(tag_folder: Path, study: StudyRecord) -> None:
    """Replace study.json as a whole; raises `UserError` where the folder cannot be written."""
    write_atomically(tag_folder / NAME, as_json(study))


@contextlib.contextmanager
def changing(tag_folder: Path) -> Iterator[None]:
    """Inside the block no other process changes the study.

    It waits for others, who only read and write one small file meanwhile.

    Raises:
        UserError: the folder cannot be written, or its file system has no locks.
    """
    path = tag_folder / _LOCK
    with _opened(path) as descriptor:
        if not try_lock(descriptor, fcntl.LOCK_EX, path, _ELSEWHERE):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def spending(tag_folder: Path) -> Iterator[None]:
    """Inside the block no other process spends the money that experiments of the study have in common.

    Raises:
        UserError: another process is at it; the folder cannot be written, or its file system has no locks.
    """
    path = tag_folder / _BUDGET
    with _opened(path) as descriptor:
        if not try_lock(descriptor, fcntl.LOCK_EX, path, _ELSEWHERE):
            raise UserError(
                f"{tag_folder} is being run by another process",
                "with `shares: first_come` each experiment must know what those before it spent of max_cost",
                "wait for it; studies with equal shares may be run by several",
            )
        yield


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UserError(f"cannot write {path}", str(error), "check the folder's permissions, or give another --results_dir") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def note_look(tag_folder: Path, now: float) -> None:
    """Note that somebody saw a comparison of the study in a tag's folder; where it cannot be written, it is seen all the same.

    Args:
        tag_folder: of the tag.
        now: seconds since 1970.
    """
    with contextlib.suppress(UserError), changing(tag_folder):
        study = read_study(tag_folder)
        seen = None if study is None else study.looked_at(utc(now) or "")
        if seen is not None and seen != study:
            write_study(tag_folder, seen)


def discard_study(tag_folder: Path) -> None:
    """Remove what was written of a study none of whose experiments began, and the folder where it is empty then."""
    for name in (NAME, _LOCK, _BUDGET):
        (tag_folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        tag_folder.rmdir()
