"""Crashes: the emulator killed and started again on its folder, children that die with it, a full disk."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import boto3
import pytest

from backends.common import process_tree
from backends.emulator import Emulator
from definitions.errors import UserError
from tests.backends.emulator import asking

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
VERB = "import sys; from launch.verbs.emulate import main; sys.exit(main(sys.argv[1:]))"


@contextlib.contextmanager
def served(*flags, environment=None):
    """Run the emulator as a program and yield (process, what it says to export)."""
    process = subprocess.Popen(
        [sys.executable, "-c", VERB, *flags],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    try:
        yield process, asking.exported(process.stdout)
    finally:
        process.kill()
        process.communicate()


def clients(exported):
    def client(service):
        return boto3.client(
            service,
            endpoint_url=exported["AWS_ENDPOINT_URL"],
            region_name=exported["AWS_REGION"],
            aws_access_key_id=exported["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=exported["AWS_SECRET_ACCESS_KEY"],
        )

    return client


def request(name, code):
    return {
        "TrainingJobName": name,
        "AlgorithmSpecification": {"TrainingImage": "i", "TrainingInputMode": "File", "ContainerEntrypoint": ["sh", "-c", code]},
        "RoleArn": "arn:aws:iam::123456789012:role/trainer",
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        "Tags": [{"Key": "k", "Value": "v"}],
    }


def until(condition, deadline_s=100.0):
    end = time.monotonic() + deadline_s
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.03)
    return found


def processes_saying(text):
    return [
        pid
        for pid, process in process_tree.all_processes().items()
        if process.alive and process_tree.carries(pid, f"TRAINING_JOB_NAME={text}".encode())
    ]


@pytest.mark.parametrize("folders", ["private", "relocated"])
def test_killed_and_started_again(tmp_path, monkeypatch, folders):
    folder = str(tmp_path / "emulator")
    unique = f"killed-{os.getpid()}-{folders}"
    # Without unshare on its path it cannot make namespaces.
    bare = tmp_path / "bin"
    bare.mkdir()
    for program in ("sh", "sleep", "setpriv"):
        for place in os.environ["PATH"].split(":"):
            if (Path(place) / program).exists():
                (bare / program).symlink_to(Path(place) / program)
                break
    environment = {"PATH": str(bare)} if folders == "relocated" else None
    with served("--folder", folder, environment=environment) as (process, exported):
        client = clients(exported)
        client("s3").create_bucket(Bucket="bucket")
        client("s3").put_object(Bucket="bucket", Key="data", Body=b"kept", Metadata={"a": "b"})
        sagemaker = client("sagemaker")
        sagemaker.create_training_job(**request("done-1", "echo finished"))
        sagemaker.create_training_job(**request(unique, "trap '' TERM; (trap '' TERM; sleep 300) & echo running; sleep 300"))
        until(lambda: sagemaker.describe_training_job(TrainingJobName="done-1")["TrainingJobStatus"] == "Completed")
        until(lambda: sagemaker.describe_training_job(TrainingJobName=unique)["SecondaryStatus"] == "Training")
        until(lambda: len(processes_saying(unique)) >= 3)
        # A line is on its way from the process to the logs for a moment, and would be lost with the emulator.
        logs = client("logs")
        until(lambda: len(logs.filter_log_events(logGroupName="/aws/sagemaker/TrainingJobs")["events"]) == 2)
        with pytest.raises(UserError, match="it is in use"), Emulator(folder):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        until(lambda: not processes_saying(unique))
    with Emulator(folder) as emulator:
        sagemaker = emulator.client("sagemaker")
        job = sagemaker.describe_training_job(TrainingJobName=unique)
        assert (job["TrainingJobStatus"], job["FailureReason"][:19]) == ("Failed", "InternalServerError")
        assert sagemaker.describe_training_job(TrainingJobName="done-1")["TrainingJobStatus"] == "Completed"
        assert sagemaker.list_tags(ResourceArn=job["TrainingJobArn"])["Tags"] == [{"Key": "k", "Value": "v"}]
        events = emulator.client("logs").filter_log_events(logGroupName="/aws/sagemaker/TrainingJobs")["events"]
        assert sorted(event["message"] for event in events) == ["finished", "running"]
        s3 = emulator.client("s3")
        found = s3.get_object(Bucket="bucket", Key="data")
        assert (found["Body"].read(), found["Metadata"]) == (b"kept", {"a": "b"})
        assert s3.head_object(Bucket="bucket", Key="out/done-1/output/model.tar.gz")["ContentLength"] > 0
        with pytest.raises(sagemaker.exceptions.ResourceInUse):
            sagemaker.create_training_job(**request("done-1", "true"))
        sagemaker.create_training_job(**request("done-2", "true"))
        until(lambda: sagemaker.describe_training_job(TrainingJobName="done-2")["TrainingJobStatus"] == "Completed")
        listed = sagemaker.list_training_jobs(SortOrder="Ascending")["TrainingJobSummaries"]
        assert [one["TrainingJobName"] for one in listed] == ["done-1", unique, "done-2"]


def test_the_verb_ends_with_its_jobs_and_leaves_nothing():
    unique = f"verb-{os.getpid()}"
    with served("--seed", "3", "--quota", "*=5") as (process, exported):
        assert exported["AWS_EC2_METADATA_DISABLED"] == "true"
        client = clients(exported)
        client("s3").create_bucket(Bucket="bucket")
        client("sagemaker").create_training_job(**request(unique, "sleep 300"))
        until(lambda: processes_saying(unique))
        folder = Path(_state(exported)["folder"])
        assert folder.exists()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=90) == 0
        until(lambda: not processes_saying(unique))
        assert not folder.exists()


def _state(exported):
    return asking.control(exported, "GET", "state")[1]


def test_closing_ends_jobs_threads_and_folder(started):
    import threading

    before = {thread.name for thread in threading.enumerate() if thread.name.startswith("emulator")}
    unique = f"closed-{os.getpid()}"
    with Emulator() as emulator:
        emulator.create_bucket("bucket")
        emulator.client("sagemaker").create_training_job(**request(unique, "sleep 300"))
        until(lambda: processes_saying(unique))
        folder = emulator.folder
    until(lambda: not processes_saying(unique))
    assert not folder.exists()
    assert {thread.name for thread in threading.enumerate() if thread.name.startswith("emulator-")} <= before | {"emulator-work_0"}
    with pytest.raises(UserError, match="is not running"):
        _ = emulator.endpoint_url


def test_a_taken_port_is_said(bench):
    port = int(bench.emulator.endpoint_url.rsplit(":", 1)[1])
    with pytest.raises(UserError, match=f"port {port}"), Emulator(port=port):
        pass


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 6 MB, where this test may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("may not mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_full_disk_fails_what_needs_it_and_nothing_else(small_disk, tmp_path):
    with Emulator(small_disk / "emulator") as emulator:
        emulator.create_bucket("bucket")
        s3, sagemaker = emulator.client("s3"), emulator.client("sagemaker")
        sagemaker.create_training_job(**request("greedy", "head -c 20000000 /dev/zero > $SM_MODEL_DIR/w || echo 'disk full'; exit 1"))
        status = lambda name: sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobStatus"]  # noqa: E731
        until(lambda: status("greedy") == "Failed")
        # What the job had taken is free again.
        sagemaker.create_training_job(**request("modest", "echo fine"))
        until(lambda: status("modest") == "Completed")
        with pytest.raises(Exception, match=r"No space left|InternalError"):
            s3.put_object(Bucket="bucket", Key="big", Body=b"x" * 10_000_000)
        with pytest.raises(s3.exceptions.NoSuchKey):
            s3.get_object(Bucket="bucket", Key="big")
        filler = small_disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(b"x" * 4096)
                file.flush()
        # Nothing is left at all: jobs fail, answers still come, and none of it ends the emulator.
        with contextlib.suppress(Exception):
            sagemaker.create_training_job(**request("hopeless", "echo x; sleep 0.1"))
            until(lambda: status("hopeless") in ("Failed", "Completed"))
        assert status("modest") == "Completed"
        filler.unlink()
        sagemaker.create_training_job(**request("after", "echo fine"))
        until(lambda: status("after") == "Completed")


def stored_jobs(folder):
    return contextlib.closing(sqlite3.connect(folder / "jobs.sqlite"))


def with_one_job(folder):
    with Emulator(folder=folder) as emulator:
        emulator.create_bucket("bucket")
        sagemaker = emulator.client("sagemaker")
        sagemaker.create_training_job(**request("first", "true"))
        until(lambda: sagemaker.describe_training_job(TrainingJobName="first")["TrainingJobStatus"] == "Completed")


def test_ten_thousand_jobs_are_listed_once_each_the_newest_first(tmp_path):
    with_one_job(tmp_path)
    with stored_jobs(tmp_path) as database, database:
        row = json.loads(database.execute("SELECT data FROM jobs").fetchone()[0])
        rows = [(f"old-{k:05d}", k, json.dumps({**row, "name": f"old-{k:05d}", "number": k})) for k in range(2, 10_001)]
        database.executemany("INSERT INTO jobs VALUES (?, ?, ?)", rows)
    with Emulator(folder=tmp_path) as emulator:
        sagemaker = emulator.client("sagemaker")
        sagemaker.create_training_job(**request("last", "true"))
        pages = list(sagemaker.get_paginator("list_training_jobs").paginate(PaginationConfig={"PageSize": 100}))
        names = [job["TrainingJobName"] for page in pages for job in page["TrainingJobSummaries"]]
        assert names == ["last", *(f"old-{k:05d}" for k in range(10_000, 1, -1)), "first"]
        found = sagemaker.list_training_jobs(NameContains="old-0999", MaxResults=100)["TrainingJobSummaries"]
        assert [job["TrainingJobName"] for job in found] == [f"old-0999{k}" for k in range(9, -1, -1)]
        until(lambda: sagemaker.describe_training_job(TrainingJobName="last")["TrainingJobStatus"] == "Completed")


def test_a_job_of_an_earlier_version_with_fewer_fields_and_others_is_read(tmp_path):
    with_one_job(tmp_path)
    with stored_jobs(tmp_path) as database, database:
        job = json.loads(database.execute("SELECT data FROM jobs").fetchone()[0])
        for name in ("metrics", "streams", "chain_since"):
            del job[name]
        database.execute("UPDATE jobs SET data = ?", (json.dumps({**job, "of_old": 1}),))
        database.execute("PRAGMA user_version = 0")
    with Emulator(folder=tmp_path) as emulator:
        assert emulator.client("sagemaker").describe_training_job(TrainingJobName="first")["TrainingJobStatus"] == "Completed"


def test_a_job_that_cannot_be_read_is_named(tmp_path):
    with_one_job(tmp_path)
    with stored_jobs(tmp_path) as database, database:
        database.execute("UPDATE jobs SET data = ?", ('{"name": "first", "number": 1}',))
    with pytest.raises(UserError, match="it lacks 'request'") as caught, Emulator(folder=tmp_path):
        pass
    assert "first" in str(caught.value)


@pytest.mark.parametrize("file", ["jobs.sqlite", "s3/s3.sqlite"])
def test_a_folder_of_a_later_version_and_one_that_is_damaged_are_left_as_they_are(tmp_path, file):
    with_one_job(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / file)) as database, database:
        database.execute("PRAGMA user_version = 7")
    with pytest.raises(UserError, match="of a later Outrider"), Emulator(folder=tmp_path):
        pass
    with contextlib.closing(sqlite3.connect(tmp_path / file)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (7,)
    (tmp_path / file).write_bytes(b"no database at all" * 100)
    with pytest.raises(UserError, match="file is not a database"), Emulator(folder=tmp_path):
        pass
    assert (tmp_path / file).read_bytes().startswith(b"no database")
