"""Commands in place of a script: launchers, modules, files of arguments, what runs before and after."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from backends.events import Closed, Reported
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.local.backend import LocalBackend

pytestmark = pytest.mark.slow

REPORT = "from outrider_report import report\n"


def events_of(tmp_path: Path, *jobs: JobSpec, **options) -> list:
    backend = LocalBackend(tmp_path / "experiment", leases_dir=tmp_path / "leases", **options)
    found = []
    try:
        for job in jobs:
            backend.submit(job)
            while not (found and isinstance(found[-1], Closed) and found[-1].job == job.name):
                found += backend.wait(30.0)
    finally:
        backend.close()
    return found


def job(source: Path, *command: str, name: str = "one", **more) -> JobSpec:
    return JobSpec(name, 0, 1, "", command=command, source_dir=str(source), instance_type="local.1cpu", **more)


def reported(events) -> list[dict]:
    return [dict(event.metrics) for event in events if isinstance(event, Reported)]


@pytest.fixture
def source(tmp_path):
    package = tmp_path / "source" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "model.py").write_text("def f(x): return x + 1\n")
    (package / "train.py").write_text(
        REPORT + "import sys\nfrom .model import f\nreport(y=f(int(sys.argv[1])), path=sys.path[0], argv=sys.argv[0], name=__name__, "
        "package=__package__)\n"
    )
    return package.parent


def test_a_module_is_run_forked_as_it_is_cold(tmp_path, source, caplog):
    one = job(source, "${python}", "-m", "pkg.train", "3")
    cold = reported(events_of(tmp_path / "cold", one))
    warm = reported(events_of(tmp_path / "warm", one, dataclasses.replace(one, name="two"), preload=("json",)))
    assert [one | {"path": ""} for one in cold] * 2 == [one | {"path": ""} for one in warm]
    assert (cold[0]["y"], cold[0]["argv"], cold[0]["package"]) == (4, str(source / "pkg" / "train.py"), "pkg")
    assert [Path(one["path"]).name for one in [*cold, *warm]] == ["one", "one", "two"]
    assert caplog.records == []


def test_what_cannot_be_forked_is_said(tmp_path, source, caplog):
    (source / "run.sh").write_text(f"exec {sys.executable} -m pkg.train $1\n")
    events = events_of(tmp_path, job(source, "sh", "${source}/run.sh", "4"), preload=("json",))
    assert reported(events)[0]["y"] == 5
    assert "sh is no Python script or module that could be forked" in caplog.text


def test_a_file_of_arguments_and_places(tmp_path, source):
    there = "[os.path.isdir(path) for path in sys.argv[2:4]]"
    code = f"{REPORT}import json, os, sys\nreport(read=json.load(open(sys.argv[1])), there={there}, w=sys.argv[4])\n"
    (source / "t.py").write_text(code)
    files = {"arguments.json": json.dumps({"lr": 0.5})}
    one = job(source, "${python}", "${source}/t.py", "${arguments_file}", "${output}", "${model}", "$${x}", files=files)
    assert reported(events_of(tmp_path, one)) == [{"read": {"lr": 0.5}, "there": [True, True], "w": "${x}"}]


def test_the_source_may_be_the_working_directory(tmp_path, source):
    (source / "scale.txt").write_text("2")
    (source / "t.py").write_text(REPORT + "report(scale=open('scale.txt').read())\n")
    events = events_of(tmp_path, job(source, "${python}", "t.py", working_dir=str(source)))
    assert reported(events) == [{"scale": "2"}]
    assert not (source / "process.json").exists()


def test_a_silent_program_is_completed_where_nothing_has_to_be_reported(tmp_path, source):
    silent = events_of(tmp_path / "a", job(source, "true", is_silent=True))[-1]
    assert (silent.outcome, silent.cause) == (Outcome.COMPLETED, None)
    assert events_of(tmp_path / "b", job(source, "true"))[-1].cause is Cause.NO_METRICS
    assert events_of(tmp_path / "c", job(source, "false", is_silent=True))[-1].outcome is Outcome.FAILED


def test_only_the_script_is_measured(tmp_path, source):
    script = "date +%s.%N >> ${source}/runs; echo '[tune-metric]: {\"n\": 1}'; sleep 0.1"
    one = job(
        source,
        "sh",
        "-c",
        script,
        prepare=("sleep", "0.4"),
        cleanup=("sh", "-c", "date +%s.%N > cleaned"),
        warmup_runs=2,
        is_measured_alone=True,
    )
    events = events_of(tmp_path, one)
    began = [float(line) for line in (source / "runs").read_text().splitlines()]
    assert (reported(events), len(began)) == ([{"n": 1}], 3)
    measured = events[-1].usage["measured"]
    cleaned = float((tmp_path / "experiment" / "jobs" / "one" / "cleaned").read_text())
    # Not what came before the last warm-up run, nor what came after the script.
    assert 0.1 <= measured["duration_s"] < cleaned - began[1]
    assert 0 < measured["peak_rss_bytes"] < 40e6


def test_where_preparing_fails_nothing_is_measured_and_it_is_cleaned_up(tmp_path, source):
    one = job(source, "sh", "-c", "echo ran", prepare=("false",), cleanup=("sh", "-c", "echo done > cleaned"), is_measured_alone=True)
    end = events_of(tmp_path, one)[-1]
    assert (end.outcome, "prepare ended with exit code 1: false" in "\n".join(end.log_tail)) == (Outcome.FAILED, True)
    assert (tmp_path / "experiment" / "jobs" / "one" / "cleaned").exists()
