"""A study whose controller is killed, interrupted, cut off, lost or frozen ends as one of which nothing is heard: same trials, one bill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backends.emulator.core.settings import SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA
from benchmarking.archive.stored import load
from benchmarking.remote.controller_word import ControllerState
from tests.launch.remote.launch_lab import ROOT, Finished, LaunchLab, write_source

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TAG = "study"
ONE_BY_ONE = ("--n_workers", "1", "--set", "pause=8")
"""What makes a study take a minute and a half: each trial sleeps, and none runs beside another of its experiment."""
LONG_ENOUGH = ("--n_workers", "1", "--set", "pause=4")
"""What makes a study take most of a minute, so that what is to strike twice finds a controller twice."""


def check(lab: LaunchLab, found: Finished, expected: dict[str, dict[int, str]]) -> None:
    """What holds after each disturbance, as if there had been none."""
    assert found.running == ()
    assert found.configurations == expected
    outcomes = {one[1:] for trials in found.trials.values() for one in trials.values()}
    assert outcomes == {("completed", 1)}, found.trials
    assert len(found.jobs) == sum(len(trials) for trials in expected.values())
    lab.same_bill(TAG, found)


@pytest.fixture(scope="module")
def proposed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """Experiment -> trial -> configuration, by a run of the study here, of which nothing is launched and whose trials wait for nothing."""
    folder = tmp_path_factory.mktemp("here")
    write_source(folder)
    words = ["--benchmark", str(folder / "toy.yaml"), "--method", "RS", "GRID", "--num_seeds", "2", "--set", "pause=0", "--n_workers", "1"]
    words += ["--experiment_tag", TAG, "--results_dir", str(folder), "--yes"]
    environ = {**os.environ, "OUTRIDER_LEASES": str(folder / "leases")}
    subprocess.run([sys.executable, str(ROOT / "hpo_main.py"), *words], env=environ, cwd=folder, check=False, capture_output=True)
    found = {}
    for path in sorted((folder / TAG).glob("*/*/experiment.json")):
        stored = load(path.parent)
        with stored.journal() as journal:
            trials = stored.state(journal).trials
        assert [trial.status for trial in trials.values()] == ["completed"] * 3
        name = str(path.parent.relative_to(folder / TAG)).replace("-local-", "-sagemaker-")
        found[name] = {number: json.dumps(dict(trial.configuration), sort_keys=True) for number, trial in sorted(trials.items())}
    assert sorted(found) == [f"toy/{method}-sagemaker-{seed}" for method in ("GRID", "RS") for seed in (0, 1)]
    return found


@pytest.fixture(scope="module")
def expected(proposed: dict[str, dict[int, str]]) -> dict[str, dict[int, str]]:
    """The same of one seed, which is what is launched to be disturbed: two experiments side by side."""
    return {name: trials for name, trials in proposed.items() if name.endswith("-0")}


def test_undisturbed(tmp_path: Path, proposed: dict[str, dict[int, str]]) -> None:
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG)
        lab.await_end()
        assert lab.described(job)["TrainingJobStatus"] == "Completed", lab.log(job)
        check(lab, lab.finished(TAG), proposed)
        assert lab.word(TAG).state is ControllerState.ENDED
        assert lab.word(TAG).restarts == ()
        # Nobody resumes from a folder of an instance that is gone.
        assert "resume with" not in lab.log(job)


def kill_child(lab: LaunchLab) -> bool:
    """Kill the controller's process; return whether there was one."""
    for job in lab.controllers():
        pid = lab.child(job)
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            return True
    return False


def killed(lab: LaunchLab, times: int, seed: int, longest_s: float = 8.0) -> int:
    """Kill the controller so many times, each at a random moment of its first so many seconds; return how often there was one."""
    rng, struck = random.Random(seed), 0
    for _ in range(times):
        # From its birth on: one that is killed as soon as it is there would never come to anything.
        lab.await_that(lambda: any(map(lab.child, lab.controllers())) or not lab.running(), "there is a controller to kill", 900.0)
        time.sleep(rng.uniform(0.5, longest_s))
        struck += kill_child(lab)
    return struck


@pytest.mark.parametrize("times", [2])
def test_killed_at_random_moments(tmp_path: Path, expected: dict[str, dict[int, str]], times: int) -> None:
    with LaunchLab(tmp_path) as lab:
        lab.launch(TAG, "--remote_restarts", "30", *LONG_ENOUGH, seeds=1)
        assert killed(lab, times, times) == times
        lab.await_end()
        check(lab, lab.finished(TAG), expected)
        word = lab.word(TAG)
        assert word.state is ControllerState.ENDED
        assert len(word.restarts) == times
        assert all("SIGKILL" in restart.why for restart in word.restarts)


def test_interrupted_twice_on_spot_instances(tmp_path: Path, expected: dict[str, dict[int, str]]) -> None:
    fault = {"kind": "spot_interruption", "job": "ctl-*", "at_s": 9.0, "times": 2, "notice_s": 60.0}
    with LaunchLab(tmp_path, [fault]) as lab:
        (job,) = lab.launch(TAG, "--remote_spot", *LONG_ENOUGH, seeds=1)
        lab.await_end()
        check(lab, lab.finished(TAG), expected)
        assert [one["Status"] for one in lab.described(job)["SecondaryStatusTransitions"]].count("Interrupted") == 2
        assert lab.word(TAG).generation == 1


def test_over_its_time_twice(tmp_path: Path, expected: dict[str, dict[int, str]]) -> None:
    with LaunchLab(tmp_path) as lab:
        lab.launch(TAG, "--remote_max_run", "40", *ONE_BY_ONE, seeds=1)
        lab.await_end(800)
        check(lab, lab.finished(TAG), expected)
        names = lab.controllers()
        assert len(names) >= 3
        assert [name.rpartition("-")[2] for name in names] == [f"g{number}" for number in range(1, len(names) + 1)]
        # On a busy machine one may come to its limit in the middle of handing over, and is stopped by the service then.
        assert {lab.described(name)["TrainingJobStatus"] for name in names} <= {"Completed", "Stopped"}


def test_host_lost_without_a_word(tmp_path: Path, expected: dict[str, dict[int, str]]) -> None:
    with LaunchLab(tmp_path, [{"kind": "host_lost", "job": "ctl-*", "at_s": 9.0, "times": 2}]) as lab:
        (job,) = lab.launch(TAG, *LONG_ENOUGH, seeds=1)
        lab.await_end()
        check(lab, lab.finished(TAG), expected)
        assert [one["Status"] for one in lab.described(job)["SecondaryStatusTransitions"]].count("Restarting") == 2


def test_frozen_until_its_successor_is_at_work_and_woken_then(tmp_path: Path, expected: dict[str, dict[int, str]]) -> None:
    with LaunchLab(tmp_path) as lab:
        (first,) = lab.launch(TAG, *LONG_ENOUGH, seeds=1)
        lab.await_that(lambda: len(lab.jobs()) > 2, "a trial has begun")
        lab.send_all(first, signal.SIGSTOP)
        second = lab.succeed(TAG, first)
        # Whatever was created before it was frozen is there by now: what comes besides is the successor's.
        begun = {*lab.jobs()}
        lab.await_that(lambda: lab.child(second) and {*lab.jobs()} - begun, "the successor has begun a trial")
        lab.send_all(first, signal.SIGCONT)
        lab.await_end()
        check(lab, lab.finished(TAG), expected)
        assert "another controller is at work" in lab.log(first)
        assert lab.word(TAG).generation == 2


def test_kept_instances_are_in_the_bill_of_a_study_whose_controller_was_killed(tmp_path: Path) -> None:
    quotas = {WARM_POOL_QUOTA.format("*"): 4, SPOT_QUOTA.format("*"): 9, TRAINING_QUOTA.format("*"): 99}
    with LaunchLab(tmp_path, quotas=quotas) as lab:
        lab.launch(TAG, "--remote_restarts", "30", "--n_workers", "1", backend="warm_pool", methods=("RS",), seeds=2)
        killed(lab, 1, 1)
        lab.await_end()
        lab.same_bill(TAG, lab.finished(TAG))
        kept = [lab.described(name).get("WarmPoolStatus", {}) for name in lab.jobs() if name not in lab.controllers()]
        assert sum(one.get("ResourceRetainedBillableTimeInSeconds", 0) for one in kept) > 0
