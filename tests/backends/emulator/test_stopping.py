"""How jobs end early: by a request, by a limit, with and without their consent."""

from __future__ import annotations

import time

import pytest
from botocore.exceptions import ClientError

from backends.common import process_tree
from backends.emulator import ManualClock
from backends.emulator.core.settings import Delays
from tests.backends.emulator.asking import control

pytestmark = pytest.mark.slow

STUBBORN = "trap '' TERM; (trap '' TERM; echo child $$; sleep 300) & echo ready; while :; do sleep 300; done"
POLITE = "trap 'echo saving; echo w > $SM_MODEL_DIR/w; exit 0' TERM; echo ready; while :; do sleep 0.05; done"


def moved(bench, clock, name, seconds, condition):
    """Move the clock once the job's own steps have come so far."""
    clock.advance(seconds)
    return bench.until(name, condition)


def test_a_stopped_script_may_save_its_model(bench):
    name = bench.shell(POLITE)
    bench.printed(name, "ready")
    bench.sagemaker.stop_training_job(TrainingJobName=name)
    assert bench.describe(name)["TrainingJobStatus"] in ("Stopping", "Stopped")
    job = bench.ended(name)
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Stopped", "Stopped")
    assert bench.archive(job["ModelArtifacts"]["S3ModelArtifacts"]) == {"w": b"w\n"}
    assert bench.lines(name) == ["ready", "saving"]
    assert bench.statuses(name) == ["Starting", "Downloading", "Training", "Stopping", "Uploading", "Stopped"]
    assert "FailureReason" not in job
    with pytest.raises(ClientError) as caught:
        bench.sagemaker.stop_training_job(TrainingJobName=name)
    assert caught.value.response["Error"]["Message"] == "The request was rejected because the training job is in status Stopped."


@pytest.mark.parametrize("namespaces", ["auto", "user", "never"])
def test_a_script_that_ignores_term_is_killed_after_the_grace_with_all_it_started(started, namespaces):
    clock = ManualClock()
    bench = started(clock=clock, delays=Delays(cold_start_s=0.0), settings={"namespaces": namespaces})
    name = bench.shell(STUBBORN)
    clock.advance(0.0)
    bench.printed(name, "ready")
    mark = f"OUTRIDER_EMULATED_JOB={bench.emulator.token}.".encode()
    assert len(process_tree.find(mark)) >= 3
    bench.sagemaker.stop_training_job(TrainingJobName=name)
    clock.advance(119.0)
    assert bench.describe(name)["TrainingJobStatus"] == "Stopping"
    clock.advance(1.5)
    job = bench.ended(name)
    assert job["TrainingJobStatus"] == "Stopped"
    assert 119 <= (job["TrainingEndTime"] - job["TrainingStartTime"]).total_seconds() <= 121
    end = time.monotonic() + 90
    while any(process.alive for process in process_tree.find(mark)):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_script_past_its_runtime_is_stopped(started):
    clock = ManualClock()
    bench = started(clock=clock, delays=Delays(cold_start_s=5.0))
    name = bench.shell(POLITE, stopping={"MaxRuntimeInSeconds": 600})
    clock.advance(5.0)
    bench.printed(name, "ready")
    clock.advance(599.0)
    assert bench.describe(name)["SecondaryStatus"] == "Training"
    clock.advance(1.0)
    job = bench.ended(name)
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Stopped", "MaxRuntimeExceeded")
    assert (job["TrainingTimeInSeconds"], job["BillableTimeInSeconds"]) == (600, 600)


@pytest.mark.parametrize("stage", ["Starting", "Pending"])
def test_a_job_is_stopped_before_it_starts(started, stage):
    clock = ManualClock()
    faults = [{"kind": "pending", "seconds": 100}] if stage == "Pending" else None
    bench = started(clock=clock, faults=faults, delays=Delays(cold_start_s=60.0))
    name = bench.shell("echo never")
    clock.advance(61.0 if stage == "Pending" else 1.0)
    bench.until(name, lambda job: job["SecondaryStatus"] == stage)
    bench.sagemaker.stop_training_job(TrainingJobName=name)
    job = bench.ended(name)
    assert job["TrainingJobStatus"] == "Stopped"
    assert not {"TrainingStartTime", "BillableTimeInSeconds"} & set(job)
    clock.advance(1000.0)
    assert bench.lines(name) == []
    assert bench.describe(name)["TrainingJobStatus"] == "Stopped"


def test_a_slow_stop_holds_the_slot(started):
    clock = ManualClock()
    bench = started(
        clock=clock,
        faults=[{"kind": "slow_stop", "seconds": 60}],
        quotas={"ml.m5.large for training job usage": 1},
        delays=Delays(cold_start_s=0.0),
    )
    name = bench.shell("echo ready; sleep 300")
    bench.printed(name, "ready")
    bench.sagemaker.stop_training_job(TrainingJobName=name)
    bench.until(name, lambda job: job["SecondaryStatus"] == "Uploading")
    end = time.monotonic() + 90
    while time.monotonic() < end and bench.describe(name)["ModelArtifacts"]["S3ModelArtifacts"] == "":
        time.sleep(0.02)
    assert bench.describe(name)["TrainingJobStatus"] == "Stopping"
    with pytest.raises(bench.sagemaker.exceptions.ResourceLimitExceeded) as caught:
        bench.submit()
    assert caught.value.response["Error"]["Message"].startswith(
        "The account-level service limit 'ml.m5.large for training job usage' is 1 Instances, with current utilization of 1 Instances "
        "and a request delta of 1 Instances."
    )
    clock.advance(60.0)
    bench.ended(name)
    bench.completed(bench.submit())


def test_capacity_is_missing_at_the_start_or_on_creation(started):
    faults = [{"kind": "capacity", "job": "late-*", "times": 1}, {"kind": "capacity", "job": "early-*", "on": "create"}]
    bench = started(faults=faults)
    job = bench.ended(bench.submit(name="late-1"))
    assert job["FailureReason"].startswith("CapacityError: Unable to provision requested ML compute capacity.")
    assert not {"TrainingStartTime", "BillableTimeInSeconds"} & set(job)
    with pytest.raises(ClientError) as caught:
        bench.submit(name="early-1")
    assert caught.value.response["Error"]["Code"] == "CapacityError"
    with pytest.raises(ClientError):
        bench.describe("early-1")


def test_an_internal_error_is_retried_as_often_as_asked(started):
    bench = started(faults=[{"kind": "internal_error", "job": "x-*", "at_step": 2, "times": 2}])
    code = "for i in 1 2 3; do echo step: $i; sleep 0.1; done"
    job = bench.ended(bench.shell(code, name="x-1", RetryStrategy={"MaximumRetryAttempts": 1}))
    assert job["FailureReason"] == "InternalServerError: We encountered an internal error.  Please try again."
    assert bench.statuses("x-1").count("Restarting") == 1
    job = bench.completed(bench.shell(code, name="x-2", RetryStrategy={"MaximumRetryAttempts": 3}))
    assert bench.statuses("x-2").count("Restarting") == 2
    assert job["TrainingTimeInSeconds"] <= (job["TrainingEndTime"] - job["TrainingStartTime"]).total_seconds() + 1


def test_an_internal_error_while_spot_is_waited_for_is_retried(started):
    clock = ManualClock()
    bench = started(clock=clock, faults=[{"kind": "pending", "seconds": 500, "times": 1}], delays=Delays(cold_start_s=0.0))
    name = bench.shell("echo ran", RetryStrategy={"MaximumRetryAttempts": 1})
    clock.advance(1.0)
    bench.until(name, lambda job: job["SecondaryStatus"] == "Pending")
    assert control(bench.emulator.environment, "POST", "break", {"job": name}) == (200, {})
    bench.completed(name)
    assert bench.statuses(name)[:5] == ["Starting", "Pending", "Restarting", "Starting", "Downloading"]
    assert bench.lines(name) == ["ran"]


def test_an_internal_error_can_be_told_while_it_runs(bench):
    name = bench.shell("echo ready; sleep 60")
    bench.printed(name, "ready")
    assert control(bench.emulator.environment, "POST", "break", {"job": name}) == (200, {})
    assert bench.ended(name)["FailureReason"].startswith("InternalServerError")


WRITES = "echo saved > $SM_CHECKPOINT_DIR/state; trap 'echo told' TERM; echo ready; for i in $(seq 600); do sleep 0.1; done"


def test_a_host_that_is_lost_saves_nothing_and_says_nothing_and_the_job_starts_again_elsewhere(started):
    bench = started(faults=[{"kind": "host_lost", "at_line": "^ready$", "times": 1}], delays=Delays(checkpoint_sync_s=1e6))
    code = f"[ -e $SM_CHECKPOINT_DIR/state ] && exit 9; [ -e $SM_CHECKPOINT_DIR/second ] && exit 0; {WRITES}"
    name = bench.shell(code, CheckpointConfig={"S3Uri": "s3://bucket/ck/lost"}, RetryStrategy={"MaximumRetryAttempts": 1})
    bench.until(name, lambda job: bench.statuses(name).count("Restarting") == 1)
    bench.printed(name, "ready")
    assert bench.s3.list_objects_v2(Bucket="bucket", Prefix="ck/lost")["KeyCount"] == 0
    # In its second life it finds no checkpoint; lost again, it is out of retries, and leaves no output.
    bench.until(name, lambda job: bench.lines(name).count("ready") == 2)
    assert control(bench.emulator.environment, "POST", "break", {"job": name, "kind": "host_lost"}) == (200, {})
    assert bench.ended(name)["FailureReason"].startswith("InternalServerError")
    assert "told" not in bench.lines(name)
    assert bench.s3.list_objects_v2(Bucket="bucket", Prefix=f"out/{name}")["KeyCount"] == 0


def test_a_script_that_is_killed_ends_as_where_memory_is_short_with_its_checkpoints_saved(started):
    bench = started(faults=[{"kind": "killed", "at_line": "^ready$"}], delays=Delays(checkpoint_sync_s=1e6))
    name = bench.shell(WRITES, CheckpointConfig={"S3Uri": "s3://bucket/ck/killed"})
    job = bench.ended(name)
    assert (job["TrainingJobStatus"], job["FailureReason"]) == ("Failed", "AlgorithmError: , exit code: 137")
    assert bench.content("s3://bucket/ck/killed/state") == b"saved\n"
    assert control(bench.emulator.environment, "POST", "break", {"job": name, "kind": "x"})[0] in (400, 409)


MOMENTS = ({"at_s": 0.5}, {"at_step": 2}, {"at_line": r"^epoch=2\b"})


@pytest.mark.parametrize("moment", MOMENTS, ids=["time", "step", "line"])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [("host_lost", "InternalServerError: We encountered an internal error"), ("killed", "AlgorithmError: , exit code: 137")],
)
def test_a_job_breaks_at_a_time_at_a_step_and_at_a_line(started, kind, reason, moment):
    bench = started(faults=[{"kind": kind, **moment}])
    name = bench.shell("trap 'echo told' TERM; for i in 1 2 3; do echo epoch=$i; [ $i = 1 ] || sleep 60; done")
    job = bench.ended(name)
    assert job["FailureReason"].startswith(reason)
    lines = bench.lines(name)
    # By the clock it may strike before anything is printed.
    assert lines == ["epoch=1", "epoch=2"][: len(lines) if "at_s" in moment else 2]


def test_last_words_before_a_kill_may_be_lost(started):
    bench = started(faults=[{"kind": "killed", "at_line": "^one$", "log_lost": True}])
    name = bench.shell("echo one; echo two; echo three; sleep 60")
    assert bench.ended(name)["FailureReason"] == "AlgorithmError: , exit code: 137"
    assert bench.lines(name) == ["one"]


@pytest.mark.parametrize("namespaces", ["auto", "never"])
def test_a_stop_just_after_the_start_is_not_lost(started, namespaces):
    bench = started(delays=Delays(cold_start_s=0.0), settings={"namespaces": namespaces})
    names = [bench.shell("trap 'exit 0' TERM; while :; do sleep 0.05; done") for _ in range(12)]
    for name in names:
        bench.until(name, lambda job: job["SecondaryStatus"] == "Training")
        bench.sagemaker.stop_training_job(TrainingJobName=name)
    for name in names:
        assert bench.ended(name)["TrainingJobStatus"] == "Stopped"
