"""Controllers and services that die: jobs are found again by name, none is made twice, none is forgotten."""

from __future__ import annotations

import csv
import dataclasses
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from backends.failures import Cause
from backends.sagemaker.aws.clients import Clients
from benchmarking.controller.retry_policy import RETRY_RULES
from tests.backends.fast_clock import FastClock
from tests.backends.sagemaker.cloud_lab import CloudLab

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


class Killed(BaseException):
    """The controller dies here."""


def trials(count, **fields):
    return [{"x": n / 100, "steps": 3, "pause": 0.3, **fields} for n in range(count)]


def test_the_emulator_is_started_again_in_mid_run(tmp_path, monkeypatch):
    """All that ran is lost with an internal error and is run again; what was done stays done; nobody hears a connection error."""
    monkeypatch.setitem(RETRY_RULES, Cause.SERVICE_ERROR, dataclasses.replace(RETRY_RULES[Cause.SERVICE_ERROR], backoff_s=0.2))
    with CloudLab(tmp_path, monkeypatch) as lab:
        again = []

        def watch(record, state, backend):
            if not again and state.finished >= 2 and sum(job.started for job in state.jobs.values()) >= 2:
                again.append(record.at)
                lab.stop()
                lab.start()

        # Short and long ones in turn: when two are done others are in the middle of their work, and not just not heard of yet.
        uneven = [{**trial, "steps": 2 if n % 2 else 12} for n, trial in enumerate(trials(8))]
        run = lab.run(lab.definition(uneven, n_workers=4), watch=watch)
        assert again
        assert run.statuses == ["completed"] * 8
        assert run.result.state.counted_failures == 0
        causes = [body["cause"] for body in run.of("closed") if body["cause"]]
        assert causes
        assert set(causes) == {"service_error"}
        assert len(lab.jobs()) == 8 + len(causes)


class Slow(Clients):
    """Clients that hold back the answer to one creation."""

    def __init__(self, environ, number):
        super().__init__("us-east-1", environ)
        self.left, self.created, self.answer = number, threading.Event(), threading.Event()

    def make(self, service, attempts, region):
        client = super().make(service, attempts, region)
        client.meta.events.register("after-call.sagemaker.CreateTrainingJob", self._hold)
        return client

    def _hold(self, **_):
        self.left -= 1
        if self.left == 0:
            self.created.set()
            self.answer.wait(10)


def test_killed_between_a_creation_and_its_answer(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch) as lab:
        definition = lab.definition(trials(6, steps=5), n_workers=4)
        clients = Slow(lab.emulator.environment, 3)

        def die(record, state, backend):
            if clients.created.is_set():
                backend.close = lambda grace_s=None: []
                raise Killed

        with pytest.raises(Killed):
            lab.run(definition, clients=clients, watch=die)
        clients.answer.set()
        run = lab.run(definition)
        assert run.statuses == ["completed"] * 6
        assert [trial.submissions for trial in run.result.state.trials.values()] == [1] * 6
        assert [trial.reports for trial in run.result.state.trials.values()] == [5] * 6
        assert len(lab.jobs()) == 6


def test_killed_before_a_creation(tmp_path, monkeypatch):
    """The intent is in the journal and the job is not there: it is made by the next controller, under the same name."""
    with CloudLab(tmp_path, monkeypatch) as lab:
        definition = lab.definition(trials(3), n_workers=2)

        def die(record, state, backend):
            if record.kind == "start" and record.body["trial"] == 1:
                backend.close = lambda grace_s=None: []
                raise Killed

        with pytest.raises(Killed):
            lab.run(definition, watch=die)
        run = lab.run(definition)
        assert run.statuses == ["completed"] * 3
        assert [trial.submissions for trial in run.result.state.trials.values()] == [1] * 3
        assert len(lab.jobs()) == 3


def test_killed_after_an_order_to_stop(tmp_path, monkeypatch):
    """The order is in the journal and was never given: the next controller gives it."""
    with CloudLab(tmp_path, monkeypatch) as lab:
        definition = lab.definition(trials(2, steps=300), budget={"max_wallclock_time": 8, "max_run": 2400})

        def die(record, state, backend):
            if record.kind == "stop":
                backend.close = lambda grace_s=None: []
                raise Killed

        with pytest.raises(Killed):
            lab.run(definition, watch=die, check=False)
        assert len(lab.running()) == 2
        run = lab.run(definition)
        assert run.causes == ["budget_spent"] * 2
        assert [job["TrainingJobStatus"] for job in lab.jobs()] == ["Stopped"] * 2


DEFINITION = """
name: forty
script: run.py
arguments: {instance_type: ml.m5.large, steps: 3, pause: 0.8}
space: {x: {uniform: [0, 1]}}
objectives: {loss: min}
n_workers: 8
budget: {max_num_trials: 40, max_run: 120, max_failures: 0}
sagemaker: {image: "image:1", bucket: bench}
"""


def test_reports_by_expression_come_once_each_however_often_the_controller_is_killed(tmp_path, monkeypatch):
    rng = random.Random(3)
    with CloudLab(tmp_path, monkeypatch, faults=[{"kind": "reordered_logs", "seconds": 1.0}], clock=FastClock(1.0)) as lab:
        (lab.source / "run.py").write_text("import time\nfor n in range(8):\n    print('loss:', n % 3, flush=True)\n    time.sleep(0.5)\n")
        (lab.source / "d.yaml").write_text(
            "name: d\nscript: run.py\nobjectives: {loss: min}\nmetrics: {loss: 'loss: (.*)'}\nn_workers: 4\nbudget: {max_run: 120}\n"
            "trials: [{x: 1}, {x: 2}, {x: 3}, {x: 4}]\narguments: {instance_type: ml.m5.large}\n"
            "sagemaker: {image: 'image:1', bucket: bench}\n"
        )
        command = [sys.executable, str(ROOT / "hpo_main.py"), "--backend", "sagemaker", "--experiment_tag", "d"]
        command += ["--benchmark", str(lab.source / "d.yaml"), "--results_dir", str(tmp_path / "results")]
        environment = {**os.environ, **lab.emulator.environment}
        for wait_s in [*(rng.uniform(2.0, 3.0) for _ in range(3)), 100.0]:
            process = subprocess.Popen(command, env=environment, cwd=lab.source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(wait_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        assert process.returncode == 0
        (path,) = (tmp_path / "results" / "d" / "d").glob("*/reports.csv")
        found: dict[str, list[str]] = {}
        for row in csv.DictReader(path.open()):
            found.setdefault(row["trial"], []).append(row["loss"])
        assert {trial: sorted(losses) for trial, losses in found.items()} == {
            str(n): ["0", "0", "0", "1", "1", "1", "2", "2"] for n in range(4)
        }


def test_kill_9_at_ten_random_moments_of_forty_trials(tmp_path, monkeypatch):
    rng = random.Random(7)
    with CloudLab(tmp_path, monkeypatch, clock=FastClock(1.0)) as lab:
        (lab.source / "forty.yaml").write_text(DEFINITION)
        command = [sys.executable, str(ROOT / "hpo_main.py"), "--backend", "sagemaker", "--method", "RS", "--experiment_tag", "forty"]
        command += ["--benchmark", str(lab.source / "forty.yaml"), "--results_dir", str(tmp_path / "results")]
        environment = {**os.environ, **lab.emulator.environment}
        began = time.monotonic()
        kills = 0
        while True:
            with (tmp_path / f"err-{kills}").open("wb") as err:
                process = subprocess.Popen(command, env=environment, cwd=lab.source, stdout=subprocess.DEVNULL, stderr=err)
                try:
                    # Most of the first second goes by before its first call.
                    process.wait(rng.uniform(0.8, 2.5) if kills < 10 else 100)
                    break
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    kills += 1
                    assert kills <= 10, "the last one did not end"
        print(f"{kills} kills, {time.monotonic() - began:.1f} s")
        said = (tmp_path / f"err-{kills}").read_text()
        assert process.returncode == 0, said
        assert kills == 10
        (path,) = (tmp_path / "results" / "forty" / "forty").glob("*/trials.csv")
        rows = list(csv.DictReader(path.open()))
        assert [row["status"] for row in rows] == ["completed"] * 40
        assert len(lab.jobs()) == 40
        assert lab.running() == []
        assert len(path.with_name("reports.csv").read_text().splitlines()) == 1 + 40 * 3
        assert sum(float(row["cost_usd"]) for row in rows) == pytest.approx(lab.bill_usd(), abs=1e-6)
