import fcntl

import pytest

from benchmarking.archive.folder_lock import locked
from benchmarking.archive.liveness import held_files, is_run

LOCKS = """\
1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF
2: FLOCK  ADVISORY  WRITE 12 fe:10:2334752 0 EOF
3: FLOCK  ADVISORY  READ  13 fe:10:5 0 EOF
2: -> FLOCK  ADVISORY  WRITE 14 fe:10:2334752 0 EOF
"""


def nobody(folder):
    return False


def test_locks_of_writers_as_the_kernel_lists_them(tmp_path):
    (tmp_path / "locks").write_text(LOCKS, encoding="ascii")
    assert held_files(tmp_path / "locks") == {(0xFE, 0x10, 2334752)}


def test_where_the_kernel_tells_nothing_the_pipe_alone_does(tmp_path):
    assert held_files(tmp_path / "there is none") == frozenset()
    (tmp_path / "lock").write_text("", encoding="ascii")
    assert is_run(tmp_path, frozenset(), lambda folder: folder == tmp_path)
    assert not is_run(tmp_path, frozenset(), nobody)


@pytest.mark.skipif(not held_files.__defaults__[0].exists(), reason="this kernel lists no locks")
def test_an_experiment_that_is_held_is_run_and_looking_takes_no_lock(tmp_path):
    with locked(tmp_path) as path:
        assert is_run(tmp_path, held_files(), nobody)
    assert not is_run(tmp_path, held_files(), nobody)
    with path.open("r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
