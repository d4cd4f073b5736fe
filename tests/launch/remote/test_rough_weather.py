"""Controllers among calls that fail, clocks that differ, quotas that are small, and people who stop them at any moment."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from backends.emulator.core.settings import SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA
from benchmarking.remote.controller_word import ControllerState
from tests.launch.remote.launch_lab import LaunchLab, soak

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TAG = "study"
ROUGH: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "a third of all calls is throttled": [{"kind": "throttle", "probability": 0.3}],
    "S3 takes every third segment only when asked again": [
        {"kind": "s3_error", "operation": "PutObject", "key": "*/journal/*", "code": "SlowDown", "status": 503, "probability": 0.35}
    ],
    "credentials expire, and the clock of the service is four minutes off": [
        {"kind": "expired_token", "operation": "FilterLogEvents", "after": 2, "times": 1},
        {"kind": "expired_token", "operation": "CreateTrainingJob", "after": 6, "times": 1},
        {"kind": "clock_ahead", "seconds": 240.0},
    ],
}


def check(lab: LaunchLab) -> None:
    found = lab.finished(TAG)
    assert found.running == ()
    assert len(found.trials) == 4
    assert [one[1] for trials in found.trials.values() for one in trials.values()] == ["completed"] * 12
    assert len(found.jobs) == 12  # an attempt that was refused is no job
    lab.same_bill(TAG, found)


@soak
@pytest.mark.parametrize("what", ROUGH)
def test_in_rough_weather_it_takes_longer_and_nothing_else(tmp_path: Path, what: str) -> None:
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG)
        lab.emulator.add_faults(ROUGH[what])
        lab.await_end()
        lab.emulator.clear_faults()
        assert lab.described(job)["TrainingJobStatus"] == "Completed", lab.log(job)
        check(lab)


@soak
def test_beside_a_quota_for_two_trials_all_get_their_turn(tmp_path: Path) -> None:
    quotas = {TRAINING_QUOTA.format("ml.m5.large"): 3, WARM_POOL_QUOTA.format("*"): 0, SPOT_QUOTA.format("*"): 9}
    with LaunchLab(tmp_path, quotas=quotas) as lab:
        lab.launch(TAG)
        lab.await_end()
        check(lab)


@soak
def test_two_controllers_share_the_experiments_and_run_none_twice(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        names = lab.launch(TAG, "--controllers", "2", parallel=1)
        assert len(names) == 2
        lab.await_end()
        check(lab)
        one, two = map(lab.ran, names)
        assert one | two == {f"toy x {method} x seed {seed}" for method in ("RS", "GRID") for seed in (0, 1)}
        assert not one & two
        assert one
        assert two


def test_what_a_controller_had_that_failed_for_good_goes_to_the_other_with_its_running_trial(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        one, two = lab.launch(TAG, "--controllers", "2", "--remote_restarts", "0", "--set", "pause=3", parallel=1)
        lab.await_that(lambda: lab.child(one) and lab.ran(one) and len(lab.jobs()) > 3, "both have begun")
        pid = lab.child(one)
        assert pid is not None
        lab.send(pid, signal.SIGKILL)
        lab.await_end()
        assert [lab.described(name)["TrainingJobStatus"] for name in (one, two)] == ["Failed", "Completed"]
        check(lab)
        assert lab.ran(one) < lab.ran(two)


def stopped_at(lab: LaunchLab, job: str, moment: Callable[[], object], what: str) -> None:
    lab.await_that(moment, what)
    lab.sagemaker.stop_training_job(TrainingJobName=job)


@soak
def test_stopped_by_hand_at_its_start_nothing_was_begun(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG)
        stopped_at(lab, job, lambda: lab.described(job)["SecondaryStatus"] == "Training", "its program has begun")
        lab.await_end()
        assert lab.described(job)["TrainingJobStatus"] == "Stopped"
        assert lab.running() == []


def test_stopped_by_hand_twice_its_trials_are_stopped_and_none_follows_until_somebody_goes_on(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG, "--set", "pause=3", seeds=1)
        stopped_at(lab, job, lambda: len(lab.jobs()) >= 5, "trials have begun")
        lab.sagemaker.stop_training_job(TrainingJobName=job)
        lab.await_end()
        assert lab.controllers() == [job]
        assert lab.described(job)["TrainingJobStatus"] == "Stopped"
        assert lab.word(TAG).state is ControllerState.STOPPED
        statuses = [one[1] for trials in lab.finished(TAG).trials.values() for one in trials.values()]
        assert set(statuses) <= {"completed", "interrupted"}
        assert "interrupted" in statuses
        lab.succeed(TAG, job)
        lab.await_end()
        found = lab.finished(TAG)
        assert {one[1] for trials in found.trials.values() for one in trials.values()} == {"completed"}
        assert sum(map(len, found.trials.values())) == 6
        lab.same_bill(TAG, found)


@soak
def test_stopped_by_hand_while_it_hands_over_no_generation_follows(tmp_path: Path) -> None:
    refused = {"kind": "error", "operation": "CreateTrainingJob", "code": "ResourceLimitExceeded", "message": "no more", "status": 400}
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG, "--remote_max_run", "60", "--n_workers", "1", "--set", "pause=15")
        lab.await_that(lambda: len(lab.jobs()) == 5, "each experiment has begun a trial")
        # As long as no successor can be created there is time to stop it.
        lab.emulator.add_faults([refused])
        stopped_at(lab, job, lambda: lab.word(TAG).state is ControllerState.HANDING_OVER, "it hands over")
        lab.emulator.clear_faults()
        lab.await_end()
        assert lab.controllers() == [job]
        assert lab.word(TAG).state is ControllerState.STOPPED


def test_restarts_that_are_spent_fail_the_job_with_the_cause_and_leave_trials_to_their_limits(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch(TAG, "--remote_restarts", "1", "--set", "pause=20", seeds=1)
        lab.await_that(lambda: len(lab.jobs()) > 1, "a trial has begun")
        killed: set[int | None] = {None}
        for _ in range(2):
            lab.await_that(lambda: lab.child(job) not in killed, "there is a controller")
            pid = lab.child(job)
            assert pid is not None
            killed.add(pid)
            lab.send(pid, signal.SIGKILL)
        lab.await_that(lambda: lab.described(job)["TrainingJobStatus"] == "Failed", "the job fails")
        reason = lab.described(job)["FailureReason"]
        assert "1 restart without a finished trial: the controller was ended by SIGKILL" in reason
        assert lab.word(TAG).state is ControllerState.FAILED
        assert len(lab.running()) >= 1
        lab.await_end()
