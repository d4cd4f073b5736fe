from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from launch.remote import entry
from launch.remote.failure import leave_failure

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    "path",
    ["launch/remote/entry.py", "launch/remote/failure.py", "launch/python_version.py", "launch/__init__.py", "launch/remote/__init__.py"],
)
def test_what_is_read_before_the_version_is_looked_at_is_understood_by_an_old_python(path):
    ast.parse((ROOT / path).read_text(encoding="utf-8"), feature_version=(3, 7))


def test_an_old_python_is_said_in_one_sentence_which_is_the_jobs_reason_too(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18, "final", 0))
    monkeypatch.setenv("SM_OUTPUT_DIR", str(tmp_path / "output"))
    assert entry.main(["s3://bucket/outrider/runs/t"]) == 2
    said = (tmp_path / "output" / "failure").read_text(encoding="utf-8")
    assert said == (
        "Outrider needs Python 3.11 or newer; this is Python 3.9.18, "
        "which is that of the controllers' image: give another one, remote.image"
    )
    assert capsys.readouterr().err == said + "\n"


def test_a_reason_is_cut_to_what_the_service_takes(tmp_path):
    leave_failure(str(tmp_path), "x" * 5000)
    assert len((tmp_path / "failure").read_text(encoding="utf-8")) == 1000


def test_a_reason_that_cannot_be_left_is_said_and_ends_nothing(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    leave_failure(str(tmp_path / "file"), "why")
    assert capsys.readouterr().err.startswith("the reason could not be left for the service: [Errno ")
