"""Room on a disk: what files take, what is left."""

import os

from backends.common.disk import free_bytes, taken_bytes

MIB = 1024**2


def test_files_count_by_the_blocks_they_take(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "full").write_bytes(os.urandom(2 * MIB))
    with (tmp_path / "a" / "sparse").open("wb") as file:
        file.truncate(1024 * MIB)
    (tmp_path / "one").write_bytes(os.urandom(MIB))
    (tmp_path / "a" / "link").symlink_to(tmp_path / "one")
    os.sync()
    assert 2 * MIB <= taken_bytes([tmp_path / "a"]) < 2.2 * MIB
    assert 3 * MIB <= taken_bytes([tmp_path / "a", tmp_path / "one"]) < 3.2 * MIB
    assert taken_bytes([tmp_path / "gone"]) == 0
    assert MIB <= taken_bytes([tmp_path], without=str(tmp_path / "a")) < 1.2 * MIB


def test_what_is_free_where_a_folder_is_to_be_made(tmp_path):
    found = os.statvfs(tmp_path)
    free = free_bytes(tmp_path / "not" / "yet" / "there")
    assert abs(free - found.f_bavail * found.f_frsize) < 1024 * MIB
