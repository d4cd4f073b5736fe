"""Checkpoints as folders, by key."""

from __future__ import annotations

import pytest

from backends.processes.checkpoints import LocalCheckpoints


@pytest.mark.parametrize("key", ["", ".", "..", "../a", "a/../../b", "/a", "./."])
def test_a_key_that_leads_out_of_the_folder_is_refused(tmp_path, key):
    for act in (
        LocalCheckpoints(tmp_path / "all").path,
        LocalCheckpoints(tmp_path / "all").create,
        LocalCheckpoints(tmp_path / "all").exists,
    ):
        with pytest.raises(ValueError, match="no plain name"):
            act(key)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_takes_the_place_of_what_is_there_without_our_own_files(tmp_path):
    checkpoints = LocalCheckpoints(tmp_path / "all")
    for key, name in (("trial-1", "weights"), ("trial-2", "old")):
        checkpoints.create(key)
        (checkpoints.path(key) / name).write_text(key)
    (checkpoints.path("trial-1") / ".outrider-lives").write_text("3")
    checkpoints.copy("trial-1", "trial-2")
    assert [item.name for item in checkpoints.path("trial-2").iterdir()] == ["weights"]
    checkpoints.copy("trial-9", "trial-2")
    assert not checkpoints.exists("trial-2")


def test_a_new_one_is_empty_and_one_with_nothing_but_our_own_files_is_none(tmp_path):
    checkpoints = LocalCheckpoints(tmp_path / "all")
    checkpoints.create("a/trial-1")
    (checkpoints.path("a/trial-1") / "weights").write_text("x")
    assert checkpoints.exists("a/trial-1")
    checkpoints.create("a/trial-1")
    assert not checkpoints.exists("a/trial-1")
    (checkpoints.path("a/trial-1") / ".outrider-lives").write_text("3")
    assert not checkpoints.exists("a/trial-1")
    checkpoints.delete(["a/trial-1", "unknown"])
    assert not checkpoints.path("a/trial-1").exists()
