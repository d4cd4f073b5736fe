"""The source folder is kept by content, without secrets and what is large."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from benchmarking.archive import kept_source
from benchmarking.archive.code_version import code_version
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.kept_source import keep_source, source_folder
from definitions.resolve import resolve_python
from tests.benchmarking.experiments import definition


def experiment(folder: Path, tag: str = "t", **changes: object) -> ExperimentSpec:
    made = definition(script="train.py", source_dir=str(folder), **changes)
    return ExperimentSpec(resolve_python(made, "local"), "RS", 0, tag, folder / "results", hears_levels=False, repeats=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "train.py": "import part.model\n", "part/model.py": "x = 1\n", "words.txt": "data", ".env": "TOKEN=1", "deploy/id_rsa": "key",
        ".git/config": "g", "venv/bin/x.py": "v", "results/old/x.py": "r", ".outriderignore": "notes\n", "notes": "n",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def names(where: Path) -> list[str]:
    return sorted(path.relative_to(where).as_posix() for path in where.rglob("*") if path.is_file())


def test_what_was_measured_is_kept_once_for_all_runs_and_nobodys_secrets(folder):
    first, second = experiment(folder), experiment(folder, "other")
    version = code_version(first)
    assert keep_source(first, version) == keep_source(second, version) == []
    kept = [source_folder(spec.folder, version.code) for spec in (first, second)]
    assert names(kept[0]) == names(kept[1]) == ["part/model.py", "train.py", "words.txt"]
    assert (kept[0] / "train.py").samefile(kept[1] / "train.py")
    assert not (kept[0] / "train.py").samefile(folder / "train.py")
    assert stat.S_IMODE((kept[0] / "train.py").stat().st_mode) == 0o444
    # Run from there it is the same version.
    there = definition(script="train.py", source_dir=str(kept[0]))
    again = ExperimentSpec(resolve_python(there, "local"), "RS", 0, "again", folder / "results", hears_levels=False, repeats=1)
    assert code_version(again).code == version.code
    # What is kept does not change with the source, of which another version is another folder.
    (folder / "train.py").write_text("import part\n", encoding="utf-8")
    assert (kept[0] / "train.py").read_text(encoding="utf-8") == "import part.model\n"
    later = code_version(first)
    keep_source(first, later)
    assert sorted(path.name for path in (first.folder / "source").iterdir()) == sorted([version.code, later.code])


def test_what_is_large_is_left_out_and_named_and_only_code_is_kept_of_too_much(folder, monkeypatch):
    monkeypatch.setattr(kept_source, "MOST_FILE_BYTES", 100)
    (folder / "model.bin").write_bytes(bytes(2048))
    spec = experiment(folder)
    lines = keep_source(spec, code_version(spec))
    assert lines == ["kept with the results is the source without what is large: model.bin (2.0 KiB)"]
    monkeypatch.setattr(kept_source, "MOST_BYTES", 25)
    other = experiment(folder, "other")
    assert keep_source(other, code_version(other)) == [lines[0] + ", words.txt (4 B)"]
    assert names(source_folder(other.folder, code_version(other).code)) == ["part/model.py", "train.py"]


def test_without_hard_links_it_is_copied_and_where_it_cannot_be_written_that_is_said(folder, monkeypatch):
    def no_links(source: object, place: object) -> None:
        raise OSError(95, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    spec = experiment(folder)
    version = code_version(spec)
    assert keep_source(spec, version) == []
    assert names(source_folder(spec.folder, version.code)) == ["part/model.py", "train.py", "words.txt"]
    blocked = experiment(folder, "blocked")
    blocked.folder.mkdir(parents=True)
    (blocked.folder / "source").write_text("", encoding="utf-8")
    assert keep_source(blocked, version)[0].startswith("the source is not kept with the results: ")


def test_a_command_without_a_script_keeps_code_alone(folder):
    made = definition(script=None, command=["python", "train.py", "${arguments}"], source_dir=str(folder))
    spec = ExperimentSpec(resolve_python(made, "local"), "RS", 0, "t", folder / "results", hears_levels=False, repeats=1)
    keep_source(spec, code_version(spec))
    assert names(source_folder(spec.folder, code_version(spec).code)) == ["part/model.py", "train.py"]
