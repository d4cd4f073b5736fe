"""One controller at a time in an experiment's folder."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path

import pytest

from benchmarking.archive.folder_lock import FolderInUseError, locked
from definitions.errors import UserError
from tests.backends.common.test_file_lock import NO_LOCKS, failing


@pytest.mark.parametrize("number", NO_LOCKS)
def test_results_without_locks_are_not_called_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(fcntl, "flock", failing(number))
    with pytest.raises(UserError, match="has no locks") as caught, locked(tmp_path):
        pass
    assert not isinstance(caught.value, FolderInUseError)
    assert list(tmp_path.iterdir()) == []
    assert (os.strerror(number) in caught.value.fact, "--results_dir" in caught.value.advice) == (True, True)


def test_who_has_it_is_named_by_process_and_time(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(FolderInUseError) as caught, locked(tmp_path):
        pass
    assert re.fullmatch(rf"process {os.getpid()}, since 20\d\d-\d\d-\d\dT[\d:.]+Z, runs this experiment", caught.value.fact)


def test_a_lock_whose_file_was_removed_meanwhile_guards_nothing_and_is_taken_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fcntl.flock
    removed = []

    def flock(descriptor: int, kind: int) -> None:
        if not removed:
            removed.append(True)
            (tmp_path / "lock").unlink()
        real(descriptor, kind)

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(tmp_path), pytest.raises(FolderInUseError), locked(tmp_path):
        pass
    assert removed


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match=r"cannot write .*file/experiment/lock"), locked(tmp_path / "file" / "experiment"):
        pass
