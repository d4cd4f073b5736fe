"""Leases are kept where no other user of the machine can put anything."""

from __future__ import annotations

import os
import stat

import pytest

from backends.common.leases_folder import leases_folder, own_folder
from definitions.errors import UserError


def test_the_one_that_is_named_is_taken_as_it_is(tmp_path):
    assert leases_folder({"OUTRIDER_LEASES": str(tmp_path / "x")}) == tmp_path / "x"
    assert not (tmp_path / "x").exists()


def test_the_usual_one_is_among_the_temporary_files_and_closed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for _ in range(2):
        found = leases_folder({})
        assert found == tmp_path / f"outrider-leases-{os.getuid()}"
        assert stat.S_IMODE(found.stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", ["link", "file", "open to others"])
def test_one_that_others_may_have_prepared_is_refused(tmp_path, kind):
    path = tmp_path / "leases"
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "file":
        path.touch()
    else:
        path.mkdir()
        path.chmod(0o777)
    with pytest.raises(UserError, match="it is not yours alone"):
        own_folder(path)
