"""Metrics in a script's own words and files arrive from training jobs, all at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.common.capped_log import LEFT_OUT
from backends.events import Closed, Event, Reported
from backends.failures import Cause, Outcome
from definitions.file_source import FileSource
from tests.backends.contract import all_closed, check_order, closed, collect, of_job
from tests.backends.metric_cases import CASES, LOSS, sorted_items
from tests.backends.sagemaker.cloud_bench import SPEED, CloudBench

pytestmark = pytest.mark.slow

RUN = "import os, runpy, sys\nrunpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.argv[2]))\n"
MISSING, TALKS = "missing", "talks"


def name_of(case: str) -> str:
    return f"case-{[*CASES].index(case)}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cloud")


@pytest.fixture(scope="module")
def events(folder: Path) -> Iterator[list[Event]]:
    """Return the events of one job for each case, of one whose file is missing, and of one that talks more than its log may hold."""
    with pytest.MonkeyPatch.context() as patched, CloudBench(folder) as bench:
        for name, value in bench.emulator.environment.items():
            patched.setenv(name, value)
        # Lines without our marks are asked for where the definition says so.
        bench.definition = bench.definition.model_copy(update={"metrics": {"unused": "unused=(.*)"}})
        (bench.source / "run.py").write_text(RUN)
        # Of an earlier run, in the folder that travels.
        (bench.source / "log.jsonl").write_text('{"epoch": 7, "loss": 7}\n')
        jobs = []
        for case in CASES:
            (bench.source / f"{name_of(case)}.py").write_text(CASES[case].script)
            arguments = ("--case", f"{name_of(case)}.py")
            jobs.append(bench.job("", name_of(case), arguments=arguments, metrics=CASES[case].metrics, metric_files=CASES[case].files))
        (bench.source / "quiet.py").write_text("print('hello')")
        files = (FileSource("logs/*/m.csv", "csv"),)
        jobs.append(bench.job("", MISSING, arguments=("--case", "quiet.py"), metric_files=files))
        (bench.source / "talks.py").write_text("for n in range(300):\n    print('x' * 1000)\n    print('loss:', n, flush=True)\n")
        jobs.append(bench.job("", TALKS, arguments=("--case", "talks.py"), metrics=LOSS, log_cap_bytes=1 << 16))
        backend = bench.backend(logs_folder=bench.folder / "logs")
        for job in jobs:
            backend.submit(job)
        found = collect(backend, all_closed(*(job.name for job in jobs)), 60.0 * SPEED)
        check_order(found)
        backend.close()
        yield found


@pytest.mark.parametrize("case", CASES)
def test_reports_are_what_the_script_said(events: list[Event], case: str) -> None:
    found = [report.metrics for report in of_job(events, name_of(case), Reported)]
    assert repr(sorted_items(found)) == repr(sorted_items(CASES[case].expected))
    assert closed(events, name_of(case)).outcome is Outcome.COMPLETED


def test_who_writes_nothing_is_told_which_file_is_missing(events: list[Event]) -> None:
    end: Closed = closed(events, MISSING)
    assert end.cause is Cause.NO_METRICS
    assert "there is no logs/*/m.csv, which `read` names" in end.message


def test_a_capped_log_loses_no_report_whatever_is_around_it(events: list[Event], folder: Path) -> None:
    assert [report.metrics["loss"] for report in of_job(events, TALKS, Reported)] == [*range(300)]
    log = (folder / "logs" / f"{TALKS}.log").read_bytes()
    assert len(log) <= 1 << 16
    assert LEFT_OUT in log
