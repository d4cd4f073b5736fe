"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os

import pytest

from definitions import files
from definitions.errors import UserError
from definitions.files import making_folder, replacing, write_atomically


def test_a_reader_never_sees_half_a_file_and_the_content_is_on_disk_before_the_name(tmp_path, monkeypatch):
    path = tmp_path / "t.txt"
    write_atomically(path, "old")
    seen = []
    synced = []
    original = files.Path.replace

    def replace(self, target):
        seen.append((path.read_text(), self.read_text(), len(synced)))
        return original(self, target)

    monkeypatch.setattr(files.os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    monkeypatch.setattr(files.Path, "replace", replace)
    write_atomically(path, "new")
    assert seen == [("old", "new", 1)]
    assert synced == [3]
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o644


def test_folders_are_made_and_those_that_cannot_be_are_said(tmp_path):
    write_atomically(tmp_path / "a" / "b" / "t.txt", "x")
    assert (tmp_path / "a" / "b" / "t.txt").read_text() == "x"
    with pytest.raises(UserError, match=r"cannot write .*below_a_file[\s\S]*--results_dir"):
        write_atomically(tmp_path / "a" / "b" / "t.txt" / "below_a_file", "x")
    with (
        pytest.raises(UserError, match="elsewhere"),
        replacing(tmp_path / "a" / "b" / "t.txt" / "below_a_file", "write it elsewhere"),
    ):
        pass


def test_half_a_character_is_written_as_an_escape(tmp_path):
    write_atomically(tmp_path / "t.txt", "half \ud800")
    assert (tmp_path / "t.txt").read_text() == "half \\ud800"


def test_a_folder_that_could_not_be_filled_leaves_nothing(tmp_path):
    def fill():
        with making_folder(tmp_path / "new") as making:
            (making / "half").write_text("x")
            raise KeyError

    with pytest.raises(KeyError):
        fill()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_appears_whole_and_of_two_that_are_made_at_once_one_stays(tmp_path):
    path = tmp_path / "above" / "new"
    with making_folder(path) as first:
        (first / "a").write_text("1")
        assert not path.exists()
        with making_folder(path) as second:
            (second / "a").write_text("2")
    assert (path / "a").read_text() == "2"
    assert [found.name for found in path.parent.iterdir()] == ["new"]
    assert path.stat().st_mode & 0o777 == 0o755


def test_a_folder_in_the_place_of_a_file_is_an_error(tmp_path):
    (tmp_path / "taken").write_text("x")
    with pytest.raises(OSError, match="taken"), making_folder(tmp_path / "taken"):
        pass
    assert [found.name for found in tmp_path.iterdir()] == ["taken"]
