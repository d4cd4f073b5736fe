"""Failures that come of how a script was called, and who runs a script whose first line names another."""

import dataclasses

from backends.base import JobSpec
from backends.common.hints import calling_hint, interpreter_remark


def test_a_file_of_the_source_and_a_relative_import_are_told_by_what_mends_them(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "scale.txt").touch()
    job = JobSpec("j", 0, 1, str(tmp_path / "pkg" / "train.py"), source_dir=str(tmp_path))
    missing = "FileNotFoundError: [Errno 2] No such file or directory: '{}'"
    assert "`working_dir: source`" in calling_hint(missing.format("data/scale.txt"), job)
    assert calling_hint(missing.format("data/other.txt"), job) == ""
    assert calling_hint(missing.format(tmp_path / "data" / "scale.txt"), job) == ""
    assert calling_hint(missing.format("data/scale.txt"), dataclasses.replace(job, working_dir=str(tmp_path))) == ""
    said = calling_hint("ImportError: attempted relative import with no known parent package", job)
    assert said == 'a package\'s module is started by `command: [python, -m, pkg.train, "${arguments}"]`'


def test_a_first_line_that_names_a_particular_interpreter_is_told_of(tmp_path):
    def remark(line, name="t.py"):
        (tmp_path / name).write_text(line + "\nprint(1)\n")
        return interpreter_remark(tmp_path / name, "/v/python")

    assert remark("#!/opt/env/bin/python3.9") == (
        "t.py is run by /v/python, not by its first line (#!/opt/env/bin/python3.9); `python` or `command` says otherwise"
    )
    assert [remark("#!/usr/bin/env python3"), remark("#!/usr/bin/python"), remark("import x"), remark("#!/bin/sh", "t.sh")] == [""] * 4
    assert interpreter_remark(tmp_path / "none.py", "p") == ""
