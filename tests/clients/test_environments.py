"""Where environments of clients are kept, when they are made anew, and what is said where they cannot be."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.clients import environments
from tests.clients.environments import MissingError, cache_folder, environment, folder_of, forget


@pytest.fixture
def lock(tmp_path):
    (tmp_path / "one.lock").write_text("six==1.17.0\n")
    return tmp_path / "one.lock"


def test_they_are_in_the_user_s_cache():
    assert cache_folder({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/c/outrider/clients")
    assert cache_folder({"HOME": "/h"}) == Path("/h/.cache/outrider/clients")


def test_another_lock_and_another_interpreter_have_another(lock, tmp_path):
    first = folder_of(lock, tmp_path, "/usr/bin/one")
    assert folder_of(lock, tmp_path, "/usr/bin/one") == first
    assert folder_of(lock, tmp_path, "/usr/bin/two") != first
    lock.write_text("six==1.16.0\n")
    assert folder_of(lock, tmp_path, "/usr/bin/one") not in (first, folder_of(lock, tmp_path, "/usr/bin/two"))


def test_one_is_made_once(lock, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(environments.subprocess, "run", lambda command, **_: made.append(command) or done(command))
    (folder_of(lock, tmp_path)).mkdir()  # of an install that was killed

    def done(command):
        folder_of(lock, tmp_path).mkdir(exist_ok=True)
        return subprocess.CompletedProcess(command, 0, "", "")

    python = environment(lock, tmp_path, time.monotonic() + 60)
    assert python == folder_of(lock, tmp_path) / "bin" / "python"
    assert [command[2] for command in made] == ["venv", "pip"]
    assert environment(lock, tmp_path, time.monotonic()) == python
    assert len(made) == 2


def test_one_that_cannot_be_had_says_why_and_counts_as_none(lock, tmp_path, monkeypatch):
    with pytest.raises(MissingError, match="no time is left"):
        environment(lock, tmp_path, time.monotonic())
    said = "WARNING: x\nERROR: No matching distribution found for six==1.17.0\nsomething else\n"
    monkeypatch.setattr(environments.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", said))
    with pytest.raises(MissingError, match="No matching distribution found for six"):
        environment(lock, tmp_path, time.monotonic() + 60)
    assert not (folder_of(lock, tmp_path) / "installed").exists()


def test_what_nobody_used_for_a_month_goes(tmp_path):
    for name, age_days in (("one-old", 40), ("one-new", 20), ("one-kept", 40), ("two-old", 40)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "installed").touch()
        os.utime(tmp_path / name / "installed", (time.time() - 86400 * age_days,) * 2)
    (tmp_path / "one-half").mkdir()
    forget(tmp_path, "one", tmp_path / "one-kept")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["one-half", "one-kept", "one-new", "two-old"]
