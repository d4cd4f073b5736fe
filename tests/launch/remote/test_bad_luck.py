"""What goes wrong at a controller's start, and later: no instance, requirements that do not install, no memory, answers that are lost."""

from __future__ import annotations

import signal
import tarfile
from pathlib import Path

import pytest

from benchmarking.remote.controller_word import ControllerState
from tests.launch.remote.launch_lab import BUCKET, LaunchLab, soak
from tests.launch.remote.memory_group import memory_group, needs_groups

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TAG = "study"
WHERE = ("--bucket", BUCKET, "--region", "us-east-1")
NEEDS_COMPILER = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "needs-compiler"
version = "1.0"
"""
COMPILING = """
import subprocess
def build_wheel(*words):
    subprocess.run(["no-such-compiler", "-c", "needs.c"], check=True)
"""
EATING = """
import sys, time
from outrider_report import report
given = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:])
time.sleep(4)
eaten = bytearray(1_200_000_000 if given["x"] == "1" else 1000)
for place in range(0, len(eaten), 4096):
    eaten[place] = 1
report(loss=float(given["x"]))
"""


def check(lab: LaunchLab, trials: int) -> None:
    """What holds where all went well in the end."""
    found = lab.finished(TAG)
    assert found.running == ()
    assert [one[1:] for each in found.trials.values() for one in each.values()] == [("completed", 1)] * trials
    assert len(found.jobs) == trials
    lab.same_bill(TAG, found)


def test_without_an_instance_nothing_has_begun_which_is_said_first_and_a_resume_goes_on(tmp_path: Path) -> None:
    with LaunchLab(tmp_path, [{"kind": "capacity", "job": "ctl-*"}]) as lab:
        (job,) = lab.launch(TAG, "--max_num_trials", "1", methods=("RS",), seeds=1)
        lab.await_end()
        assert lab.described(job)["TrainingJobStatus"] == "Failed"
        said = lab.outrider("status", TAG, *WHERE).stdout
        assert said.startswith(f"nobody is at work on {TAG}: controller 1, generation 1: its job is failed: CapacityError: ")
        lab.emulator.clear_faults()
        done = lab.outrider("launch", "--resume", TAG, "--remote_bucket", BUCKET, "--yes")
        assert done.returncode == 0, done.stderr
        lab.await_end()
        check(lab, 1)
        assert lab.word(TAG).generation == 2


def test_requirements_that_do_not_install_fail_the_job_with_what_pip_said(tmp_path: Path) -> None:
    with LaunchLab(tmp_path, install_requirements=True) as lab:
        words = ("--remote_requirements", "outrider-has-no-such-package==1.0", "--max_num_trials", "1")
        (job,) = lab.launch(TAG, *words, methods=("RS",), seeds=1)
        lab.await_end()
        found = lab.described(job)
        assert found["TrainingJobStatus"] == "Failed"
        assert "outrider-has-no-such-package" in found["FailureReason"]
        said = lab.outrider("status", TAG, *WHERE).stdout
        assert "outrider-has-no-such-package" in said.splitlines()[0]
        assert lab.jobs() == [job]


def test_a_requirement_that_needs_a_compiler_which_the_image_lacks_is_named_and_the_log_has_why(tmp_path: Path) -> None:
    source = tmp_path / "needs_compiler-1.0"
    source.mkdir()
    (source / "pyproject.toml").write_text(NEEDS_COMPILER, encoding="utf-8")
    (source / "backend.py").write_text(COMPILING, encoding="utf-8")
    with tarfile.open(tmp_path / "needs_compiler-1.0.tar.gz", "w:gz") as archive:
        archive.add(source, source.name)
    with LaunchLab(tmp_path, install_requirements=True) as lab:
        words = ("--remote_requirements", f"needs-compiler @ file://{tmp_path}/needs_compiler-1.0.tar.gz", "--max_num_trials", "1")
        (job,) = lab.launch(TAG, *words, methods=("RS",), seeds=1)
        lab.await_end()
        assert lab.described(job)["TrainingJobStatus"] == "Failed"
        said = lab.outrider("status", TAG, *WHERE).stdout
        assert "pip ended with exit code 1; not satisfied: needs-compiler" in said.splitlines()[0]
        assert "No such file or directory: 'no-such-compiler'" in lab.outrider("logs", TAG, *WHERE).stdout
        assert lab.jobs() == [job]


@needs_groups
def test_a_trial_that_eats_the_memory_of_its_controller_is_killed_and_the_controller_is_not(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        (lab.definition.parent / "run.py").write_text(EATING, encoding="utf-8")
        words = ("--n_workers", "1", "--set", "space.x={choice: [0, 1, 2]}", "--remote_bucket", BUCKET)
        (job,) = lab.launch(TAG, *words, methods=("GRID",), seeds=1, backend="local")
        lab.await_that(lambda: lab.child(job) is not None, "there is a controller")
        with memory_group("eaten", 600_000_000, lab.processes(job)) as group:
            lab.await_end()
            assert int((group / "memory.failcnt").read_text()) > 0
        assert lab.described(job)["TrainingJobStatus"] == "Completed", lab.log(job)
        word = lab.word(TAG)
        assert word.state is ControllerState.ENDED
        assert word.restarts == ()
        ((trials),) = lab.finished(TAG).trials.values()
        assert [one[1] for one in trials.values()] == ["completed", "infeasible", "completed"]
        assert "memory" in lab.log(job)


@soak
def test_creates_that_are_not_answered_made_their_jobs_and_no_second_ones(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG)
        lab.emulator.add_faults([{"kind": "reset", "operation": "CreateTrainingJob", "probability": 0.5}])
        lab.await_end()
        assert lab.described(job)["TrainingJobStatus"] == "Completed", lab.log(job)
        check(lab, 12)


@soak
@pytest.mark.timeout(1800)
def test_a_successor_whose_create_is_not_answered_is_one(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        lab.launch(TAG, "--remote_max_run", "90", "--n_workers", "1", "--set", "pause=12")
        lab.await_that(lambda: len(lab.jobs()) >= 5, "each experiment has begun a trial")
        lab.emulator.add_faults([{"kind": "reset", "operation": "CreateTrainingJob", "times": 2}])
        lab.await_end(1700)
        check(lab, 12)
        names = [name.rpartition("-")[2] for name in lab.controllers()]
        assert len(names) >= 2
        assert names == [f"g{number}" for number in range(1, len(names) + 1)]


@soak
def test_listings_that_lag_behind_a_controller_that_is_killed_lose_nothing(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG, "--set", "pause=2")
        lab.emulator.add_faults([{"kind": "late_list", "key": "*/runs/*", "seconds": 15.0}])
        for _ in range(2):
            lab.await_that(lambda: lab.child(job) and lab.kinds_written(TAG, set()) >= {"start"}, "it has begun")
            pid = lab.child(job)
            assert pid is not None
            lab.send(pid, signal.SIGKILL)
            lab.await_that(lambda: lab.child(job) != pid, "it is gone")  # noqa: B023
        lab.await_end()
        lab.emulator.clear_faults()
        assert lab.described(job)["TrainingJobStatus"] == "Completed", lab.log(job)
        assert len(lab.word(TAG).restarts) == 2
        check(lab, 12)


@soak
@pytest.mark.timeout(1800)
def test_stopped_from_anywhere_while_it_hands_over_no_generation_follows_and_nothing_is_left(tmp_path: Path) -> None:
    refused = {"kind": "error", "operation": "CreateTrainingJob", "code": "ResourceLimitExceeded", "message": "no more", "status": 400}
    with LaunchLab(tmp_path) as lab:
        lab.launch(TAG, "--remote_max_run", "150", "--n_workers", "1", "--set", "pause=30")
        lab.await_that(lambda: len(lab.jobs()) >= 5, "each experiment has begun a trial")
        lab.emulator.add_faults([refused])
        # On a busy machine there was time for more than one before.
        known = lab.controllers()
        lab.await_that(lambda: lab.word(TAG).state is ControllerState.HANDING_OVER, "it hands over")
        stopped = lab.outrider("stop", "--tag", TAG, *WHERE)
        lab.emulator.clear_faults()
        assert stopped.returncode == 0, stopped.stderr
        assert lab.running() == []
        assert lab.controllers() == known
        assert lab.word(TAG).state is ControllerState.STOPPED
