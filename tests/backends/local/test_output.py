"""What jobs print arrives complete, in their log and as reports, whatever it is and however much."""

from __future__ import annotations

import math
import os
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.events import Closed, Ended, Reported
from backends.failures import Cause, Outcome
from tests.backends.contract import all_closed, closed, collect, has, of_job
from tests.backends.local_bench import LocalBench

pytestmark = pytest.mark.slow


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LocalBench]:
    bench = LocalBench(tmp_path)
    yield bench
    assert bench.backend.close() == []


def test_values_arrive_as_they_were_reported(bench: LocalBench) -> None:
    code = "for value in (1.0, float('nan'), float('inf'), '1e-05', 12.34, None):\n    report(loss=value)\n"
    values = [metrics["loss"] for metrics in bench.metrics_of(bench.job("one", code))]
    assert values[0] == 1.0
    assert math.isnan(values[1])
    assert values[2:] == [math.inf, "1e-05", 12.34, None]


def test_lines_of_a_plain_reporter_and_of_a_bare_print_are_reports(bench: LocalBench) -> None:
    code = """
        print('[tune-metric]: {"loss": 1.5, "st_worker_timestamp": 1.0, "st_worker_time": 0.5, "st_worker_iter": 0}')
        print('epoch 2 [tune-metric]: {"loss": 1.25} and so on')
    """
    events = bench.run(bench.job("one", code))
    reports = of_job(events, "one", Reported)
    assert [report.metrics for report in reports] == [{"loss": 1.5}, {"loss": 1.25}]
    assert [report.sequence for report in reports] == [0, 1]
    assert reports[0].elapsed_s == 0.5
    assert 0 <= reports[1].elapsed_s < 45.0


def test_the_log_is_complete_and_in_order(bench: LocalBench) -> None:
    code = """
        import sys
        for n in range(20000):
            print(n, file=sys.stderr if n % 3 == 0 else sys.stdout)
        report(done=1)
        sys.stdout.write("no end of line")
    """
    job = bench.job("one", code)
    assert bench.end_of(job).outcome is Outcome.COMPLETED
    lines = bench.log(job).read_text().splitlines()
    assert lines[:20000] == [str(n) for n in range(20000)]
    assert lines[20000].startswith("[tune-metric]: {")
    assert lines[20001].startswith("no end of line")


def test_a_talkative_job_starves_nobody(bench: LocalBench) -> None:
    # Up to ten thousand lines a second, each of them a report, next to jobs that want to start, report and end while it talks on.
    talker = """
        import os, sys, time
        n = 0
        while not os.path.exists(sys.argv[1]):
            began = time.monotonic()
            for n in range(n, n + 100):
                report(n=n)
            n += 1
            time.sleep(max(0.0, 0.01 - (time.monotonic() - began)))
    """
    enough = bench.folder / "enough"
    events = bench.begin(bench.job("talker", talker, str(enough)))
    for name in ("quiet-0", "quiet-1", "quiet-2"):
        bench.backend.submit(bench.job(name, "report(epoch=1)\n"))
        collect(bench.backend, all_closed(name), into=events)
    assert not of_job(events, "talker", Ended)
    enough.touch()
    collect(bench.backend, all_closed("talker"), into=events)
    said = [report.metrics["n"] for report in of_job(events, "talker", Reported)]
    assert len(said) >= 300
    assert said == [*range(len(said))]


def test_fifty_megabytes_in_one_line_neither_fill_the_memory_nor_end_the_job(bench: LocalBench) -> None:
    code = """
        import sys
        report(n=1)
        for _ in range(50):
            sys.stdout.write("x" * 2**20)
        sys.stdout.write("[tune-metric]: {\\"n\\": 99}\\n")
        report(n=2)
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    job = bench.job("one", code)
    events = bench.run(job)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 25 * 2**20
    assert [report.metrics["n"] for report in of_job(events, "one", Reported)] == [1, 2]
    assert closed(events, "one").usage["overlong_lines"] == 1
    assert bench.log(job).stat().st_size > 50 * 2**20


def test_a_full_disk_is_counted_and_ends_nothing(bench: LocalBench) -> None:
    (bench.folder / "experiment" / "logs" / "one.log").symlink_to("/dev/full")
    events = bench.run(bench.job("one", "print('x' * 99)\nreport(n=1)\n"))
    end = closed(events, "one")
    assert end.outcome is Outcome.COMPLETED
    assert end.usage["lost_log_bytes"] > 100


def test_a_report_in_a_last_line_that_was_never_ended_counts(bench: LocalBench) -> None:
    code = "import os\nos.write(1, b'[tune-metric]: {\"loss\": 0.5}')\nos._exit(0)\n"
    assert bench.metrics_of(bench.job("one", code)) == [{"loss": 0.5}]


def test_reports_until_the_last_moment_of_a_stopped_job_arrive(tmp_path: Path) -> None:
    bench = LocalBench(tmp_path, grace_s=45.0)
    code = """
        import signal, sys, time
        def last(*_):
            for n in range(2, 61):
                report(epoch=n)
            sys.exit(0)
        signal.signal(signal.SIGTERM, last)
        report(epoch=1)
        for _ in range(600):
            time.sleep(0.1)
    """
    events = bench.begin(bench.job("one", code))
    bench.backend.stop("one", Cause.SCHEDULER)
    collect(bench.backend, all_closed("one"), into=events)
    assert [report.metrics["epoch"] for report in of_job(events, "one", Reported)] == [*range(1, 61)]
    assert bench.backend.close() == []


def test_a_second_life_within_the_job_is_told_and_its_reports_are_not_taken_for_repeats(bench: LocalBench) -> None:
    train = bench.folder / "train.py"
    train.write_text("from outrider_report import report\nreport(epoch=1)\n")
    code = f"import subprocess, sys\nfor _ in range(2):\n    subprocess.run([sys.executable, {str(train)!r}], check=True)\n"
    events = bench.run(bench.job("one", code, checkpoint="1"))
    assert [report.incarnation for report in of_job(events, "one", Reported)] == [0, 1]
    kinds = [type(event).__name__ for event in events if event.job == "one"]
    assert kinds == ["Accepted", "Started", "Reported", "Restarted", "Reported", "Ended", "Closed"]


def test_a_pipe_held_open_by_a_stranger_does_not_keep_a_job_open(bench: LocalBench) -> None:
    # The job hands its output to a process that is not its own, over a socket.
    code = """
        import socket, sys
        report(n=1)
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(sys.argv[1])
            socket.send_fds(other, [b"x"], [1])
            other.recv(1)
    """
    path = str(bench.folder / "s")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        bench.backend.submit(bench.job("one", code, path))
        collect(bench.backend, has("one", Reported))
        connection, _ = server.accept()
        with connection:
            _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
            connection.send(b"y")
            before = time.monotonic()
            events = collect(bench.backend, has("one", Closed))
            assert time.monotonic() - before > 0.5
            assert closed(events, "one").outcome is Outcome.COMPLETED
    os.close(descriptors[0])


def test_the_end_tells_usage_and_the_last_lines(bench: LocalBench) -> None:
    code = """
        from outrider_report import phase, step
        with phase("load"):
            block = bytearray(64 * 2**20)
        for _ in range(3):
            step(samples=32)
        report(n=1)
        import time; time.sleep(0.4)
        for n in range(100):
            print("line", n)
    """
    end = bench.end_of(bench.job("one", code))
    assert (end.usage["steps"], end.usage["samples"]) == (3, 96)
    assert set(end.usage["phases_s"]) == {"startup", "load"}
    assert 64 * 2**20 < end.usage["peak_rss_bytes"] < 200 * 2**20
    assert end.usage["alien_lines"] == 0
    assert 0 < end.usage["cpu_s"] < 10.0
    assert len(end.log_tail) == 40
    assert end.log_tail[-2] == "line 99"
    assert end.log_tail[-1].startswith("[outrider-summary]: {")
