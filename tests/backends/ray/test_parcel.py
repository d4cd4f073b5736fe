"""What is brought to nodes."""

from __future__ import annotations

import io
import tarfile

import pytest

from backends.ray.parcel import own_code, parcel_of
from definitions.errors import UserError


def test_the_same_content_is_the_same_archive(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "main.py").write_text("print(1)\n")
        (tmp_path / name / "sub" / "helper.py").write_text("x = 1\n")
        (tmp_path / name / ".env").write_text("SECRET=1\n")
    first, second = parcel_of(tmp_path / "one"), parcel_of(tmp_path / "two")
    assert first == second
    with tarfile.open(fileobj=io.BytesIO(first.archive)) as tar:
        assert tar.getnames() == ["main.py", "sub/helper.py"]
    (tmp_path / "two" / "main.py").write_text("print(2)\n")
    assert parcel_of(tmp_path / "two").digest != first.digest


def test_a_folder_over_the_limit_is_refused_with_what_is_large(tmp_path):
    (tmp_path / "weights.bin").write_bytes(b"x" * 2000)
    (tmp_path / "main.py").write_text("x\n")
    with pytest.raises(UserError, match=r"the largest files: weights\.bin .*, main\.py"):
        parcel_of(tmp_path, most_bytes=1000)


def test_our_own_code_has_what_runs_jobs():
    with tarfile.open(fileobj=io.BytesIO(own_code().archive)) as tar:
        names = set(tar.getnames())
    assert {"backends/processes/node.py", "backends/reporter/outrider_report.py", "definitions/errors.py"} <= names
    assert not [name for name in names if "__pycache__" in name]
