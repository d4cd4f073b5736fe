"""Runs whose state is in S3: killed with all their files, left by a signal, and frozen, they go on as if nothing had been."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarking.archive.stored import load
from definitions.errors import EXIT_DETACHED, EXIT_TAKEN_OVER
from tests.backends.fast_clock import FastClock
from tests.backends.sagemaker.cloud_lab import CloudLab
from tests.waiting import looks

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
URI = "s3://bench/outrider/runs/t"
DEFINITION = """
name: lab
script: run.py
arguments: {instance_type: ml.m5.large, steps: 4, pause: 0.6}
space: {x: {uniform: [0, 1]}}
objectives: {loss: min}
n_workers: 4
budget: {max_num_trials: 12, max_run: 120, max_failures: 0}
sagemaker: {image: "image:1", bucket: bench}
"""


class Controllers:
    """Commands that run the study on the emulator, each in a folder of its own, as each were on a machine of its own."""

    def __init__(self, lab, folder):
        self.lab, self.folder, self.count = lab, folder, 0
        (lab.source / "lab.yaml").write_text(DEFINITION)
        self.environ = {**os.environ, **lab.emulator.environment}

    def start(self, *words, same=False):
        """Start one, on a new machine unless it is to be the same."""
        self.count += not same
        command = [sys.executable, str(ROOT / "hpo_main.py"), "--backend", "sagemaker", "--experiment_tag", "t", "--launched_remotely", URI]
        command += ["--benchmark", str(self.lab.source / "lab.yaml"), "--results_dir", str(self.results()), *words]
        with (self.folder / f"err-{self.count}").open("ab") as err:
            return subprocess.Popen(command, env=self.environ, cwd=self.lab.source, stdout=subprocess.DEVNULL, stderr=err)

    def results(self):
        return self.folder / f"machine-{self.count}"

    def said(self):
        return (self.folder / f"err-{self.count}").read_text()

    def collect(self):
        """Collect the run, as from a laptop, and return what was said."""
        words = ["collect", "t", "--bucket", "bench", "--results_dir", str(self.folder / "collected")]
        done = subprocess.run([sys.executable, str(ROOT / "hpo_main.py"), *words], env=self.environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def check(self, experiments=1, trials=12):
        """Check that each trial was finished once, by one job, and what it cost, from what the store has."""
        states = []
        place = self.folder / "collected" / "t"
        self.collect()
        assert self.collect().endswith("experiments; nothing is new\n")  # twice is once
        for path in sorted(place.glob("*/*/experiment.json")):
            stored = load(path.parent)
            with stored.journal() as journal:
                states.append(stored.state(journal))
        assert len(states) == experiments
        for state in states:
            assert [str(trial.status) for trial in state.trials.values()] == ["completed"] * trials
            assert [trial.submissions for trial in state.trials.values()] == [1] * trials
            assert [trial.reports for trial in state.trials.values()] == [4] * trials
        assert len(self.lab.jobs()) == experiments * trials
        assert self.lab.running() == []
        assert sum(state.money.spent_usd for state in states) == pytest.approx(self.lab.bill_usd(), abs=1e-9)
        return place


@pytest.fixture
def controllers(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, clock=FastClock(1.0)) as lab:
        yield Controllers(lab, tmp_path)


def until(condition):
    assert any(condition() for _ in looks(100.0))


def some_jobs(lab, count):
    until(lambda: len(lab.listed()) >= count)


def test_killed_with_all_its_files_again_and_again_nothing_is_run_twice(controllers):
    rng = random.Random(5)
    for kills in range(6):
        one = controllers.start("--method", "RS")
        try:
            one.wait(rng.uniform(1.5, 3.5) if kills < 5 else 100)
            break
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()
            shutil.rmtree(controllers.results(), ignore_errors=True)
    assert one.returncode == 0, controllers.said()
    place = controllers.check()
    for name in ("trials.csv", "reports.csv", "result.json"):
        (theirs,) = controllers.results().glob(f"t/lab/*/{name}")
        (ours,) = place.glob(f"lab/*/{name}")
        assert ours.read_bytes() == theirs.read_bytes()


def test_left_by_a_signal_its_jobs_run_on_and_the_next_one_has_them(controllers):
    one = controllers.start("--method", "RS")
    some_jobs(controllers.lab, 4)
    one.send_signal(signal.SIGUSR1)
    assert one.wait(90) == EXIT_DETACHED, controllers.said()
    assert controllers.lab.running()
    assert not [job for job in controllers.lab.jobs() if job["TrainingJobStatus"] in ("Stopping", "Stopped")]
    assert controllers.start("--method", "RS").wait(100) == 0, controllers.said()
    controllers.check()


def test_frozen_until_its_successor_works_then_woken_it_ends_and_touches_nothing(controllers):
    one = controllers.start("--method", "RS")
    some_jobs(controllers.lab, 5)
    one.send_signal(signal.SIGSTOP)
    first = controllers.count
    other = controllers.start("--method", "RS")
    some_jobs(controllers.lab, 7)
    one.send_signal(signal.SIGCONT)
    assert one.wait(60) == EXIT_TAKEN_OVER
    assert "is at work" in (controllers.folder / f"err-{first}").read_text()
    assert other.wait(100) == 0, controllers.said()
    controllers.check()


def test_a_crew_is_left_as_a_whole_by_a_signal_and_by_the_death_of_its_command(controllers):
    words = ("--method", "RS", "--num_seeds", "2", "--parallel", "2", "--max_num_trials", "4")
    one = controllers.start(*words)
    some_jobs(controllers.lab, 2)
    one.kill()  # its children find out that it is gone
    one.wait()
    two = controllers.start(*words)
    # By then it has begun an experiment itself; segments may come from what the first one left.
    until(lambda: "x seed " in controllers.said())
    two.send_signal(signal.SIGUSR1)
    assert two.wait(60) in (0, EXIT_DETACHED), controllers.said()
    assert controllers.start(*words).wait(100) == 0, controllers.said()
    controllers.check(experiments=2, trials=4)


FAULTS = [
    {"kind": "s3_error", "operation": "PutObject", "key": "*/journal/*", "code": "SlowDown", "status": 503, "probability": 0.3},
    {"kind": "s3_error", "operation": "GetObject", "key": "*/runs/*", "code": "InternalError", "status": 500, "probability": 0.3},
]


def test_a_store_that_fails_and_throttles_loses_nothing(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, clock=FastClock(1.0), faults=FAULTS) as lab:
        controllers = Controllers(lab, tmp_path)
        one = controllers.start("--method", "RS")
        some_jobs(lab, 6)
        one.kill()
        one.wait()
        controllers.collect()  # while nobody is at work, jobs run
        shutil.rmtree(controllers.results())
        assert controllers.start("--method", "RS").wait(150) == 0, controllers.said()
        lab.emulator.clear_faults()
        controllers.check()
