"""CPU quotas of containers, read off trees like those of real ones, and of a real control group where one can be made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backends.common.cpu_quota import cpu_quota, quota_text, within_quota

V2 = "31 23 0:27 {root} {point} rw,nosuid shared:9 - cgroup2 cgroup rw,nsdelegate"
V1 = "33 30 0:30 {root} {point} rw,nosuid - cgroup cgroup rw,{controllers}"


def tree(tmp_path, groups, mounts, files):
    process = tmp_path / "proc"
    process.mkdir()
    (process / "cgroup").write_text("\n".join(groups) + "\n")
    (process / "mountinfo").write_text("\n".join(["22 1 8:1 / / rw - ext4 /dev/sda1 rw", *mounts]) + "\n")
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return cpu_quota(process, tmp_path)


def test_in_version_2_the_smallest_quota_up_to_the_top_counts(tmp_path):
    files = {
        "sys/fs/cgroup/a/b/cpu.max": "max 100000",
        "sys/fs/cgroup/a/cpu.max": "150000 100000",
        "sys/fs/cgroup/cpu.max": "400000 100000",
    }
    assert tree(tmp_path, ["0::/a/b"], [V2.format(root="/", point="/sys/fs/cgroup")], files) == 1.5


def test_in_a_container_with_a_name_space_of_its_own_the_top_is_its_own_group(tmp_path):
    assert tree(tmp_path, ["0::/"], [V2.format(root="/", point="/sys/fs/cgroup")], {"sys/fs/cgroup/cpu.max": "50000 100000"}) == 0.5


def test_in_version_1_quota_and_period_are_two_files_of_the_group_of_the_cpu_controller(tmp_path):
    files = {
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "300000",
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
        "sys/fs/cgroup/cpuset/cpu.cfs_quota_us": "1",
        "sys/fs/cgroup/cpuset/cpu.cfs_period_us": "100000",
    }
    mounts = [
        V1.format(root="/", point="/sys/fs/cgroup/cpuset", controllers="cpuset"),
        V1.format(root="/", point="/sys/fs/cgroup/cpu,cpuacct", controllers="cpu,cpuacct"),
    ]
    assert tree(tmp_path, ["4:cpu,cpuacct:/job", "3:cpuset:/job"], mounts, files) == 3.0


def test_a_group_whose_path_begins_above_what_is_mounted_is_found_where_it_is_mounted(tmp_path):
    files = {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}
    mounts = [V1.format(root="/docker/f00", point="/sys/fs/cgroup/cpu", controllers="cpu")]
    assert tree(tmp_path, ["4:cpu:/docker/f00"], mounts, files) == 2.0
    assert cpu_quota(tmp_path / "proc", tmp_path / "elsewhere") is None


@pytest.mark.parametrize("text", ["max 100000", "", "much", "100000 0"])
def test_what_limits_nothing_or_cannot_be_read_is_no_quota(tmp_path, text):
    assert tree(tmp_path, ["0::/"], [V2.format(root="/", point="/sys/fs/cgroup")], {"sys/fs/cgroup/cpu.max": text}) is None


def test_a_mount_point_with_a_blank_is_found(tmp_path):
    assert tree(tmp_path, ["0::/"], [V2.format(root="/", point=r"/my\040groups")], {"my groups/cpu.max": "250000 100000"}) == 2.5


def test_a_system_without_control_groups_has_no_quota(tmp_path):
    assert cpu_quota(tmp_path, tmp_path) is None


@pytest.mark.parametrize(("quota", "count"), [(None, 8), (9.0, 8), (8.0, 8), (3.7, 3), (1.0, 1), (0.5, 1)])
def test_whole_cores_count_and_one_is_always_left(quota, count):
    cores = (0, 1, 2, 3, 8, 9, 10, 11)
    found = within_quota(cores, quota, "host")
    assert len(found) == count
    assert set(found) <= set(cores)
    assert list(found) == sorted(found)


def test_containers_of_one_machine_do_not_all_begin_with_the_same_core():
    assert len({within_quota(range(64), 1.0, f"container-{number}") for number in range(16)}) > 8


def test_a_quota_is_said_where_it_takes_something_away():
    assert quota_text(None, 64) == quota_text(64.0, 64) == ""
    assert quota_text(4.5, 64) == "CPU quota of this container: 4.5 of 64 cores, so 4 are used"
    assert quota_text(0.5, 2).startswith("CPU quota of this container: 0.5 of a core, so what runs is throttled")


@pytest.mark.slow
def test_a_real_group_of_half_a_core_is_seen():
    version_1, version_2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    top = version_1 if version_1.is_dir() else version_2
    group = top / f"outrider-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        try:
            name, text = ("cpu.cfs_quota_us", "50000") if top is version_1 else ("cpu.max", "50000 100000")
            (group / name).write_text(text)
        except OSError as error:
            pytest.skip(f"no CPU quota can be set here: {error}")
        code = (
            f"import os; open({str(group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))\n"
            "from backends.common.cpu_quota import cpu_quota, usable_cores\n"
            "print(cpu_quota(), len(usable_cores()))"
        )
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert said.split() == ["0.5", "1"]
    finally:
        group.rmdir()
