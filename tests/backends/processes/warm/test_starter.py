"""Which jobs are started warm and which cold, and what a worker's end means for those that come."""

from __future__ import annotations

import dataclasses
import logging
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from backends.backend_context import BackendContext
from backends.common.child_process import allowed_cores
from backends.events import Accepted, Reported, Started
from backends.failures import Cause, Outcome
from backends.local.backend import LocalBackend
from backends.processes.warm.starter import JobStarter
from definitions.schema import BenchmarkDefinition
from tests.backends.contract import all_closed, check_order, closed, collect, of_job
from tests.backends.local_bench import LocalBench, alive
from tests.backends.processes.warm.warm_bench import HEAVY, worker_of

pytestmark = pytest.mark.slow


def test_the_stopped_before_the_worker_is_ready_never_start(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text("import time\ntime.sleep(1.0)\n")
    bench = LocalBench(tmp_path, preload=("heavy",))
    jobs = [bench.job(name, "report(n=1)\n", instance_type="local.1cpu") for name in ("one", "two")]
    bench.backend.submit(jobs[0])
    bench.backend.stop("one", Cause.BUDGET)
    events = collect(bench.backend, all_closed("one"))
    end = closed(events, "one")
    assert (end.outcome, end.cause, end.started_at) == (Outcome.STOPPED, Cause.BUDGET, None)
    bench.backend.submit(jobs[1])
    collect(bench.backend, all_closed("two"), into=events)
    check_order(events)
    assert closed(events, "two").outcome is Outcome.COMPLETED
    assert of_job(events, "one", Started) == []
    assert bench.backend.close() == []


def test_close_ends_a_worker_in_the_midst_of_an_import(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text("import time\ntime.sleep(60)\n")
    bench = LocalBench(tmp_path, preload=("heavy",))
    bench.backend.submit(bench.job("one", "report(n=1)\n"))
    worker = worker_of(bench)
    before = time.monotonic()
    assert bench.backend.close() == []
    assert time.monotonic() - before < 30.0  # not the minute of the import
    assert not alive(worker)


@pytest.mark.parametrize(
    ("preloaded", "reason"),
    [
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
            "importing heavy started 1 thread, which",
        ),
        ("import subprocess\nheld = subprocess.Popen(['sleep', '0.5'])\n", "importing heavy started a process"),
        ("held = open(__file__)\n", "heavy.py open, which jobs would share"),
        ("import socket\nheld = socket.socket()\n", "open, which jobs would share"),
        ("import left_pad\n", "heavy cannot be imported: ModuleNotFoundError: No module named 'left_pad'"),
        ("raise SystemExit(5)\n", "heavy cannot be imported: SystemExit: 5"),
        ("import os\nos._exit(7)\n", "the warm worker cannot be used: it ended with exit code 7"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "it was ended by signal SIGSEGV"),
    ],
)
def test_what_cannot_be_forked_safely_runs_cold_and_says_why_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, preloaded: str, reason: str
) -> None:
    (tmp_path / "heavy.py").write_text(preloaded)
    bench = LocalBench(tmp_path, preload=("heavy",))
    with caplog.at_level(logging.WARNING):
        assert [bench.metrics_of(bench.job(f"j{n}", "report(n=1)\n")) for n in range(2)] == [[{"n": 1}]] * 2
    (said,) = [record.getMessage() for record in caplog.records]
    assert reason in said
    assert "starts cold" in said
    assert bench.backend.close() == []


def test_a_worker_that_takes_too_long_is_given_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "heavy.py").write_text("import time\ntime.sleep(60)\n")
    bench = LocalBench(tmp_path, preload=("heavy",))
    bench.backend._runner._starter._import_timeout_s = 0.3
    assert bench.metrics_of(bench.job("one", "report(n=1)\n")) == [{"n": 1}]
    assert "the imports of heavy were not done after 0.3 s" in caplog.text
    assert bench.backend.close() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_dies_or_hangs_is_said_once_and_jobs_go_on_cold(
    bench: LocalBench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    code = "import heavy, os\nreport(own=heavy.BY == os.getpid())\n"
    assert bench.metrics_of(bench.job("warm", code)) == [{"own": False}]
    worker = bench.backend._runner._starter._worker
    assert worker is not None
    bench.backend._runner._starter._answer_timeout_s = 0.3
    os.killpg(worker.pid, number)
    assert [bench.metrics_of(bench.job(f"cold{n}", code)) for n in range(2)] == [[{"own": True}]] * 2
    (said,) = [record.getMessage() for record in caplog.records]
    assert "cannot be used any more" in said
    assert not alive(worker.pid)


def test_a_job_that_is_unlike_the_first_runs_cold_and_the_others_stay_warm(bench: LocalBench, caplog: pytest.LogCaptureFixture) -> None:
    code = "import heavy, os\nreport(own=heavy.BY == os.getpid())\n"
    shell = bench.folder / "train.sh"
    shell.write_text("#!/bin/sh\necho '[tune-metric]: {\"own\": 0}'\n")
    shell.chmod(0o755)
    (bench.folder / "other").mkdir()
    (bench.folder / "other" / "elsewhere.py").write_text("from outrider_report import report\nreport(own=2)\n")
    first = bench.job("first", code)
    jobs = {
        "train.sh is no Python script": dataclasses.replace(first, name="shell", script=str(shell)),
        "TOKENIZER has another value": bench.job("variable", code, environment={"TOKENIZER": "1"}),
        "lies in another folder": dataclasses.replace(first, name="folder", script=str(bench.folder / "other" / "elsewhere.py")),
        "OMP_PROC_BIND ties threads": bench.job("pinned", code, environment={"OMP_PROC_BIND": "true"}),
    }
    assert bench.metrics_of(first) == [{"own": False}]
    assert [bench.metrics_of(job)[0]["own"] for job in jobs.values()] == [0, True, 2, True]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == len(jobs)
    for reason, message in zip(jobs, said, strict=True):
        assert reason in message
    assert bench.metrics_of(bench.job("last", code)) == [{"own": False}]


@pytest.mark.parametrize(
    ("name", "why"),
    [("struct", ""), ("_socket", "has a module '_socket' of its own")],
    ids=["which no worker loads", "which a worker loads itself"],
)
def test_a_module_of_the_scripts_folder_that_hides_a_standard_one_is_respected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, why: str
) -> None:
    (tmp_path / f"{name}.py").write_text("MINE = True\n")
    bench = LocalBench(tmp_path, preload=("sys",))
    assert bench.metrics_of(bench.job("one", f"import {name}\nreport(mine=getattr({name}, 'MINE', False))\n")) == [{"mine": True}]
    assert (why in caplog.text) if why else caplog.text == ""
    assert bench.backend.close() == []


def test_where_there_is_no_linux_jobs_start_cold(
    bench: LocalBench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "darwin")
        starter = JobStarter(
            ("heavy",),
            python="",
            token="",
            folder=bench.folder,
            reactor=None,
            now=time.time,
            served=print,
            claim=print,
            note=print,  # type: ignore[arg-type]
        )
    assert starter._given_up
    assert "needs Linux" in caplog.text


def test_the_modules_are_the_definitions(tmp_path: Path) -> None:
    definition = BenchmarkDefinition(name="b", script="t.py", trials=({"x": 1},), objectives={"loss": "min"}, preload=("decimal",))
    environ = {"PATH": "/usr/bin:/bin", "OUTRIDER_LEASES": str(tmp_path / "leases")}
    backend = LocalBackend.create(BackendContext(definition, tmp_path / "e", environ=environ))
    assert backend._runner._starter._preload == ("decimal",)
    assert backend.close() == []


def test_the_controller_does_not_wait_for_a_fork(bench: LocalBench) -> None:
    code = "import heavy, os\nreport(own=heavy.BY == os.getpid())\n"
    assert bench.metrics_of(bench.job("first", code)) == [{"own": False}]
    worker = worker_of(bench)
    # A worker that is held cannot answer, so that whoever waited for it would not return.
    os.killpg(worker, signal.SIGSTOP)
    bench.backend.submit(bench.job("one", code))
    assert [type(event) for event in bench.backend.wait(0.1)] == [Accepted]
    os.killpg(worker, signal.SIGCONT)
    events = collect(bench.backend, all_closed("one"))
    assert closed(events, "one").outcome is Outcome.COMPLETED
    assert [event.metrics for event in of_job(events, "one", Reported)] == [{"own": False}]


def test_a_job_that_is_stopped_while_it_is_being_forked_ends_stopped(bench: LocalBench) -> None:
    bench.metrics_of(bench.job("first", "report(n=1)\n"))
    worker = worker_of(bench)
    os.killpg(worker, signal.SIGSTOP)
    bench.backend.submit(bench.job("one", "import time\ntime.sleep(60)\n"))
    bench.backend.stop("one", Cause.SCHEDULER)
    bench.backend.stop("one", Cause.BUDGET)
    os.killpg(worker, signal.SIGCONT)
    events = collect(bench.backend, all_closed("one"))
    check_order([*events])
    assert (closed(events, "one").outcome, closed(events, "one").cause) == (Outcome.STOPPED, Cause.SCHEDULER)
    assert bench.metrics_of(bench.job("next", "report(n=2)\n")) == [{"n": 2}]


def test_jobs_that_were_asked_for_and_not_told_of_run_once_when_the_worker_dies(bench: LocalBench) -> None:
    count = min(2, len(allowed_cores()))
    bench.metrics_of(bench.job("first", "report(n=1)\n"))
    worker = worker_of(bench)
    os.killpg(worker, signal.SIGSTOP)
    names = [f"j{number}" for number in range(count)]
    for name in names:
        bench.backend.submit(bench.job(name, f"open('{bench.folder}/ran-{name}', 'a').write('x')\nreport(n=1)\n"))
    os.killpg(worker, signal.SIGKILL)
    events = collect(bench.backend, all_closed(*names))
    assert [closed(events, name).outcome for name in names] == [Outcome.COMPLETED] * count
    assert [(bench.folder / f"ran-{name}").read_text() for name in names] == ["x"] * count


def test_closing_ends_a_job_that_is_being_forked(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text(HEAVY)
    bench = LocalBench(tmp_path, preload=("heavy",))
    bench.metrics_of(bench.job("first", "report(n=1)\n"))
    worker = worker_of(bench)
    bench.backend._runner._starter._answer_timeout_s = 0.3
    os.killpg(worker, signal.SIGSTOP)
    bench.backend.submit(bench.job("one", "import time\ntime.sleep(60)\n"))
    assert bench.backend.close() == []
    assert not alive(worker)
