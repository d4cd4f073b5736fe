"""Rows of CSV and JSON lines: none is lost and none comes twice, however the file is written."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

from backends.metrics.files.lines import CsvReader, JsonLinesReader, LineReader

WRITTEN = Path(__file__).parent / "written"


def rows(reader: LineReader) -> list[dict[str, Any]]:
    found, is_more = reader.read()
    while is_more:
        more, is_more = reader.read()
        found += more
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics"


def test_rows_come_as_they_are_appended_and_only_whole_ones(path: Path) -> None:
    reader = CsvReader(str(path))
    path.write_text("epoch,loss\n1,0.5\n2,0.2")
    assert rows(reader) == [{"epoch": 1, "loss": 0.5}]
    with path.open("a") as file:
        file.write("5\n")
    assert rows(reader) == [{"epoch": 2, "loss": 0.25}]
    assert reader.finish(is_whole=True) == []


@pytest.mark.parametrize(("is_whole", "expected"), [(True, [{"epoch": 2, "loss": 0.2}]), (False, [])])
def test_a_last_line_without_an_end_counts_where_nobody_cut_it_off(path: Path, is_whole: bool, expected: list[Any]) -> None:
    path.write_text("epoch,loss\n1,0.5\n2,0.2")
    reader = CsvReader(str(path))
    assert len(rows(reader)) == 1
    assert reader.finish(is_whole) == expected
    assert reader.unreadable == (not is_whole)


def test_lightnings_logger_rewrites_its_file_for_a_new_column_and_each_row_comes_once(path: Path) -> None:
    reader = CsvReader(str(path))
    found = []
    for number in range(7):
        path.write_bytes((WRITTEN / "lightning" / f"state-{number}.csv").read_bytes())
        found += rows(reader)
    assert found == [
        {"epoch": 0, "step": 9, "train_loss": 1.0},
        {"epoch": 0, "step": 9, "val_loss": 2.0},
        {"epoch": 1, "step": 19, "train_loss": 0.5},
        {"epoch": 1, "step": 19, "val_loss": 1.0},
        {"epoch": 1, "step": 19, "lr": 0.1},
        {"epoch": 2, "step": 29, "train_loss": 1 / 3},
        {"epoch": 2, "step": 29, "val_loss": 2 / 3},
    ]
    reader.finish(is_whole=True)


def test_kerass_logger(path: Path) -> None:
    reader = CsvReader(str(WRITTEN / "keras.csv"))
    assert rows(reader)[-1] == {"epoch": 2, "accuracy": 0.7, "loss": 1 / 3, "val_loss": 0.5}


def test_a_file_written_from_the_start_again_tells_only_what_is_new_wherever_it_stands(path: Path) -> None:
    reader = CsvReader(str(path))
    path.write_text("loss\n3\n2\n2\n")
    assert [row["loss"] for row in rows(reader)] == [3, 2, 2]
    path.write_text("loss\n3\n2\n")
    assert rows(reader) == []
    # The newest first, and the oldest gone.
    path.write_text("loss\n1\n2\n2\n2\n")
    assert [row["loss"] for row in rows(reader)] == [1, 2]


def test_a_truncated_file_loses_nothing_of_what_comes_then(path: Path) -> None:
    reader = CsvReader(str(path))
    path.write_text("loss\n3\n2\n")
    rows(reader)
    os.truncate(path, 0)
    assert rows(reader) == []
    path.write_text("loss\n0.5\n")
    assert rows(reader) == [{"loss": 0.5}]


def test_what_was_there_before_is_not_the_jobs_unless_it_is_written_anew(path: Path) -> None:
    path.write_text("epoch,loss\n1,9\n2,8")
    reader = CsvReader(str(path))
    reader.begin()
    assert rows(reader) == []
    with path.open("a") as file:
        file.write("\n1,5\n")
    assert [row["loss"] for row in rows(reader)] == [8, 5]
    path.write_text("epoch,loss\n1,9\n")
    assert rows(reader) == [{"epoch": 1, "loss": 9}]


def test_an_old_last_line_without_an_end_is_not_the_jobs(path: Path) -> None:
    path.write_text("epoch,loss\n1,9")
    reader = CsvReader(str(path))
    reader.begin()
    assert rows(reader) == []
    assert reader.finish(is_whole=True) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1;2,5\n", [{"a": 1, "b": "2,5"}]),
        ("a\tb\n1\tnan\n", [{"a": 1, "b": math.nan}]),
        ("# a, b\n1, 2\n", [{"a": 1, "b": 2}]),
        ("1,0.5\n2,0.25\n", [{"1": 1, "2": 0.5}, {"1": 2, "2": 0.25}]),
        ("\ufeffa,b\r\n1,2\r\n\r\n", [{"a": 1, "b": 2}]),
        ('a,note\n1,"two\nlines"\n2,x\n', [{"a": 1, "note": "two\nlines"}, {"a": 2, "note": "x"}]),
        (",loss\n0,0.5\n", [{"loss": 0.5}]),
        ("a,b\n1,2\na,b\n3,4\n", [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        ("a,b\n1,2\na,c\n3,4\n", [{"a": 1, "b": 2}, {"a": 3, "c": 4}]),
        ("größe\n1\n", [{"größe": 1}]),
    ],
)
def test_forms_of_csv(path: Path, text: str, expected: list[Any]) -> None:
    path.write_text(text, encoding="utf-8", newline="")
    reader = CsvReader(str(path))
    assert repr(rows(reader)) == repr(expected)
    assert reader.unreadable == 0


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings(path: Path, encoding: str) -> None:
    path.write_text("größe,loss\n1,2\n", encoding=encoding)
    assert [row["loss"] for row in rows(CsvReader(str(path)))] == [2]


def test_rows_that_two_writers_tore_are_counted_and_the_others_come(path: Path) -> None:
    path.write_text("epoch,loss\n1,0.5\n2,0.2,0.7\n52\n3,0.1\n")
    reader = CsvReader(str(path))
    assert [row["epoch"] for row in rows(reader)] == [1, 3]
    assert reader.unreadable == 2


def test_json_lines_several_in_a_line_nested_and_torn(path: Path) -> None:
    path.write_text('{"epoch": 1, "test": {"acc": 0.5}, "lr": [1, 2], "x": null}{"epoch": 2}\n\n{"epoch": 3, "loss{"epoch": 4}\n[5]\n')
    reader = JsonLinesReader(str(path))
    assert rows(reader) == [{"epoch": 1, "test.acc": 0.5}, {"epoch": 2}, {"epoch": 4}]
    assert reader.unreadable == 2


def test_json_lines_keep_nan_and_what_has_no_end_yet(path: Path) -> None:
    reader = JsonLinesReader(str(path))
    path.write_text('{"loss": NaN}\n{"loss": -Infinity')
    assert math.isnan(rows(reader)[0]["loss"])
    with path.open("a") as file:
        file.write("}")
    assert rows(reader) == []
    assert reader.finish(is_whole=True) == [{"loss": -math.inf}]


def test_a_line_without_end_takes_no_memory_and_hides_nothing_after_it(path: Path) -> None:
    reader = JsonLinesReader(str(path))
    path.write_text('{"a": 1}\n' + "x" * 3_000_000 + '{"a": 2}\n{"a": 3}\n')
    assert rows(reader) == [{"a": 1}, {"a": 3}]
    assert reader.unreadable == 1


def test_what_comes_after_a_line_without_end_is_read_as_ever(path: Path) -> None:
    reader = JsonLinesReader(str(path))
    path.write_text("x" * 1_500_000)
    assert rows(reader) == []
    for number in range(3):
        with path.open("a") as file:
            file.write(f'x\n{{"a": {number}}}\n' if number == 0 else f'{{"a": {number}}}\n')
        assert rows(reader) == [{"a": number}]
    assert reader.unreadable == 1
