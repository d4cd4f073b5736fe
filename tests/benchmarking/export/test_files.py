"""Cells, times and files that appear whole."""

import csv
import math

import pytest

from benchmarking.export.files import cell, utc, write_csv
from definitions.errors import UserError


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.1, "0.1"),
        (1e-20, "1e-20"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (True, "True"),
        (10**30, "1" + "0" * 30),
        ({"b": [1, None], "a": math.nan}, '{"a":{"$float":"nan"},"b":[1,null]}'),
        ("10%|#\r20%|##\r\nend", "10%|#\n20%|##\nend"),
    ],
)
def test_cells(value, text):
    assert cell(value) == text


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", 'quote " and, comma', "half \ud800", "nul \x00", "ünï", "\n"])
def test_any_text_leaves_the_rows_whole(tmp_path, text):
    write_csv(tmp_path / "t.csv", ["a", "b"], [[text, 1], ["next", 2]])
    rows = rows_of(tmp_path / "t.csv")
    assert [row["b"] for row in rows] == ["1", "2"]


def test_times_are_iso_8601_in_utc():
    assert utc(1795817069.123) == "2026-11-27T22:04:29.123Z"
    assert utc(0.0) == "1970-01-01T00:00:00.000Z"
    assert utc(None) is None


def test_a_write_that_fails_midway_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "t.csv"
    write_csv(path, ["a"], [[1]])

    def rows(error):
        yield [2]
        raise error

    with pytest.raises(UserError, match=r"cannot write .*t\.csv[\s\S]*No space left[\s\S]*--results_dir"):
        write_csv(path, ["a"], rows(OSError(28, "No space left on device")))
    with pytest.raises(KeyError):
        write_csv(path, ["a"], rows(KeyError("a fault of ours")))
    assert path.read_text() == "a\n1\n"
    assert list(tmp_path.iterdir()) == [path]
