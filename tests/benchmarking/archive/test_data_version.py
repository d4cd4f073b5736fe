"""The hash of the data follows what is read, wherever it lies."""

from __future__ import annotations

import os

import pytest

from benchmarking.archive import data_version as module
from benchmarking.archive import folder as archive_folder
from benchmarking.archive.data_version import data_version
from benchmarking.methods.registry import experiment_spec
from definitions import strict_json
from definitions.resolve import resolve_python
from definitions.schema import BenchmarkDefinition


def spec(tmp_path, datasets, backend="local"):
    (tmp_path / "train.py").write_text("")
    definition = BenchmarkDefinition.model_validate(
        {
            "name": "toy",
            "script": "train.py",
            "source_dir": str(tmp_path),
            "space": {"x": {"uniform": [0.0, 1.0]}},
            "objectives": {"loss": "min"},
            "datasets": datasets,
            **({"inputs": {"train": {"dataset": next(iter(datasets))}}} if datasets else {}),
        }
    )
    return experiment_spec(resolve_python(definition, backend), "RS", 1, "tag", tmp_path / "results")


def folder(path, content=b"abc", at=1.0):
    path.mkdir()
    (path / "0.jpg").write_bytes(content)
    os.utime(path / "0.jpg", (at, at))
    return {"own": {"type": "path", "path": str(path)}}


def test_the_same_files_elsewhere_and_of_another_day_are_the_same_data(tmp_path):
    one, other = (spec(tmp_path, folder(tmp_path / name, at=at)) for name, at in (("a", 1.0), ("b", 9.0)))
    assert data_version(one) == data_version(other)
    assert len(data_version(one)) == 12


@pytest.mark.parametrize("most", [16, 3, 0], ids=["read", "just read", "by sizes"])
def test_another_byte_is_other_data_where_files_are_read(tmp_path, monkeypatch, most):
    monkeypatch.setattr(module, "MOST_BYTES", most)
    one, other, longer = (spec(tmp_path, folder(tmp_path / name, name.encode() * 3)) for name in ("a", "b", "cc"))
    assert (data_version(one) != data_version(other)) == (most > 0)
    assert data_version(one) != data_version(longer)


def test_a_specification_counts_as_it_is_and_one_without_data_has_no_hash(tmp_path):
    images = [data_version(spec(tmp_path, {"made": {"type": "images", "samples": 50, "seed": seed}})) for seed in (0, 0, 1)]
    assert images[0] == images[1] != images[2]
    assert data_version(spec(tmp_path, {})) is None


def test_a_folder_that_is_not_there_has_a_hash_and_its_own_error_later(tmp_path):
    assert data_version(spec(tmp_path, {"own": {"type": "path", "path": str(tmp_path / "gone")}})) is not None


def test_a_file_that_cannot_be_read_counts_by_its_size(tmp_path, monkeypatch):
    made = spec(tmp_path, folder(tmp_path / "a"))
    read = data_version(made)

    def refused(path):
        raise PermissionError(path)

    monkeypatch.setattr(module.Path, "read_bytes", refused)
    assert data_version(made) not in (None, read)


def test_it_is_in_the_environment_file(tmp_path, monkeypatch):
    monkeypatch.setattr(archive_folder, "describe_environment", lambda folder, environ, data: {"data": data})
    made = spec(tmp_path, folder(tmp_path / "a"))
    archive_folder.prepare_folder(made, {})
    assert strict_json.loads((made.folder / "environment.json").read_text(encoding="utf-8")) == {"data": data_version(made)}
