"""A job's processes together use no more memory than its share of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.common import memory
from backends.failures import Cause, Outcome
from tests.backends.contract import closed
from tests.backends.local_bench import LocalBench

pytestmark = pytest.mark.slow

MIB = 2**20


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LocalBench]:
    bench = LocalBench(tmp_path)
    yield bench
    assert bench.backend.close() == []


def test_a_job_over_its_limit_is_out_of_memory_and_says_by_how_much(bench: LocalBench) -> None:
    code = "import time\nreport(n=1)\nblock = b'x' * (150 * 2**20)\ntime.sleep(60)\n"
    end = bench.end_of(bench.job("one", code, instance_type="local.1cpu.100mib"))
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.OUT_OF_MEMORY)
    used = float(end.message.split()[1])
    # It may be caught while it still grows.
    assert 100 < used < 200
    assert end.message == f"used {used} MiB, local.1cpu.100mib has 100.0 MiB"
    assert 100 * MIB < end.usage["peak_rss_bytes"] < 200 * MIB


def test_the_whole_tree_counts_and_goes(bench: LocalBench) -> None:
    code = """
        import os, time
        for _ in range(2):
            if os.fork() == 0:
                block = b"x" * (60 * 2**20)
                time.sleep(60)
        report(n=1)
        time.sleep(60)
    """
    end = bench.end_of(bench.job("one", code, instance_type="local.1cpu.100mib"))
    assert end.cause is Cause.OUT_OF_MEMORY
    assert end.billable_s < 30.0  # not the minute that it would sleep


def test_pages_that_processes_share_count_once(bench: LocalBench) -> None:
    code = """
        import os, time
        block = b"x" * (60 * 2**20)
        children = []
        for _ in range(3):
            pid = os.fork()
            if pid == 0:
                time.sleep(2.5)
                os._exit(0)
            children.append(pid)
        for pid in children:
            os.waitpid(pid, 0)
        report(n=1)
    """
    end = closed(bench.run(bench.job("one", code, instance_type="local.1cpu.100mib")), "one")
    assert end.outcome is Outcome.COMPLETED
    assert end.usage["peak_rss_bytes"] > 100 * MIB


def test_memory_of_this_process_is_read() -> None:
    block = bytearray(64 * MIB)
    for at in range(0, len(block), 4096):
        block[at] = 1
    used, peak = memory.resident_bytes([os.getpid()])
    proportional = memory.proportional_bytes([os.getpid()])
    assert 64 * MIB < used <= peak
    assert 64 * MIB < proportional <= used + MIB
    assert memory.resident_bytes([2**22 + 1]) == (0, 0)
    assert memory.machine_bytes() > used
    assert memory.kernel_kills() >= 0


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise RuntimeError('DataLoader worker (pid 7) is killed by signal: Killed.')", "what it had started was killed by the kernel"),
        ("import os\nos.kill(os.getpid(), 9)", "killed by the kernel"),
        ("raise KeyError('x')", ""),
    ],
)
def test_the_kernel_s_word_counts_for_what_a_script_had_started_too(
    bench: LocalBench, monkeypatch: pytest.MonkeyPatch, code: str, message: str
) -> None:
    before = memory.kernel_kills()
    monkeypatch.setattr(memory, "kernel_kills", lambda: before + 1)
    end = bench.end_of(bench.job("one", code))
    assert (end.cause is Cause.OUT_OF_MEMORY) == bool(message)
    assert end.message.startswith(message)


def test_without_the_kernel_s_word_a_killed_worker_is_an_error_of_the_script(bench: LocalBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "kernel_kills", lambda: 0)
    end = bench.end_of(bench.job("one", "raise RuntimeError('DataLoader worker (pid 7) is killed by signal: Killed.')"))
    assert end.cause is Cause.SCRIPT_ERROR


def test_the_kernel_takes_a_trial_before_its_controller(bench: LocalBench) -> None:
    # It may have begun before its controller could say so.
    code = """
        import time
        give_up_at = time.monotonic() + 90
        while (score := int(open("/proc/self/oom_score_adj").read())) < 800 and time.monotonic() < give_up_at:
            time.sleep(0.01)
        report(score=score)
    """
    (found,) = bench.metrics_of(bench.job("one", code, instance_type="local.1cpu"))
    assert found["score"] == 800 > int(Path("/proc/self/oom_score_adj").read_text(encoding="ascii"))
