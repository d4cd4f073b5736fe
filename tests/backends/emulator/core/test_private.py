"""What no other user can read, and temporary folders that go with their owner or at the next one's start."""

from __future__ import annotations

import os
import stat

import pytest

from backends.emulator.core.private import LOCK, PREFIX, FolderLock, TemporaryFolder, private_file, private_folder, remove_leftovers
from definitions.errors import UserError


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_folder_that_is_made_is_closed_to_others_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made = private_folder(tmp_path / "a" / "b")
        file = private_file(made / "f")
    finally:
        os.umask(before)
    assert (mode(made), mode(file)) == (0o700, 0o600)


def test_one_of_ours_is_closed_and_a_user_s_own_left_as_it_is(tmp_path):
    ours, empty, theirs = (tmp_path / name for name in ("ours", "empty", "theirs"))
    for folder in (ours, empty, theirs):
        folder.mkdir()
        folder.chmod(0o755)
    (ours / "jobs.sqlite").touch()
    (theirs / "thesis.tex").touch()
    assert [mode(private_folder(folder, ("jobs.sqlite",))) for folder in (ours, empty, theirs)] == [0o700, 0o700, 0o755]


def test_a_file_that_others_could_read_is_closed_and_a_link_not_followed(tmp_path):
    (tmp_path / "f").touch(mode=0o644)
    (tmp_path / "f").chmod(0o644)
    assert mode(private_file(tmp_path / "f")) == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        private_file(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_in_the_place_of_a_folder_is_said(tmp_path):
    (tmp_path / "f").touch()
    with pytest.raises(UserError, match="a file of this name is there"):
        private_folder(tmp_path / "f")


def test_a_folder_has_one_emulator(tmp_path):
    lock = FolderLock(tmp_path)
    with pytest.raises(UserError, match="it is in use"):
        FolderLock(tmp_path)
    lock.close()
    FolderLock(tmp_path).close()


def left(place):
    return sorted(path.name for path in place.iterdir())


def test_only_folders_of_dead_owners_and_of_our_kind_are_removed(tmp_path):
    alive = TemporaryFolder(tmp_path)
    dead = tmp_path / f"{PREFIX}dead"
    for folder in (dead, tmp_path / f"{PREFIX}unlocked", tmp_path / "outrider-other"):
        folder.mkdir()
        (folder / "jobs").mkdir()
    (dead / LOCK).touch()
    (tmp_path / "outrider-other" / LOCK).touch()
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / LOCK).touch()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "precious")
    assert remove_leftovers(tmp_path) == [dead.name]
    assert left(tmp_path) == sorted([alive.path.name, f"{PREFIX}unlocked", "outrider-other", "precious", f"{PREFIX}link"])
    assert (tmp_path / "precious" / LOCK).exists()
    alive.close()
    assert alive.path.name not in left(tmp_path)


def test_a_link_that_is_left_in_a_dead_owner_s_folder_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    dead = tmp_path / f"{PREFIX}dead"
    dead.mkdir()
    (dead / LOCK).touch()
    (dead / "link").symlink_to(tmp_path / "precious")
    assert remove_leftovers(tmp_path) == [dead.name]
    assert (tmp_path / "precious" / "file").exists()


def test_the_next_one_s_start_clears_what_a_killed_one_left(tmp_path):
    first = TemporaryFolder(tmp_path)
    (first.path / "jobs").mkdir()
    first._lock.close()  # noqa: SLF001 (as the system does for a process that is killed)
    second = TemporaryFolder(tmp_path)
    assert left(tmp_path) == [second.path.name]
    second.close()
