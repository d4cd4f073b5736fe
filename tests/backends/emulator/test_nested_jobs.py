"""Jobs that start jobs on the emulator that runs them, and what a job that is told to end finds out about why."""

from __future__ import annotations

import json

import pytest

from backends.emulator import ManualClock
from backends.emulator.core.settings import Delays
from tests.backends.emulator.asking import control

pytestmark = pytest.mark.slow

START_ANOTHER = """
import json, os, time
import boto3

own = f"requests/{os.environ['TRAINING_JOB_NAME']}.json"
request = json.load(boto3.client("s3").get_object(Bucket="bucket", Key=own)["Body"])
sagemaker = boto3.client("sagemaker")
sagemaker.create_training_job(**request)
print("started", flush=True)
name = request["TrainingJobName"]
while (job := sagemaker.describe_training_job(TrainingJobName=name))["TrainingJobStatus"] not in ("Completed", "Failed", "Stopped"):
    time.sleep(0.05)
print(json.dumps([job["TrainingJobStatus"], job.get("FailureReason", ""), job["SecondaryStatusTransitions"][-1]["Status"]]))
"""

ASK_WHY = """
import os, signal, time
import boto3

sagemaker = boto3.client("sagemaker")
name = os.environ["TRAINING_JOB_NAME"]


def told(number, frame):
    job = sagemaker.describe_training_job(TrainingJobName=name)
    print("told", job["TrainingJobStatus"], job["SecondaryStatus"], flush=True)
    raise SystemExit


signal.signal(signal.SIGTERM, told)
sagemaker.describe_training_job(TrainingJobName=name)
print("ready", flush=True)
time.sleep(100)
"""

COUNTS = "n=$(cat $SM_CHECKPOINT_DIR/n 2>/dev/null || echo 0); echo $((n + 1)) > $SM_CHECKPOINT_DIR/n; echo life $n; [ $n = 1 ] || sleep 60"


def script(bench, code, name, **rest):
    uri = bench.source({"t.py": code}, key=f"source/{name}.tar.gz")
    parameters = {"sagemaker_program": "t.py", "sagemaker_submit_directory": uri}
    return bench.request(None, name=name, HyperParameters=parameters, **rest)


def starter(bench, name, other):
    """Return the request of a job that asks for another one and waits for it."""
    bench.put(f"requests/{name}.json", json.dumps(other).encode())
    return script(bench, START_ANOTHER, name)


@pytest.mark.parametrize("namespaces", ["auto", "never"])
def test_a_job_s_job_may_start_a_third_whose_checkpoints_outlive_its_lives(started, namespaces):
    fault = {"kind": "spot_interruption", "job": "third", "at_line": "^life 0$", "notice_s": 0.1, "times": 1}
    bench = started(faults=[fault], settings={"namespaces": namespaces}, delays=Delays(checkpoint_sync_s=1e6))
    spot = {"EnableManagedSpotTraining": True, "stopping": {"MaxWaitTimeInSeconds": 3600}}
    third = bench.request(("sh", "-c", COUNTS), name="third", CheckpointConfig={"S3Uri": "s3://bucket/ck/third"}, **spot)
    bench.sagemaker.create_training_job(**starter(bench, "first", starter(bench, "second", third)))
    bench.completed("first")
    assert bench.lines("first") == bench.lines("second") == ["started", '["Completed", "", "Completed"]']
    assert bench.lines("third") == ["life 0", "life 1"]
    assert bench.statuses("third").count("Interrupted") == 1
    assert bench.content("s3://bucket/ck/third/n") == b"2\n"


def test_a_job_that_is_gone_leaves_the_jobs_that_it_started(started):
    bench = started(faults=[{"kind": "host_lost", "job": "first", "at_line": "^started$"}])
    second = bench.request(("sh", "-c", "sleep 1; echo alone"), name="second")
    bench.sagemaker.create_training_job(**starter(bench, "first", second))
    assert bench.ended("first")["FailureReason"].startswith("InternalServerError")
    bench.completed("second")
    assert bench.lines("second") == ["alone"]


@pytest.mark.parametrize(
    ("ended_by", "expected"),
    [("stop", "told Stopping Stopping"), ("spot", "told InProgress Training"), ("limit", "told InProgress Training")],
)
def test_what_a_job_that_is_told_to_end_hears_of_itself(started, ended_by, expected):
    clock = ManualClock()
    bench = started(clock=clock, delays=Delays(cold_start_s=0.0))
    more = {"EnableManagedSpotTraining": True, "stopping": {"MaxWaitTimeInSeconds": 3600}} if ended_by == "spot" else {}
    limit = {"stopping": {"MaxRuntimeInSeconds": 600}} if ended_by == "limit" else {}
    bench.sagemaker.create_training_job(**script(bench, ASK_WHY, "asks", **more, **limit))
    clock.advance(0.0)
    bench.printed("asks", "ready")
    if ended_by == "stop":
        bench.sagemaker.stop_training_job(TrainingJobName="asks")
    elif ended_by == "spot":
        assert control(bench.emulator.environment, "POST", "interrupt", {"job": "asks"}) == (200, {})
    else:
        clock.advance(600.0)
    bench.printed("asks", "told")
    assert bench.lines("asks")[:2] == ["ready", expected]
