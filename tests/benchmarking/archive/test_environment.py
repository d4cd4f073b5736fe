import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarking.archive.environment import describe_environment
from definitions import strict_json


@pytest.fixture
def no_git(monkeypatch):
    def missing(*arguments, **options):
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", missing)


@pytest.fixture
def repository(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"]
        done = subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    (tmp_path / "train.py").write_text("1\n")
    git("add", "train.py")
    git("commit", "-q", "-m", "m")
    return tmp_path, git


@pytest.mark.slow
def test_commit_and_dirtiness(repository):
    folder, git = repository
    commit = git("rev-parse", "HEAD")
    assert describe_environment(folder, {})["git"] == {"commit": commit, "dirty": False}
    (folder / "new.txt").write_text("untracked files do not count")
    assert describe_environment(folder, {})["git"]["dirty"] is False
    (folder / "train.py").write_text("2\n")
    assert describe_environment(folder, {})["git"] == {"commit": commit, "dirty": True}
    git("add", "train.py")
    assert describe_environment(folder, {})["git"] == {"commit": commit, "dirty": True}
    git("checkout", "-q", "--detach")
    git("commit", "-q", "-m", "m")
    assert describe_environment(folder, {})["git"] == {"commit": git("rev-parse", "HEAD"), "dirty": False}


@pytest.mark.slow
def test_a_repository_without_a_commit_has_none(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert describe_environment(tmp_path, {})["git"] is None


@pytest.mark.slow
def test_no_repository_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert describe_environment(tmp_path, {})["git"] is None
    assert describe_environment(tmp_path / "missing", {})["git"] is None
    monkeypatch.setenv("PATH", "")
    assert describe_environment(tmp_path, {})["git"] is None


def test_facts_that_can_be_checked(tmp_path, no_git):
    found = describe_environment(tmp_path, {"CUDA_VISIBLE_DEVICES": "1"})
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["cores"] == len(os.sched_getaffinity(0))
    assert 2**27 < found["memory_bytes"] < 2**50
    assert found["cuda_visible_devices"] == "1"
    assert found["packages"]["pytest"] == pytest.__version__
    assert list(found["packages"]) == sorted(found["packages"], key=str.lower)
    assert (found["schema_version"], found["git"]) == (1, None)
    assert found["prices_as_of"] >= "2026-11-27"


def test_what_is_installed_while_experiments_go_on_is_seen_by_the_next_one(tmp_path, no_git, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    before = describe_environment(tmp_path, {})["packages"]
    assert describe_environment(tmp_path, {})["packages"] == before
    (tmp_path / "made_up-1.0.dist-info").mkdir()
    (tmp_path / "made_up-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
    assert describe_environment(tmp_path, {})["packages"] == {**before, "made-up": "1.0"}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("# branch.oid 1a2b\n# branch.head main\n", {"commit": "1a2b", "dirty": False}),
        ("# branch.oid 1a2b\n1 .M N... 100644 100644 100644 0 0 train.py\n", {"commit": "1a2b", "dirty": True}),
        ("# branch.oid (initial)\n1 A. N... 0 0 0 0 0 train.py\n", None),
        ("", None),
    ],
)
def test_what_git_says_is_the_commit_and_whether_files_differ_from_it(tmp_path, monkeypatch, said, found):
    monkeypatch.setattr("subprocess.run", lambda words, **_: SimpleNamespace(stdout=said))
    assert describe_environment(tmp_path, {})["git"] == found


@pytest.mark.parametrize(
    ("told", "processor", "asked"),
    [("processor: 0\nmodel name\t: Fast CPU @ 3 GHz\n", "Fast CPU @ 3 GHz", 0), ("CPU part: 0xd0c\n", "aarch64", 1), (None, "aarch64", 1)],
)
def test_the_system_is_asked_for_the_processor_only_where_its_file_does_not_say(tmp_path, no_git, monkeypatch, told, processor, asked):
    asks = []
    read = Path.read_text

    def text_of(path, *args, **kwargs):
        if str(path) != "/proc/cpuinfo":
            return read(path, *args, **kwargs)
        if told is None:
            raise FileNotFoundError
        return told

    monkeypatch.setattr(Path, "read_text", text_of)
    monkeypatch.setattr("platform.processor", lambda: asks.append(1) or "aarch64")
    assert (describe_environment(tmp_path, {})["processor"], len(asks)) == (processor, asked)


def test_the_load_at_the_start_and_the_data_are_named(tmp_path, no_git, monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (1.256, 9.0, 9.0))
    found = describe_environment(tmp_path, {}, "0123456789ab")
    assert (found["load_average"], found["data"]) == (1.26, "0123456789ab")

    def not_counted():
        raise OSError

    monkeypatch.setattr(os, "getloadavg", not_counted)
    assert (describe_environment(tmp_path, {})["load_average"], describe_environment(tmp_path, {})["data"]) == (None, None)


def test_it_is_json_and_tells_nothing_of_people_or_machines(tmp_path, no_git):
    environ = {"USER": "alice-the-user", "HOSTNAME": "secret-host", "AWS_SECRET_ACCESS_KEY": "key"}
    text = strict_json.dumps(describe_environment(tmp_path, environ))
    json.loads(text)
    assert not [word for word in (*environ.values(), os.uname().nodename, str(tmp_path)) if len(word) > 3 and word in text]
