"""Managed spot: interruptions at a step or a time, checkpoints across them, what is billed, how long it may wait."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from backends.emulator import ManualClock
from backends.emulator.core.settings import Delays

pytestmark = pytest.mark.slow

SPOT = {"EnableManagedSpotTraining": True, "stopping": {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 7200}}

STEPS = """
import os, time
path = os.environ["SM_CHECKPOINT_DIR"] + "/step"
done = int(open(path).read()) if os.path.exists(path) else 0
for step in range(done + 1, 11):
    print(f"step={step}", flush=True)
    time.sleep(0.25 if step in (3, 7) else 0.01)
    with open(path + "~", "w") as file:
        file.write(str(step))
    os.replace(path + "~", path)
"""


def test_two_interruptions_lose_one_step_each_and_are_billed(started):
    faults = [{"kind": "spot_interruption", "at_step": step, "times": 1} for step in (3, 7)]
    bench = started(faults=faults)
    name = bench.python(STEPS, CheckpointConfig={"S3Uri": "s3://bucket/ck/spot"}, **SPOT)
    job = bench.completed(name)
    steps = [int(line.removeprefix("step=")) for line in bench.lines(name)]
    assert steps == [1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 10]
    assert bench.statuses(name) == [
        *["Starting", "Downloading", "Training", "Interrupted"] * 2,
        *["Starting", "Downloading", "Training", "Uploading", "Completed"],
    ]
    streams = {event["logStreamName"] for event in bench.events(name)}
    assert len(streams) == 3
    assert job["EnableManagedSpotTraining"] is True
    assert not [path for path in bench.archive(job["ModelArtifacts"]["S3ModelArtifacts"])]


def test_an_interruption_gives_notice_and_spot_bills_less(started):
    clock = ManualClock()
    bench = started(clock=clock, faults=[{"kind": "spot_interruption", "at_s": 1000, "times": 1}], delays=Delays(spot_return_s=500.0))
    code = "trap 'echo noticed' TERM; echo ready; while :; do sleep 0.05; [ -e $SM_CHECKPOINT_DIR/go ] && exit 0; done"
    name = bench.shell(code, CheckpointConfig={"S3Uri": "s3://bucket/ck/notice"}, **SPOT)
    clock.advance(1.0)
    bench.printed(name, "ready")
    clock.advance(1000.0)
    bench.printed(name, "noticed")
    assert bench.describe(name)["SecondaryStatus"] == "Training"
    clock.advance(120.0)
    job = bench.until(name, lambda found: found["SecondaryStatus"] == "Interrupted")
    assert job["TrainingJobStatus"] == "InProgress"
    bench.put("ck/notice/go")
    clock.advance(500.0)
    bench.until(name, lambda found: found["SecondaryStatus"] == "Starting")
    clock.advance(1.0)
    job = bench.completed(name)
    assert job["TrainingTimeInSeconds"] == 1120
    assert job["BillableTimeInSeconds"] == 336


def test_a_job_waits_for_spot_no_longer_than_it_may(started):
    clock = ManualClock()
    bench = started(clock=clock, faults=[{"kind": "pending", "seconds": 99999}])
    name = bench.submit(**SPOT)
    clock.advance(1.0)
    bench.until(name, lambda job: job["SecondaryStatus"] == "Pending")
    clock.advance(7200.0)
    job = bench.ended(name)
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Stopped", "MaxWaitTimeExceeded")
    assert "BillableTimeInSeconds" not in job


def test_only_spot_jobs_are_interrupted(started):
    bench = started(faults=[{"kind": "spot_interruption", "at_step": 1}])
    name = bench.shell("echo step=1; sleep 0.2")
    bench.completed(name)
    assert "Interrupted" not in bench.statuses(name)


def test_spot_has_a_quota_of_its_own(started):
    bench = started(quotas={"ml.m5.large for training job usage": 5, "*": 0})
    with pytest.raises(ClientError) as caught:
        bench.submit(**SPOT)
    assert "'ml.m5.large for spot training job usage' is 0 Instances" in str(caught.value)
    bench.completed(bench.submit())
