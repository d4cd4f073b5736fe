"""A file is followed whatever its writer does with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.metrics.files.tail import FileTail


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


@pytest.fixture
def tail(path: Path) -> Iterator[FileTail]:
    tail = FileTail(str(path))
    yield tail
    tail.close()


def all_of(tail: FileTail) -> list[bytes | str]:
    """Return what came: pieces, and `anew` where the file began anew."""
    found: list[bytes | str] = []
    while True:
        is_anew, data = tail.take(1000)
        if not is_anew and not data:
            return found
        found.append("anew" if is_anew else data)


def test_what_is_appended_comes_once(path: Path, tail: FileTail) -> None:
    assert all_of(tail) == []
    path.write_bytes(b"one")
    assert all_of(tail) == [b"one"]
    assert all_of(tail) == []
    with path.open("ab") as file:
        file.write(b"two" * 1000)
    assert b"".join(piece for piece in all_of(tail) if isinstance(piece, bytes)) == b"two" * 1000


def test_a_file_written_anew_in_place_is_noticed_though_it_is_longer_than_before(path: Path, tail: FileTail) -> None:
    path.write_bytes(b"epoch,loss\n1,2\n")
    all_of(tail)
    path.write_bytes(b"epoch,loss,acc\n1,2,\n1,,3\n")
    assert all_of(tail) == ["anew", b"epoch,loss,acc\n1,2,\n1,,3\n"]


def test_a_file_cut_off_and_begun_again_is_noticed(path: Path, tail: FileTail) -> None:
    path.write_bytes(b"a" * 100)
    all_of(tail)
    os.truncate(path, 0)
    assert all_of(tail) == ["anew"]
    path.write_bytes(b"b" * 10)
    assert all_of(tail) == [b"b" * 10]


def test_of_a_replaced_file_the_rest_of_the_old_one_comes_first(path: Path, tail: FileTail) -> None:
    path.write_bytes(b"old,")
    all_of(tail)
    with path.open("ab") as file:
        file.write(b"its end")
        file.flush()
        path.rename(path.with_suffix(".1"))
        path.write_bytes(b"new")
        assert all_of(tail) == [b"its end", "anew", b"new"]


def test_a_removed_file_may_come_again(path: Path, tail: FileTail) -> None:
    path.write_bytes(b"one")
    all_of(tail)
    path.unlink()
    assert all_of(tail) == []
    path.write_bytes(b"one")
    assert all_of(tail) == ["anew", b"one"]


def test_a_change_in_the_last_bytes_that_were_read_is_noticed(path: Path, tail: FileTail) -> None:
    path.write_bytes(b"x" * 9000 + b"1\n")
    all_of(tail)
    path.write_bytes(b"x" * 9000 + b"2\n3\n")
    assert all_of(tail)[0] == "anew"


def test_what_cannot_be_read_gives_nothing(tmp_path: Path) -> None:
    tail = FileTail(str(tmp_path))
    assert all_of(tail) == []
    tail.close()
