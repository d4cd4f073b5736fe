"""A log keeps its beginning and its end, and says what is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backends.common.capped_log import LEFT_OUT, CappedLog

CAP = 1 << 16


def numbered(first: int, count: int) -> bytes:
    return b"".join(b"line %08d\n" % number for number in range(first, first + count))


def written(path: Path, pieces: int, cap: int | None = CAP) -> CappedLog:
    log = CappedLog(path, cap)
    for piece in range(pieces):
        log.write(numbered(piece * 100, 100))
    return log


def test_what_fits_is_kept_whole(tmp_path: Path) -> None:
    log = written(tmp_path / "a.log", 46)
    log.close()
    assert (tmp_path / "a.log").read_bytes() == numbered(0, 4600)
    assert log.left_out_bytes == 0


@pytest.mark.parametrize("pieces", [47, 60, 100, 1000])
def test_the_beginning_the_end_and_how_much_is_between(tmp_path: Path, pieces: int) -> None:
    log = written(tmp_path / "a.log", pieces)
    log.close()
    content = (tmp_path / "a.log").read_bytes()
    assert len(content) <= CAP
    head, mark, tail = re.split(rb"\n(\[outrider\] left out here: \d+ bytes of output, as log_cap is 64.0 KiB) *\n", content)
    assert head.startswith(numbered(0, 1000))
    assert tail.endswith(numbered(100 * pieces - 1000, 1000))
    # Whole lines, and each byte either there or counted.
    assert head + tail == numbered(0, len(head) // 14) + numbered(100 * pieces - len(tail) // 14, len(tail) // 14)
    said = int(mark.split()[4])
    assert said == log.left_out_bytes == 1400 * pieces - len(head) - len(tail)


def test_it_stays_the_same_file_and_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"before\n")
    number = path.stat().st_ino
    log = written(path, 100)
    log.close()
    assert path.stat().st_ino == number
    assert path.read_bytes().startswith(b"before\nline 00000000\n")


def test_lines_without_end_are_cut_where_they_are(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "a.log", CAP)
    for _ in range(10):
        log.write(b"x" * (CAP // 4))
    log.close()
    content = (tmp_path / "a.log").read_bytes()
    assert len(content) <= CAP
    # None of the letters of the mark is an x.
    assert log.left_out_bytes == 10 * CAP // 4 - content.count(b"x")


def test_a_full_disk_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.log").symlink_to("/dev/full")
    log = CappedLog(tmp_path / "a.log", CAP)
    log.write(b"x" * 100)
    assert log.lost_bytes == 100
    log.close()


def test_a_folder_that_is_not_there_is_counted(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "none" / "a.log")
    log.write(b"x" * 100)
    log.close()
    assert log.lost_bytes == 100
    assert not (tmp_path / "none").exists()


def test_one_that_goes_on_knows_how_much_was_printed_and_leaves_one_mark(tmp_path: Path) -> None:
    first = written(tmp_path / "a.log", 200)
    first.close()
    log = CappedLog(tmp_path / "a.log", CAP)
    assert (log.known_bytes, log.left_out_bytes) == (1400 * 200, first.left_out_bytes)
    log.write(numbered(20_000, 20_000))
    log.close()
    content = (tmp_path / "a.log").read_bytes()
    assert content.count(LEFT_OUT) == 1
    assert CappedLog(tmp_path / "a.log", CAP).known_bytes == 14 * 40_000
