"""From files to reports: patterns, names, levels, ranks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from backends.metrics.files.watcher import MetricFiles
from definitions.file_source import FileSource


def files(folder: Path, *sources: FileSource, **places: str) -> MetricFiles:
    return MetricFiles(sources, str(folder), places)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


LEVELS = FileSource("*/metrics.csv", "csv", "epoch", "epoch", 0, {"val": "val_loss"}, ("val_loss",))


def test_rows_of_a_level_are_one_report_once_it_has_what_is_wanted(tmp_path: Path) -> None:
    watched = files(tmp_path, LEVELS)
    assert watched.read() == []
    path = write(tmp_path, "version_0/metrics.csv", "epoch,train,val\n0,1.0,\n")
    assert watched.read() == []
    with path.open("a") as file:
        file.write("0,,2.0\n1,0.5,\n")
        file.flush()
        assert watched.read() == [{"epoch": 1, "train": 1.0, "val_loss": 2.0}]
        file.write("1,,1.5\n")
    assert watched.read() == [{"epoch": 2, "train": 0.5, "val_loss": 1.5}]
    assert watched.finish(True) == []
    assert watched.problems() == []


def test_without_a_level_each_row_is_a_report(tmp_path: Path) -> None:
    write(tmp_path, "m.csv", "a,b\n1,2\n1,2\n")
    assert files(tmp_path, FileSource("m.csv", "csv")).finish(True) == [{"a": 1, "b": 2}, {"a": 1, "b": 2}]


def test_where_the_file_has_no_such_column_each_row_is_a_report_and_it_is_said(tmp_path: Path) -> None:
    write(tmp_path, "v/metrics.csv", "step,val\n1,3\n2,4\n")
    watched = files(tmp_path, LEVELS)
    assert watched.finish(True) == [{"step": 1, "val_loss": 3}, {"step": 2, "val_loss": 4}]
    assert watched.problems() == ["*/metrics.csv has no epoch; it has step, val"]


def test_several_sources_of_one_level_make_one_report(tmp_path: Path) -> None:
    write(tmp_path, "train.csv", "epoch,train\n1,0.9\n2,0.8\n")
    write(tmp_path, "val.jsonl", '{"epoch": 1, "val": 0.7}\n{"epoch": 2, "val": 0.6}\n')
    write(tmp_path, "metrics.json", '{"test": {"acc": 0.5}}')
    sources = [
        FileSource(name, form, "epoch", "epoch", wanted=("val",))
        for name, form in (("train.csv", "csv"), ("val.jsonl", "jsonl"), ("metrics.json", "json"))
    ]
    assert files(tmp_path, *sources).finish(True) == [
        {"epoch": 1, "train": 0.9, "val": 0.7},
        {"epoch": 2, "train": 0.8, "val": 0.6, "test.acc": 0.5},
    ]


def test_two_ranks_into_one_file_by_their_column_and_into_two_by_their_names(tmp_path: Path) -> None:
    write(tmp_path, "m.csv", "epoch,rank,loss\n1,0,0.5\n1,1,0.9\n2,1,0.8\n2,0,0.4\n")
    write(tmp_path, "log_rank0.csv", "epoch,acc\n1,0.1\n2,0.2\n")
    write(tmp_path, "log_rank1.csv", "epoch,acc\n1,0.3\n2,0.4\n")
    watched = files(tmp_path, FileSource("*.csv", "csv", "epoch", "epoch"))
    found = watched.finish(True)
    assert [(row["epoch"], row["loss"], row["acc"]) for row in found] == [(1, 0.5, 0.1), (2, 0.4, 0.2)]
    assert watched.other_ranks == 2


def test_two_ranks_that_write_the_same_rows_are_one_report_a_level(tmp_path: Path) -> None:
    write(tmp_path, "m.csv", "epoch,loss\nepoch,loss\n1,0.5\n1,0.5\n2,0.4\n2,0.4\n")
    assert files(tmp_path, FileSource("m.csv", "csv", "epoch", "epoch")).finish(True) == [
        {"epoch": 1, "loss": 0.5},
        {"epoch": 2, "loss": 0.4},
    ]


def test_places_are_filled_in_and_are_no_patterns(tmp_path: Path) -> None:
    write(tmp_path, "out [1]/m.json", '{"a": 1}')
    watched = files(tmp_path, FileSource("${output}/*.json", "json"), output=str(tmp_path / "out [1]"))
    assert watched.finish(True) == [{"a": 1}]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    watched = files(tmp_path, FileSource("runs/**/m.csv", "csv"))
    assert watched.finish(True) == []
    assert watched.problems() == ["there is no runs/**/m.csv, which `read` names"]


def test_unreadable_rows_are_said(tmp_path: Path) -> None:
    write(tmp_path, "m.jsonl", '{"a": 1}\nnothing\n')
    watched = files(tmp_path, FileSource("m.jsonl", "jsonl"))
    watched.finish(True)
    assert watched.problems() == ["1 row of m.jsonl could not be read"]


def test_what_was_there_before_the_start_is_not_reported(tmp_path: Path) -> None:
    write(tmp_path, "m.json", '{"a": 1}')
    old = write(tmp_path, "v/metrics.csv", "epoch,val\n0,9\n")
    watched = files(tmp_path, LEVELS, FileSource("m.json", "json"))
    watched.begin()
    with old.open("a") as file:
        file.write("1,5\n")
    assert watched.finish(True) == [{"epoch": 2, "val_loss": 5}]


def test_steps_of_event_files_are_their_levels() -> None:
    written = Path(__file__).parent / "written"
    source = FileSource("tensor_form", "tensorboard", None, "epoch", 0, {"validation/epoch_loss": "val_loss"}, ("val_loss",))
    found = files(written, source).finish(True)
    assert [(row["epoch"], row["val_loss"]) for row in found] == [(1, 2.0), (2, 1.0), (3, pytest.approx(2 / 3))]


def test_a_tag_may_be_the_level(tmp_path: Path) -> None:
    written = Path(__file__).parent / "written"
    source = FileSource("torch/*tfevents*", "tensorboard", "val/acc", "half", 1)
    found: list[Any] = files(written, source).finish(True)
    assert [row["half"] for row in found] == [0.5, 0.6, 0.7, 0.8, 0.9]


@pytest.mark.parametrize("name", ["m.csv", "m.json"])
def test_the_last_look_finds_what_was_written_within_one_step_of_the_clock(tmp_path: Path, name: str) -> None:
    texts = {"m.csv": "loss\n0.5\n", "m.json": '{"loss": 0.5}'}
    path = write(tmp_path, name, texts[name])
    watched = files(tmp_path, FileSource(name, name[2:]))
    assert watched.read() == [{"loss": 0.5}]
    before = path.stat()
    path.write_text(texts[name].replace("0.5", "0.2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert watched.read() == []
    assert watched.finish(True) == [{"loss": 0.2}]


def test_a_column_that_is_an_argument_of_the_script_is_no_rank(tmp_path: Path) -> None:
    write(tmp_path, "m.csv", "rank,loss\n8,0.5\n")
    assert files(tmp_path, FileSource("m.csv", "csv", ranks=("local_rank",))).finish(True) == [{"rank": 8, "loss": 0.5}]
