"""Reports go out as lines of the log while a script runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from backends.metrics.files.printer import ReportPrinter
from backends.reports import FROM_FILES, ReportParser

SOURCE = {"path": "m.csv", "format": "csv", "level": None, "reported_as": "", "counts_from": 1, "names": {}, "wanted": []}


class Lines:
    """What was printed; tells when there are so many lines."""

    def __init__(self, wanted: int) -> None:
        self.lines: list[bytes] = []
        self._wanted = wanted
        self.there = threading.Event()

    def __call__(self, line: bytes) -> None:
        self.lines.append(line)
        if len(self.lines) >= self._wanted:
            self.there.set()


def test_rows_are_printed_as_they_come_and_known_by_their_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = Lines(1)
    printer = ReportPrinter([SOURCE], str(tmp_path), {}, printed, every_s=0.01)
    printer.start()
    path = tmp_path / "m.csv"
    path.write_text("a,b\n1,nan\n")
    assert printed.there.wait(90)
    with path.open("a") as file:
        file.write("2,3\n4")
    printer.finish(is_whole=True)
    parser = ReportParser()
    # However often and in whatever order lines come, and whatever the script's reporter prints beside them.
    log = b"".join([*printed.lines, b'[tune-metric]: {"c": 5, "outrider_sequence": 0}\n', *reversed(printed.lines)])
    found = [(one.sequence, {name: str(value) for name, value in one.metrics.items()}) for one in parser.feed(log)]
    assert found == [(FROM_FILES, {"a": "1", "b": "nan"}), (FROM_FILES + 1, {"a": "2", "b": "3"}), (0, {"c": "5"})]
    assert parser.counts.repeated == 2
    assert capsys.readouterr().err == "[outrider] 1 row of m.csv could not be read\n"


def test_of_a_script_that_failed_its_own_words_are_the_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printer = ReportPrinter([SOURCE], str(tmp_path), {}, Lines(1), every_s=60.0)
    printer.start()
    printer.finish(is_whole=False)
    assert capsys.readouterr().err == ""
