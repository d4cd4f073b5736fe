"""Which files of a folder are its code."""

import os

import pytest

from backends.common.source_tree import files_below
from definitions.errors import UserError


def names(folder):
    return sorted(name for name, _ in files_below(folder))


def make(folder, *paths):
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("x")


def test_what_is_generated_or_hidden_by_habit_is_none(tmp_path):
    make(tmp_path, "a.py", "pkg/b.py", "pkg/__pycache__/b.pyc", ".git/config", ".venv/x.py", "node_modules/y.js", "pkg/c.pyo", ".DS_Store")
    make(tmp_path, "results/t/x.csv", "pkg/results/kept.csv", ".hidden", ".outriderignore")
    assert names(tmp_path) == [".hidden", "a.py", "pkg/b.py", "pkg/results/kept.csv"]


def test_own_patterns_leave_out_more(tmp_path):
    make(tmp_path, "a.py", "big.bin", "data/x", "pkg/data/y", "pkg/big.bin", "notes", "pkg/notes/z", "deep/er/t.log")
    (tmp_path / ".outriderignore").write_text("# what is large\n\n/data\n*.bin\n notes/ \ndeep/*/t.log\n")
    assert names(tmp_path) == ["a.py", "notes", "pkg/data/y"]


def test_patterns_that_bring_back_are_refused(tmp_path):
    (tmp_path / ".outriderignore").write_text("*.bin\n!kept.bin\n")
    with pytest.raises(UserError, match=r"'!kept\.bin'[\s\S]*name what is to be left out"):
        names(tmp_path)


def test_links_travel_and_pipes_do_not(tmp_path):
    make(tmp_path, "pkg/a.py")
    (tmp_path / "file").symlink_to("pkg/a.py")
    (tmp_path / "folder").symlink_to("pkg")
    os.mkfifo(tmp_path / "pipe")
    assert names(tmp_path) == ["file", "folder", "pkg/a.py"]


def test_each_name_goes_with_its_path(tmp_path):
    make(tmp_path, "pkg/a.py")
    assert list(files_below(tmp_path)) == [("pkg/a.py", tmp_path / "pkg" / "a.py")]


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        names(tmp_path / "nowhere")
