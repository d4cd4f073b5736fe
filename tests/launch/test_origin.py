"""The origin guard: our plain package names must not be shadowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import launch
from launch.origin import check_origin

HOME = Path(launch.__file__).resolve().parent.parent


def test_one_home_is_fine():
    assert check_origin(lambda package: HOME / package / "__init__.py") is None


def test_a_package_from_elsewhere_is_named():
    elsewhere = Path("/home/me/definitions.py")
    problem = check_origin(lambda package: elsewhere if package == "definitions" else HOME / package / "__init__.py")
    assert problem is not None
    assert "'definitions' comes from /home/me/definitions.py" in problem


def test_a_missing_package_is_named():
    problem = check_origin(lambda package: None if package == "backends" else HOME / package / "__init__.py")
    assert problem is not None
    assert "'backends' is missing" in problem


@pytest.mark.slow
def test_a_users_own_backends_folder_on_the_path_is_told(tmp_path):
    (tmp_path / "backends").mkdir()
    (tmp_path / "backends" / "__init__.py").write_text("")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from launch.__main__ import main; sys.exit(main(['list']))"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=HOME, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "package 'backends' comes from" in done.stderr
    assert "Traceback" not in done.stderr
