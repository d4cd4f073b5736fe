"""Usage sampling: the statistics by numbers, what is read from the system, and what arrives at the other end."""

# ruff: noqa: N802  (a stand-in for the driver has the driver's names)

from __future__ import annotations

import ctypes
import json
import math
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import outrider_report
import pytest
from outrider_report import (
    MAX_REPORT_BYTES,
    SUMMARY_MARK,
    Gpus,
    Reporter,
    Sampler,
    Series,
    Usage,
    quantile,
    read_usage,
    steady_mean,
    tree_of,
)

from backends.reports import ReportParser

FOLDER = Path(outrider_report.__file__).parent


def series_of(*samples: tuple[float, float], capacity: int = 512) -> Series:
    series = Series(capacity)
    for value, seconds in samples:
        series.add(value, seconds)
    return series


def test_quantiles_go_by_time_and_not_by_number_of_samples() -> None:
    assert series_of((10.0, 1.0), (0.0, 9.0)).summary() == {"mean": 0.0, "p50": 0.0, "p95": 10.0, "p99": 10.0, "peak": 10.0}
    assert quantile([(3.0, 1.0), (1.0, 1.0), (2.0, 1.0), (4.0, 1.0)], 0.5) == 2.0
    assert quantile([(3.0, 1.0), (1.0, 1.0), (2.0, 1.0), (4.0, 1.0)], 0.75) == 3.0
    assert quantile([(float(n), 1.0) for n in range(1, 101)], 0.95) == 95.0
    assert quantile([], 0.5) == 0.0


def test_the_mean_is_that_of_the_steady_state() -> None:
    # 25 s of warming up at 0, then 75 s at 8.
    assert series_of((0.0, 25.0), (8.0, 75.0)).summary()["mean"] == 8.0
    assert series_of((0.0, 50.0), (8.0, 50.0)).summary()["mean"] == pytest.approx(16 / 3)
    assert steady_mean([(1.0, 5.0)]) == pytest.approx(5.0)
    assert steady_mean([]) == 0.0


def test_a_peak_may_lie_below_zero_and_a_total_is_over_all_the_time() -> None:
    series = series_of((-2.0, 1.0), (-5.0, 3.0))
    assert (series.peak, series.total) == (-2.0, -17.0)


def test_a_long_record_is_thinned_and_stays_right() -> None:
    series = series_of(*((float(n), 1.0) for n in range(100_000)), capacity=256)
    found = series.summary()
    assert len(series._record) < 256
    assert (series.peak, series.total) == (99_999.0, 99_999 * 50_000.0)
    assert found["mean"] == pytest.approx((25_000 + 99_999) / 2, rel=1e-3)
    assert found["p50"] == pytest.approx(50_000, rel=0.01)
    assert found["p95"] == pytest.approx(95_000, rel=0.01)
    assert found["p99"] == pytest.approx(99_000, rel=0.01)


def test_an_interval_counts_for_the_phases_that_it_covers() -> None:
    usage = Usage(cores=4)
    # 10 s: 6 of them training at 3 cores by the process itself, 3 loading at 0.5; children use one core all the time.
    spent = {"train": (6.0, 18.0), "load": (3.0, 1.5), "none": (0.0, 0.0)}
    usage.note(10.0, spent, 19.7, {"children_cpu_s": 10.0, "disk_read_bytes_per_s": 500.0}, {"rss_bytes": 7e6})
    found = usage.by_phase()
    assert {name: phase["sampled_s"] for name, phase in found.items()} == {"train": 6.0, "load": 3.0, "other": 1.0}
    assert {name: phase["cpu_cores"]["mean"] for name, phase in found.items()} == {"train": 4.0, "load": 1.5, "other": 1.2}
    assert found["train"]["cpu_percent"] == {"mean": 100, "p50": 100, "p95": 100, "p99": 100, "peak": 100}
    assert {name: phase["cpu_s"] for name, phase in found.items()} == {"train": 24, "load": 4.5, "other": 1.2}
    assert {name: phase["disk_read_bytes"] for name, phase in found.items()} == {"train": 300, "load": 150, "other": 50}
    assert found["load"]["rss_bytes"]["peak"] == 7_000_000


def test_waiting_for_disks_is_a_share_of_all_processors(tmp_path: Path) -> None:
    put(tmp_path, 7, "", (0, 0, 0, 0), 1)
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    lines = [f"cpu  9 9 9 9 {6 * ticks_per_s} 9", *(f"cpu{n} 9 9 9 9 9 9" for n in range(4)), "intr 5 5 5 5 5 5"]
    (tmp_path / "stat").write_text("\n".join(lines))
    counters, _ = read_usage(7, str(tmp_path))
    assert counters["io_wait_s"] == 1.5
    usage = Usage(cores=1)
    usage.note(2.0, {"load": (2.0, 0.0)}, 0.0, {"io_wait_s": 0.5}, {})
    usage.note(2.0, {"load": (2.0, 0.0)}, 0.0, {"io_wait_s": 0.0}, {})
    found = usage.by_phase()["load"]["io_wait_percent"]
    assert (found["peak"], found["p99"], found["p50"]) == (25, 25, 0)


def test_a_quantity_at_rest_is_told_by_its_total_alone() -> None:
    usage = Usage(cores=1)
    usage.note(1.0, {}, 0.0, {"children_cpu_s": 0.0, "disk_read_bytes_per_s": 0.0}, {})
    assert usage.by_phase()["other"]["disk_read_bytes"] == 0
    assert "disk_read_bytes_per_s" not in usage.by_phase()["other"]


def test_phases_without_number_are_kept_within_bounds() -> None:
    usage = Usage(cores=1)
    for n in range(500):
        usage.note(1.0, {f"epoch {n}": (1.0, 0.5)}, 0.5, {"children_cpu_s": 0.0}, {})
    found = usage.by_phase()
    assert len(found) <= 33
    assert sum(phase["sampled_s"] for phase in found.values()) == 500.0
    assert sum(phase["cpu_s"] for phase in found.values()) == pytest.approx(250.0, rel=1e-4)


def put(root: Path, pid: int, children: str, ticks: tuple[int, int, int, int], pages: int, io: str = "") -> None:
    folder = root / str(pid)
    (folder / "task" / str(pid)).mkdir(parents=True)
    (folder / "task" / str(pid) / "children").write_text(children)
    before, between = ["0"] * 11, ["0"] * 6
    fields = ["S", *before[1:], *map(str, ticks), *between, str(pages), "0"]
    (folder / "stat").write_text(f"{pid} (a b) (c) {' '.join(fields)}\n")
    (folder / "io").write_text(io)


def test_what_the_system_tells_is_added_up_over_the_tree(tmp_path: Path) -> None:
    io = "rchar: 5\nread_bytes: {}\nwrite_bytes: {}\ncancelled_write_bytes: 0\n"
    put(tmp_path, 7, "8 9", (1000, 500, 30, 20), 100, io.format(4096, 0))
    put(tmp_path, 8, "10 ", (200, 100, 7, 3), 10, io.format(1, 2))
    put(tmp_path, 9, "", (0, 0, 0, 0), 1)
    put(tmp_path, 11, "", (9999, 9999, 9999, 9999), 9999, io.format(9, 9))
    (tmp_path / "7" / "net").mkdir()
    (tmp_path / "7" / "net" / "dev").write_text(
        "Inter-|   Receive      |  Transmit\n face |bytes packets\n    lo: 99 1 0 0 0 0 0 0 99 1\n"
        "  eth0:1000 1 0 0 0 0 0 0 50 1\n  eth1: 7 1 0 0 0 0 0 0 3 1\n"
    )
    ticks_per_s, page_bytes = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    counters, levels = read_usage(7, str(tmp_path))
    assert tree_of(7, str(tmp_path)) == [7, 8, 9, 10]
    assert counters == {
        "children_cpu_s": (30 + 20 + 200 + 100 + 7 + 3) / ticks_per_s,
        "disk_read_bytes_per_s": 4097,
        "disk_written_bytes_per_s": 2,
        "network_received_bytes_per_s": 1007,
        "network_sent_bytes_per_s": 53,
    }
    assert levels == {"rss_bytes": 111 * page_bytes}
    assert read_usage(5, str(tmp_path / "nothing")) == ({}, {})


def run(code: str, **environment: str) -> dict[str, Any]:
    """Run a script with the reporter on its path and return what the parser makes of its output."""
    script = "from outrider_report import phase, report, step\nimport os, time\n" + textwrap.dedent(code)
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": str(FOLDER), "OUTRIDER_SAMPLING": "0.1", "OUTRIDER_CORES": "2"}
    done = subprocess.run([sys.executable, "-c", script], env=bare | environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    parser = ReportParser()
    parser.feed(done.stdout.encode())
    assert parser.counts.alien == 0
    return parser.usage()


@pytest.mark.slow
def test_a_phase_that_computes_is_told_from_one_that_waits() -> None:
    code = """
        report(n=0)
        for _ in range(10):
            with phase("load"):
                time.sleep(0.03)
            with phase("train"):
                end = time.process_time() + 0.03
                while time.process_time() < end: pass
    """
    usage = run(code)["usage"]
    assert set(usage) >= {"startup", "load", "train"}
    assert 0.25 < usage["train"]["cpu_s"] < 0.6
    assert usage["load"]["cpu_s"] < 0.1
    assert usage["train"]["cpu_percent"]["mean"] == pytest.approx(50 * usage["train"]["cpu_cores"]["mean"], rel=1e-3)
    assert 4e6 < usage["train"]["rss_bytes"]["mean"] <= usage["train"]["rss_bytes"]["peak"] < 100e6


@pytest.mark.slow
def test_processes_that_the_script_starts_count() -> None:
    code = """
        import subprocess, sys
        report(n=0)
        with phase("train"):
            code = "import time; b = b'x' * 50_000_000; end = time.process_time() + 0.4\\nwhile time.process_time() < end: pass"
            subprocess.run([sys.executable, "-c", code])
    """
    train = run(code)["usage"]["train"]
    assert 0.35 < train["cpu_s"] < 2.0
    assert train["rss_bytes"]["peak"] > 50e6


@pytest.mark.slow
def test_writing_is_seen(tmp_path: Path) -> None:
    code = f"""
        report(n=0)
        with phase("checkpoint"), open({str(tmp_path / "file")!r}, "wb") as file:
            file.write(bytes(8 * 2**20))
            file.flush()
            os.fsync(file.fileno())
            time.sleep(0.3)
    """
    written = run(code)["usage"]["checkpoint"].get("disk_written_bytes")
    if not written:
        pytest.skip("temporary files of this machine are no files of a disk")
    # The interval in which it began counts for what was before as well.
    assert 4 * 2**20 < written < 20 * 2**20


@pytest.mark.slow
def test_it_can_be_turned_off_and_starts_with_the_first_call() -> None:
    count = "import threading\nbefore = threading.active_count()\nreport(n=0)\nassert [before, threading.active_count()] == {}\n"
    assert "usage" in run(count.format([1, 2]))
    assert "usage" not in run(count.format([1, 1]), OUTRIDER_SAMPLING="0")
    assert "usage" in run(count.format([1, 2]), OUTRIDER_SAMPLING="nonsense")


@pytest.mark.slow
def test_it_never_delays_the_end() -> None:
    before = time.monotonic()
    run("report(n=0)\n", OUTRIDER_SAMPLING="100")
    assert time.monotonic() - before < 90.0  # not the time between two samples


@pytest.mark.slow
def test_forked_processes_do_not_sample_and_do_not_hang() -> None:
    code = """
        report(n=0)
        for _ in range(30):
            if os.fork() == 0:
                with phase("load"):
                    step()
                os._exit(len(os.listdir("/proc/self/task")) - 1)
            assert os.wait()[1] == 0
    """
    assert "load" not in run(code, OUTRIDER_SAMPLING="0.05")["usage"]


def test_a_job_that_is_killed_has_said_how_far_it_was(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(outrider_report.time, "monotonic", lambda: clock[0])
    one = Reporter({"OUTRIDER_SAMPLING": "0"}, started=100.0, sampling=True)
    said = []
    for second in range(1, 301):
        clock[0] = 100.0 + second
        one.step()
        one.report(epoch=second)
        said += [json.loads(line[len(SUMMARY_MARK) :])["steps"] for line in capfd.readouterr().out.splitlines() if SUMMARY_MARK in line]
    assert said == [10, 30, 70, 130, 190, 250]


def test_a_summary_always_fits_its_line() -> None:
    phase = {"sampled_s": 1.0, "rss_bytes": {"mean": 1.0}, "text": "x" * 2000}
    summary = {"steps": 3, "usage": {f"phase {n}": {**phase, "sampled_s": float(n)} for n in range(60)}}
    text = outrider_report._fitting(summary)
    assert len(text) <= MAX_REPORT_BYTES
    assert "phase 59" in json.loads(text)["usage"]
    assert "phase 0" not in json.loads(text)["usage"]


def test_usage_of_a_later_life_replaces_that_of_an_earlier_one() -> None:
    parser = ReportParser()
    for life, usage in enumerate(({"train": {"cpu_s": 1}, "load": {"cpu_s": 2}}, {"train": {"cpu_s": 5}, "bad": 3}, "bad")):
        parser.feed(f"{SUMMARY_MARK} {json.dumps({'outrider_incarnation': life, 'usage': usage})}\n".encode())
    assert parser.usage()["usage"] == {"train": {"cpu_s": 5}, "load": {"cpu_s": 2}}


def test_a_fault_of_the_system_ends_the_sampling_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = Sampler({}, dict, 3600.0)
    sampler.start(1.0)
    monkeypatch.setattr(outrider_report, "read_usage", lambda pid: 1 / 0)
    sampler._sample()
    assert sampler._over.is_set()
    sampler.finish()
    assert sampler.usage()["startup"]["sampled_s"] == 1.0


class Driver:
    """Stands in for NVIDIA's library: two devices, one of which is asked for utilisation in vain."""

    def __init__(self, processes: dict[int, int] | None = None) -> None:
        self.processes = processes or {}
        self.handles: list[object] = []

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = 2
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index: Any, device: Any) -> int:
        if index.value > 1:
            return 2
        device._obj.value = 100 + index.value
        self.handles.append(index.value)
        return 0

    def nvmlDeviceGetHandleByUUID(self, name: Any, device: Any) -> int:
        device._obj.value = 101
        self.handles.append(name.value)
        return 0

    def nvmlDeviceGetUtilizationRates(self, device: Any, use: Any) -> int:
        use._obj.gpu = 40 if device.value == 100 else 80
        return 0

    def nvmlDeviceGetMemoryInfo(self, device: Any, memory: Any) -> int:
        memory._obj.used = 5 * 2**30
        return 0

    def nvmlDeviceGetComputeRunningProcesses_v2(self, device: Any, count: Any, infos: Any) -> int:
        for at, (pid, used) in enumerate(self.processes.items()):
            infos[at].pid, infos[at].used = pid, used
        count._obj.value = len(self.processes)
        return 0


@pytest.mark.parametrize(
    ("visible", "handles"),
    [(None, [0, 1]), ("1", [1]), ("0,1", [0, 1]), ("GPU-ab, 0", [b"GPU-ab", 0]), ("1,7,0", [1])],
)
def test_the_visible_gpus_are_those_that_cuda_would_see(visible: str | None, handles: list[object]) -> None:
    driver = Driver()
    Gpus(driver, visible)
    assert driver.handles == handles


def test_gpu_memory_is_the_jobs_own_where_the_driver_tells_its_processes() -> None:
    gpus = Gpus(Driver({7: 2**30, 8: 2**20, 9: 2**40}), None)
    assert gpus.read([7, 8]) == {"gpu_percent": 60.0, "gpu_memory_bytes": 2 * (2**30 + 2**20)}
    assert gpus.read([1]) == {"gpu_percent": 60.0, "gpu_memory_bytes": 10 * 2**30}


def test_without_a_driver_or_with_gpus_hidden_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Gpus.find({"CUDA_VISIBLE_DEVICES": ""}) is None
    assert Gpus.find({"CUDA_VISIBLE_DEVICES": "-1"}) is None
    monkeypatch.setattr(outrider_report, "_GPU_FILES", ("/dev/null",))
    monkeypatch.setattr(ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError(name)))
    assert Gpus.find({}) is None


LIBRARY = """
#include <unistd.h>
typedef struct { unsigned gpu, memory; } use_t;
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } info_t;
static int device;
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned at, void **d) { *d = &device; return at == 0 ? 0 : 6; }
int nvmlDeviceGetUtilizationRates(void *d, use_t *u) { if (d != &device) return 2; u->gpu = 73; u->memory = 5; return 0; }
int nvmlDeviceGetMemoryInfo(void *d, memory_t *m) { m->total = 80ull << 30; m->used = 3ull << 30; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, info_t *i) {
    if (*n < 2) return 7;
    i[0].pid = 1; i[0].used = ~0ull; i[1].pid = getpid(); i[1].used = 1ull << 33; *n = 2; return 0;
}
"""


@pytest.mark.slow
def test_the_calls_fit_a_library_of_c(tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "nvml.c").write_text(LIBRARY)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(tmp_path / "libnvidia-ml.so.1"), str(tmp_path / "nvml.c")], check=True)
    gpus = Gpus(ctypes.CDLL(str(tmp_path / "libnvidia-ml.so.1")), "0")
    assert gpus.read([os.getpid()]) == {"gpu_percent": 73.0, "gpu_memory_bytes": float(2**33)}
    assert gpus.read([1]) == {"gpu_percent": 73.0, "gpu_memory_bytes": float(3 << 30)}
    code = """
        import outrider_report
        outrider_report._GPU_FILES = ("/dev/null",)
        report(n=0)
        with phase("train"):
            time.sleep(0.4)
    """
    train = run(code, LD_LIBRARY_PATH=str(tmp_path), CUDA_VISIBLE_DEVICES="0")["usage"]["train"]
    assert train["gpu_percent"] == {"mean": 73, "p50": 73, "p95": 73, "p99": 73, "peak": 73}
    assert math.isclose(train["gpu_memory_bytes"]["peak"], 2**33, rel_tol=1e-4)
