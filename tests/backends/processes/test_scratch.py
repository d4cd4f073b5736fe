"""The folder that those who run jobs on a machine share."""

from __future__ import annotations

import fcntl
import os
import shutil

from backends.processes.scratch import VARIABLE, ScratchFolder


def test_what_is_shared_is_deleted_while_the_lock_keeps_others_out(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    for name in ("content/abc", "experiments/toy/node0"):
        (scratch / name).mkdir(parents=True)
    (scratch / "a.log").touch()
    lock = os.open(scratch / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_SH)
    folder = ScratchFolder({VARIABLE: f"{lock}:{scratch}"})
    really, seen = shutil.rmtree, []

    def rmtree(path, **options):
        seen.append((os.path.relpath(path, scratch), (scratch / "lock").exists()))
        really(path, **options)

    monkeypatch.setattr("shutil.rmtree", rmtree)
    try:
        folder.leave("experiments/toy/node0")
    finally:
        os.close(lock)
    assert seen[0] == ("experiments/toy/node0", True)
    moved = f"-{os.getpid()}-deleted"
    assert sorted(seen[1:]) == [(f"content{moved}", True), (f"experiments{moved}", True)]
    assert not scratch.exists()


def test_somebody_elses_lock_keeps_what_is_shared(tmp_path):
    (tmp_path / "content").mkdir()
    locks = [os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2)]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_SH)
    ScratchFolder({VARIABLE: f"{locks[0]}:{tmp_path}"}).leave("experiments/toy")
    assert (tmp_path / "content").is_dir()
    for lock in locks:
        os.close(lock)
