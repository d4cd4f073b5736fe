"""A study is launched, its machine closed, its controller killed for good; another machine goes on with it, collects it and reports it."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

from benchmarking.report.text import dollars
from tests.launch.remote.launch_lab import BUCKET, LaunchLab

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TAG = "study"


def test_its_report_has_both_generations_in_the_time_line_and_what_they_cost(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        (first,) = lab.launch(TAG, "--remote_restarts", "0", "--n_workers", "1", "--set", "pause=2", methods=("RS",), seeds=1)
        # Nothing of the machine that launched it is needed any more: neither its results nor its source.
        shutil.rmtree(tmp_path / "results", ignore_errors=True)
        shutil.rmtree(tmp_path / "source")
        lab.await_that(lambda: lab.child(first) is not None and lab.kinds_written(TAG, set()) >= {"start"}, "a trial has begun", 900.0)
        pid = lab.child(first)
        assert pid is not None
        lab.send(pid, signal.SIGKILL)
        lab.await_that(lambda: lab.described(first)["TrainingJobStatus"] == "Failed", "its job fails", 900.0)
        elsewhere = ("--results_dir", str(tmp_path / "elsewhere"))
        done = lab.outrider(
            "launch", "--resume", TAG, "--remote_bucket", BUCKET, "--remote_region", "us-east-1", *elsewhere, timeout_s=900.0
        )
        assert done.returncode == 0, done.stderr
        lab.await_end(900.0)
        found = lab.finished(TAG)
        assert {one[1:] for trials in found.trials.values() for one in trials.values()} == {("completed", 1)}
        lab.same_bill(TAG, found)
        for words in (("collect", TAG, "--bucket", BUCKET, "--region", "us-east-1", *elsewhere), ("report", TAG, *elsewhere)):
            done = lab.outrider(*words, timeout_s=900.0)
            assert done.returncode == 0, done.stderr
        folder = tmp_path / "elsewhere" / TAG
        known = json.loads((folder / "controllers.json").read_text(encoding="utf-8"))["generations"]
        assert [(one["generation"], one["job"]) for one in known] == [(1, first), (2, first.replace("-g1", "-g2"))]
        assert sum(one["usd"] for one in known) == pytest.approx(found.controllers_usd, abs=1e-9)
        page = (folder / "report.html").read_text(encoding="utf-8")
        for one in known:
            assert f"generation {one['generation']}, {one['job']}: {dollars(one['usd'])}" in page
        assert f"together {dollars(found.controllers_usd)} emulated, beside what trials cost" in page
