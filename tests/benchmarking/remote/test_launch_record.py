"""launch.json: read as it was written, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import subprocess

import pytest

from benchmarking.remote.launch_record import CommitState, LaunchRecord, RunMoney, SentPackage, as_json, commit_state, from_json
from definitions.errors import UserError

RECORD = LaunchRecord(
    tag="t",
    nonce="0a1b2c3d",
    created_at="2026-01-02T03:04:05+00:00",
    version="0.1",
    code=SentPackage("code/1/", "1"),
    sources={"digits": SentPackage("code/2/", "2", "/home/me/digits", CommitState("abc", True, "def"))},
    controller={"count": 3, "max_run_s": 60.0},
    child=("--verbose",),
    money=RunMoney(5.0, 0.5, 4.5),
)


def test_it_is_read_as_it_was_written():
    assert from_json(as_json(RECORD).encode(), "launch.json") == RECORD
    assert RECORD.count == 3
    assert dataclasses.replace(RECORD, controller={}).count == 1


def test_one_that_was_written_before_money_was_divided_is_read():
    older = {name: value for name, value in json.loads(as_json(RECORD)).items() if name != "money"}
    assert from_json(json.dumps(older), "launch.json") == dataclasses.replace(RECORD, money=RunMoney(None, None, None))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "launch.json is damaged"),
        ("{}", "launch.json has no version"),
        ('{"schema_version": 2}', "has version 2"),
        ('{"schema_version": 1, "tag": "t"}', "damaged(.|\n)*nonce"),
        ("[]", "no version"),
    ],
)
def test_what_cannot_be_read_is_said(text, said):
    with pytest.raises(UserError, match=said):
        from_json(text, "launch.json")


@pytest.mark.slow
def test_what_git_says_of_a_folder(tmp_path):
    assert commit_state(tmp_path) == CommitState()

    def git(*words: str) -> str:
        who = ["-c", "user.name=n", "-c", "user.email=e"]
        return subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    assert commit_state(tmp_path) == CommitState()  # a repository without a commit
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.py").write_text("1\n", encoding="utf-8")
    (tmp_path / "b.py").write_text("1\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-qm", "one")
    assert commit_state(inside) == CommitState(git("rev-parse", "HEAD"))
    (tmp_path / "b.py").write_text("2\n", encoding="utf-8")
    assert not commit_state(inside).dirty  # what is beside the folder does not travel
    (inside / "a.py").write_text("2\n", encoding="utf-8")
    first = commit_state(inside)
    (inside / "a.py").write_text("3\n", encoding="utf-8")
    second = commit_state(inside)
    assert first.dirty
    assert second.dirty
    assert first.diff != second.diff
