"""Logs that are late, doubled, mixed, or full of what is no number: each report once, as it was sent, for the right trial."""

from __future__ import annotations

import math

import pytest

from backends.sagemaker.lifecycle.poll_intervals import PollIntervals
from definitions import strict_json
from tests.backends.fast_clock import FastClock
from tests.backends.sagemaker.cloud_lab import M5, CloudLab

pytestmark = pytest.mark.slow

SIXTY_LINES = """
import time
from outrider_report import report
for n in range(60):
    report(step=n + 1, loss=1 / (n + 1))
time.sleep(99)
"""


def reports(lab, name="tag"):
    path = next((lab.folder / "results" / name / "lab").glob("*/reports.csv"))
    return path.read_text().splitlines()[1:]


def test_the_last_38_lines_of_60_arrive_30_seconds_after_the_stop(tmp_path, monkeypatch):
    clock = FastClock(20.0)
    faults = [{"kind": "late_logs", "seconds": 30, "after_line": 22, "after_end": True}]
    with CloudLab(tmp_path, monkeypatch, faults=faults, clock=clock) as lab:
        # The script prints sixty lines and then waits to be stopped.
        (lab.source / "run.py").write_text(SIXTY_LINES)
        definition = lab.definition([{"x": 0.1}], budget={"max_wallclock_time": 60, "max_run": 9000}, block={"log_settle_s": 60})
        run = lab.run(definition, intervals=PollIntervals(3.0, 5.0, 60.0))
        trial = run.result.state.trials[0]
        assert (str(trial.status), str(trial.cause), trial.reports) == ("interrupted", "budget_spent", 60)
        assert trial.best["loss"] == pytest.approx(1 / 60)
        assert len(reports(lab)) == 60
        (ended,) = (record.at for record in run.records if record.kind == "ended")
        late = [record for record in run.records if record.kind == "reported" and record.at > ended]
        assert len(late) == 38
        # Its slot was free when it had stopped, not when its log had come.
        (closed,) = (record.at for record in run.records if record.kind == "closed")
        assert closed - ended >= 25


def test_doubled_lines_reordered_pages_and_names_that_begin_alike(tmp_path, monkeypatch):
    """Twelve trials (so x-1 and x-11), two nodes that print the same, each line twice and out of order."""
    faults = [{"kind": "repeated_logs", "probability": 0.5}, {"kind": "reordered_logs", "seconds": 1.0}]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        arguments = {"instance_type": M5, "instance_count": 2, "steps": 5, "pause": 0.1}
        run = lab.run(lab.definition([{"x": float(n)} for n in range(12)], arguments=arguments, n_workers=12))
        assert run.statuses == ["completed"] * 12
        assert [trial.reports for trial in run.result.state.trials.values()] == [5] * 12
        known = [body for body in run.of("reported") if "step" in body["metrics"]]
        # On a busy machine a line can come later than any before it; what it belongs to then has no level, never another's.
        assert len(known) >= 0.75 * len([*run.of("reported")])
        for body in known:
            trial = int(body["job"].rsplit("-t", 1)[1].split("-")[0])
            assert body["metrics"]["loss"] == pytest.approx(trial + 1 / body["metrics"]["step"])
        assert len(reports(lab)) == 60


def test_what_is_no_number_is_kept_as_it_is_and_never_decides(tmp_path, monkeypatch):
    script = """
import json, sys
x = float(dict(word.split("=", 1) for word in sys.argv[1:])["--x"])
for step, value in enumerate([1.0, float("nan"), float("inf"), "1e-05", 12.34, None, x], 1):
    print("[tune-metric]: " + json.dumps({"step": step, "loss": value, "st_worker_iter": step - 1}), flush=True)
"""
    with CloudLab(tmp_path, monkeypatch, script=script) as lab:
        definition = lab.definition(
            space={"x": {"choice": [0.25, 0.5]}},
            fidelity={"kind": "progressive", "argument": "steps", "reported_as": "step", "full": 7},
            budget={"max_num_trials": 2, "max_run": 240},
        )
        run = lab.run(definition, method="ASHA")
        assert set(run.statuses) <= {"completed", "stopped"}
        by_job = {}
        for body in run.of("reported"):
            by_job.setdefault(body["job"], []).append(body["metrics"]["loss"])
        for values in by_job.values():
            assert values[0] == 1.0
            assert math.isnan(values[1])
            assert values[2:6] == [math.inf, "1e-05", 12.34, None]
        assert [trial.best["loss"] for trial in run.result.state.trials.values()] == [1e-05, 1e-05]
        for record in run.records:
            strict_json.loads(strict_json.dumps(record.body))
        for path in (lab.folder / "results").rglob("*.json"):
            strict_json.loads(path.read_text())
        told = [body["level"] for body in run.of("tell") if body["call"] == "result"]
        assert told
        assert not set(told) & {2, 3, 6}


PRINTS = """
import sys, time
given = dict(word.split("=", 1) for word in sys.argv[1:])
for step in range(1, 7):
    # The service knows times in milliseconds.
    print("Step", step, flush=True)
    time.sleep(0.01)
    print("loss:", float(given["--x"]) + 1 / step, flush=True)
    time.sleep(0.15)
"""
METRICS = {"step": r"Step (\d+)", "loss": r"loss: (\S+)"}


def test_lines_of_levels_that_come_out_of_order_are_counted_to_their_own_level(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, faults=[{"kind": "reordered_logs", "seconds": 1.0}]) as lab:
        (lab.source / "run.py").write_text(PRINTS)
        fidelity = {"kind": "progressive", "argument": "steps", "reported_as": "step", "full": 6}
        run = lab.run(lab.definition([{"x": float(n)} for n in range(6)], metrics=METRICS, fidelity=fidelity, n_workers=6))
        assert run.statuses == ["completed"] * 6
        known = [body for body in run.of("reported") if "step" in body["metrics"]]
        # On a busy machine a line can come later than any before it; what it belongs to then has no level, never another's.
        assert len(known) >= 0.75 * len([*run.of("reported")])
        for body in known:
            trial = int(body["job"].rsplit("-t", 1)[1].split("-")[0])
            assert body["metrics"]["loss"] == pytest.approx(trial + 1 / body["metrics"]["step"])
        assert sorted({body["metrics"]["step"] for body in known}) == [1, 2, 3, 4, 5, 6]
        assert [trial.best["loss"] for trial in run.result.state.trials.values()] == pytest.approx([n + 1 / 6 for n in range(6)])
