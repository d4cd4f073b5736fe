"""Metrics in a script's own words and files arrive, of processes of their own and of forked ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.common.capped_log import LEFT_OUT
from backends.events import Reported
from backends.failures import Cause, Outcome
from definitions.file_source import FileSource
from definitions.metrics import MetricSources
from tests.backends.contract import closed, of_job
from tests.backends.local_bench import LocalBench
from tests.backends.metric_cases import CASES, LOSS, sorted_items

pytestmark = pytest.mark.slow


@pytest.fixture(params=["cold", "warm"])
def bench(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LocalBench]:
    (tmp_path / "heavy.py").write_text("import os\nBY = os.getpid()\n")
    bench = LocalBench(tmp_path, **({"preload": ("heavy",)} if request.param == "warm" else {}))
    yield bench
    assert bench.backend.close() == []


@pytest.mark.parametrize("name", CASES)
def test_reports_are_what_the_script_said(bench: LocalBench, name: str) -> None:
    case = CASES[name]
    job = bench.job("one", case.script, metrics=case.metrics, metric_files=case.files)
    assert repr(sorted_items(bench.metrics_of(job))) == repr(sorted_items(case.expected))


def test_a_report_in_a_file_can_be_acted_upon_while_the_job_runs(bench: LocalBench) -> None:
    code = 'import time\nopen("m.csv", "w").write("epoch,loss\\n1,0.5\\n")\ntime.sleep(60)\n'
    events = bench.begin(bench.job("one", code, metric_files=(FileSource("m.csv", "csv", "epoch", "epoch", wanted=("loss",)),)))
    assert events[-1].metrics == {"epoch": 1, "loss": 0.5}  # type: ignore[attr-defined]


def test_who_writes_nothing_is_told_which_file_is_missing(bench: LocalBench) -> None:
    end = bench.end_of(bench.job("one", "print('hello')", metric_files=(FileSource("logs/*/m.csv", "csv"),)))
    assert end.cause is Cause.NO_METRICS
    assert "; there is no logs/*/m.csv, which `read` names" in end.message


def test_a_file_of_an_earlier_run_in_the_source_is_not_taken_for_the_jobs(bench: LocalBench, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text('{"loss": 9}')
    job = bench.job("one", "print('hello')", working_dir=str(tmp_path), metric_files=(FileSource("metrics.json", "json"),))
    assert bench.end_of(job).cause is Cause.NO_METRICS


def test_a_script_that_is_killed_while_it_writes_tells_no_half_number(bench: LocalBench) -> None:
    code = "import os, signal\nopen('m.csv', 'w').write('epoch,loss\\n1,0.5\\n2,0.2')\nos.kill(os.getpid(), signal.SIGKILL)\n"
    assert bench.metrics_of(bench.job("one", code, metric_files=(FileSource("m.csv", "csv", "epoch"),))) == [{"epoch": 1, "loss": 0.5}]


def test_what_prepares_a_script_and_warms_it_up_is_not_taken_for_its_own(bench: LocalBench, tmp_path: Path) -> None:
    code = """
        import os
        number = len(os.listdir("runs")) if os.path.isdir("runs") else 0
        os.makedirs(f"runs/{number}")
        with open("m.csv", "a") as file:
            file.write("epoch,loss\\n" * (not number) + f"1,{number}\\n")
    """
    prepare = ("sh", "-c", "printf 'epoch,loss\\n1,99\\n' > m.csv")
    job = bench.job(
        "one", code, prepare=prepare, warmup_runs=2, is_measured_alone=True, metric_files=(FileSource("m.csv", "csv", "epoch", "epoch"),)
    )
    assert bench.metrics_of(job) == [{"epoch": 1, "loss": 2}]


def test_a_capped_log_loses_no_report_whatever_is_around_it(bench: LocalBench) -> None:
    code = "import sys\nfor n in range(200):\n    sys.stdout.write('x' * 5000 + f'\\nloss: {n}\\n')\n"
    job = bench.job("one", code, metrics=LOSS, log_cap_bytes=1 << 16)
    events = bench.run(job)
    assert [report.metrics["loss"] for report in of_job(events, "one", Reported)] == [*range(200)]
    log = bench.log(job).read_bytes()
    assert len(log) <= 1 << 16
    assert LEFT_OUT in log
    assert closed(events, "one").usage["left_out_log_bytes"] + len(log) > 1_000_000


def test_lines_that_take_too_long_are_counted_and_said(bench: LocalBench) -> None:
    code = "print('loss=0.5')\nprint('a=' * 400_000)\nprint('loss=0.25')\n"
    slow = MetricSources((("loss", r"loss=(\d\S*)"), ("b", r"\S+\s*\S+:?\s*\S*=(x)")))
    end = bench.end_of(bench.job("one", code, metrics=slow))
    assert end.outcome is Outcome.COMPLETED
    assert end.message == "metrics read in part: 1 lines took too long for the expression of 'b' and were searched in part"


def test_rows_that_cannot_be_read_are_counted_and_said(bench: LocalBench) -> None:
    code = "open('m.csv', 'w').write('a,b\\n1,2\\n1,2,3\\n')"
    end = bench.end_of(bench.job("one", code, metric_files=(FileSource("m.csv", "csv"),)))
    assert (end.outcome, end.message) == (Outcome.COMPLETED, "metrics read in part: 1 row of m.csv could not be read")
