"""A lock that somebody has is told from a file system that has none."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from backends.common.file_lock import locked_within, try_lock
from backends.common.leases import LeaseBook
from definitions.errors import UserError

NO_LOCKS = [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP]


def failing(number: int):
    def flock(descriptor: object, kind: int) -> None:
        raise OSError(number, os.strerror(number))

    return flock


def test_a_lock_is_had_once_and_by_many_who_share_it(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    first, second = (os.open(file, os.O_RDWR | os.O_CREAT) for _ in range(2))
    try:
        assert try_lock(first, fcntl.LOCK_SH, file, "")
        assert try_lock(second, fcntl.LOCK_SH, file, "")
        assert not try_lock(first, fcntl.LOCK_EX, file, "")
    finally:
        os.close(first)
        os.close(second)


@pytest.mark.parametrize("number", NO_LOCKS)
def test_leases_without_locks_are_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(fcntl, "flock", failing(number))
    with pytest.raises(UserError, match="has no locks") as caught:
        LeaseBook(tmp_path / "leases", (0, 1))
    assert str(tmp_path / "leases") in caught.value.asked
    assert "OUTRIDER_LEASES" in caught.value.advice


def test_a_lock_is_waited_for_and_no_longer_than_is_said(tmp_path: Path) -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    file = tmp_path / "folder" / "lock"
    with locked_within(file, 5.0) as first:
        assert first is not None
        with locked_within(file, 1.0, lambda: now[0], sleep) as second:
            assert second is None
    assert 1.0 <= sum(slept) < 1.1
    with locked_within(file, 0.0) as third:
        assert third is not None


def test_a_lock_is_had_as_soon_as_it_is_let_go(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    first = os.open(file, os.O_RDWR | os.O_CREAT)
    assert try_lock(first, fcntl.LOCK_EX, file, "")
    with locked_within(file, 5.0, lambda: 0.0, lambda _: os.close(first)) as second:
        assert second is not None
