import json
from pathlib import Path

from benchmarking.archive.file_system import file_system_of, mount_of, named_places

MOUNTS = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 254:1 / /data rw - xfs /dev/nvme1n1 rw
31 30 0:40 / /data/with\040space rw - nfs4 server.example:/export rw
32 22 0:41 / /scratch rw shared:5 master:1 - tmpfs tmpfs rw
33 22 0:42 / /scratch rw - overlay overlay rw
"""


def test_the_innermost_mount_counts_and_no_server_is_named(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS, encoding="utf-8")

    def of(path):
        return mount_of(Path(path), mounts)

    assert of("/home/x") == ("ext4", "/dev/vda")
    assert of("/data/x/y") == ("xfs", "/dev/nvme1n1")
    assert of("/database") == ("ext4", "/dev/vda")
    assert of("/data/with space/z") == ("nfs4", None)
    assert of("/scratch/a") == ("overlay", None)


def test_a_folder_that_is_not_there_yet_is_asked_about_above(tmp_path):
    found = file_system_of(tmp_path / "not" / "yet")
    assert 0 < found["free_bytes"] <= found["total_bytes"]
    assert found["type"]
    assert file_system_of(tmp_path, tmp_path / "no-such-list")["type"] is None


def test_places_by_name(tmp_path):
    found = named_places(tmp_path / "cache", tmp_path / "checkpoints")
    assert set(found) == {"cache", "checkpoints"}
    assert json.dumps(found)
