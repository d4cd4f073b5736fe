"""Reports from files are numbered in their order, and looking for them takes little of the time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.common.file_reports import FileReports
from backends.reports import FROM_FILES
from definitions.file_source import FileSource

SOURCE = FileSource("m.csv", "csv")


def reports(folder: Path, cpu_s: Iterator[float]) -> FileReports:
    return FileReports((SOURCE,), str(folder), {}, lambda: next(cpu_s))


def test_they_are_numbered_in_their_order_up_to_the_end(tmp_path: Path) -> None:
    found = reports(tmp_path, iter([0.0] * 10))
    (tmp_path / "m.csv").write_text("a\n1\n2\n3")
    assert [(one.sequence - FROM_FILES, one.metrics) for one in found.read(10.0)] == [(0, {"a": 1}), (1, {"a": 2})]
    assert [(one.sequence - FROM_FILES, one.metrics) for one in found.finish(is_whole=True)] == [(2, {"a": 3})]
    assert found.delivered == 3


def test_what_was_there_when_it_was_made_is_not_the_jobs(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("a\n1\n")
    assert reports(tmp_path, iter([0.0] * 10)).read(10.0) == []


def test_it_is_looked_four_times_a_second_and_less_often_where_that_takes_more_than_a_twentieth_of_the_time(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("")
    found = reports(tmp_path, iter([0.0, 0.001, 1.0, 1.5, 2.0, 2.0]))
    path = tmp_path / "m.csv"
    looked = []
    for number, now in enumerate((10.0, 10.2, 10.25, 20.0, 20.25)):
        with path.open("a") as file:
            file.write("a\n" * (not number) + f"{number}\n")
        looked.append(len(found.read(now)))
    # The second look took half a second, so that the next is ten seconds later.
    assert looked == [1, 0, 2, 0, 2]
