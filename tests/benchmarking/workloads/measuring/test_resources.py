import os

import pytest

from benchmarking.workloads.measuring.resources import Snapshot, difference, is_disturbed, snapshot

TICK = 1 / os.sysconf("SC_CLK_TCK")


def process(root, pid, *, user, system=0, ended=0, pages=0, children=(), read=0):
    folder = root / str(pid)
    (folder / "task" / str(pid)).mkdir(parents=True)
    (folder / "task" / str(pid) / "children").write_text(" ".join(map(str, children)))
    fields = ["S", "1", *["0"] * 9, str(user), str(system), str(ended), "0", *["0"] * 6, str(pages), "0"]
    (folder / "stat").write_text(f"{pid} (a (name) of sorts) {' '.join(fields)}\n")
    (folder / "io").write_text(f"rchar: 5\nread_bytes: {read}\n")


@pytest.fixture
def proc(tmp_path):
    process(tmp_path, 10, user=100, system=20, ended=30, pages=3, children=(11, 12), read=4096)
    process(tmp_path, 11, user=50, pages=2, read=8192)
    process(tmp_path, 12, user=7, pages=1)
    process(tmp_path, 99, user=400, system=1, read=1)
    (tmp_path / "stat").write_text("cpu  1000 10 200 5000 600 3 4 5 9 0\ncpu0 1 1 1 1\n")
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "cpu").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n")
    return tmp_path


def test_workers_are_told_from_the_main_process(proc):
    found = snapshot(10, server_pid=99, root=proc)
    assert found.main_cpu_s == pytest.approx(120 * TICK)
    assert found.workers_cpu_s == pytest.approx((30 + 50 + 7) * TICK)  # those that have ended too
    page = os.sysconf("SC_PAGE_SIZE")
    assert (found.main_rss_bytes, found.workers_rss_bytes) == (3 * page, 3 * page)
    assert (found.device_read_bytes, found.server_read_bytes) == (4096 + 8192, 1)
    assert found.server_cpu_s == pytest.approx(401 * TICK)
    # All but idle and waiting for devices; guests are in user already.
    assert found.machine_busy_s == pytest.approx((1000 + 10 + 200 + 3 + 4 + 5) * TICK)
    assert found.pressure_s == {"cpu": 2.5}


def moment(at_s, main, workers, server, busy, pressure):
    return Snapshot(at_s, main, workers, 100, 50, int(at_s) * 10, server, int(at_s), busy, {"cpu": pressure})


def test_what_is_not_ours_is_foreign():
    found = difference(moment(0, 0, 0, 0, 0, 0), moment(10, 4.0, 6.0, 2.0, 15.0, 1.0), samples=1000, size_bytes=2_000_000_000)
    assert found["foreign_cpu_cores"] == pytest.approx(0.3)
    assert found["main_cpu_s_per_sample"] == pytest.approx(0.004)
    assert found["workers_cpu_s_per_sample"] == pytest.approx(0.006)
    assert found["server_cpu_s_per_sample"] == pytest.approx(0.002)
    assert found["cpu_s_per_gb"] == pytest.approx(5.0)
    assert found["cpu_pressure"] == pytest.approx(0.1)
    assert found["device_read_bytes"] == 110


def test_counters_of_different_grain_give_no_negative_load():
    found = difference(moment(0, 0, 0, 0, 0, 0), moment(1, 1.0, 0, 0, 0.99, 0), samples=1, size_bytes=1)
    assert found["foreign_cpu_cores"] == 0.0


def test_more_than_a_tenth_of_a_core_disturbs():
    assert [is_disturbed(cores) for cores in (0.1, 0.11, None)] == [False, True, None]


def test_a_machine_that_tells_nothing_leaves_figures_out(tmp_path):
    found = snapshot(10, root=tmp_path)
    assert found.machine_busy_s is None
    assert "foreign_cpu_cores" not in difference(found, found, 1, 1)


def test_this_process_has_used_something():
    assert snapshot().main_cpu_s > 0
