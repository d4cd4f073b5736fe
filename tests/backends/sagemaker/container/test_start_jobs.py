"""The entry point of training jobs, within jobs that the emulator runs."""

import json
import time

import pytest

from backends.emulator import Emulator, Settings
from backends.sagemaker.code.packing import pack
from backends.sagemaker.code.upload import fits, upload_arguments, upload_code

pytestmark = pytest.mark.slow

ENTRY = ["/bin/sh", "-c", 'exec "$(command -v python3 || command -v python)" /opt/ml/input/data/code/outrider_start.py "$@"', "outrider"]


class Jobs:
    """Submits jobs to an emulator as the back-end does."""

    def __init__(self, emulator):
        self.emulator = emulator
        self.sagemaker, self.s3, self.logs = (emulator.client(name) for name in ("sagemaker", "s3", "logs"))
        emulator.create_bucket("bucket")

    def submit(self, name, folder, script, arguments=(), hosts=1):
        code = upload_code(pack(folder), self.s3, "bucket", "outrider")
        channels = [("code", code)]
        items = [script, *arguments]
        if not fits(script, arguments):
            start = {"script": script, "arguments": [*arguments]}
            channels.append(("job", upload_arguments(start, self.s3, "bucket", "outrider", "tag/demo", name)))
            items = ["--arguments-file", "/opt/ml/input/data/job/arguments.json"]
        self.sagemaker.create_training_job(
            TrainingJobName=name,
            AlgorithmSpecification={
                "TrainingImage": "image:1",
                "TrainingInputMode": "File",
                "ContainerEntrypoint": ENTRY,
                "ContainerArguments": items,
            },
            RoleArn="arn:aws:iam::123456789012:role/trainer",
            InputDataConfig=[
                {"ChannelName": channel, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}}
                for channel, uri in channels
            ],
            OutputDataConfig={"S3OutputPath": "s3://bucket/outrider/output"},
            ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": hosts, "VolumeSizeInGB": 1},
            StoppingCondition={"MaxRuntimeInSeconds": 600},
            CheckpointConfig={"S3Uri": f"s3://bucket/outrider/checkpoints/{name}/"},
        )

    def lines(self, name):
        try:
            found = self.logs.filter_log_events(logGroupName="/aws/sagemaker/TrainingJobs", logStreamNamePrefix=f"{name}/")
        except self.logs.exceptions.ResourceNotFoundException:
            return []
        return [event["message"] for event in found["events"]]

    def until(self, look, deadline_s=100.0):
        end = time.monotonic() + deadline_s
        while not (found := look()):
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.02)
        return found

    def ended(self, name):
        def look():
            found = self.sagemaker.describe_training_job(TrainingJobName=name)
            return found if found["TrainingJobStatus"] in ("Completed", "Failed", "Stopped") else None

        return self.until(look)


@pytest.fixture(scope="module", params=["auto", "never"])
def jobs(request):
    with Emulator(settings=Settings(namespaces=request.param)) as emulator:
        yield Jobs(emulator)


def test_a_job_on_two_hosts_reports_from_the_first(jobs, tmp_path):
    (tmp_path / "train.py").write_text(
        "import os, sys\nfrom outrider_report import report\n"
        "report(loss=0.5)\nprint(os.environ['SM_CURRENT_HOST'], sys.argv[1:], os.environ['SM_CHANNELS'], os.getcwd().endswith('ml/code'))\n"
    )
    jobs.submit("two-hosts", tmp_path, "train.py", ["--name", "a b"], hosts=2)
    found = jobs.ended("two-hosts")
    lines = jobs.lines("two-hosts")
    assert found["TrainingJobStatus"] == "Completed", (found.get("FailureReason"), lines)
    assert {f"algo-{n} ['--name', 'a b'] [] True" for n in (1, 2)} <= set(lines)
    ranks = {json.loads(line.partition(" ")[2])["outrider_rank"] for line in lines if line.startswith("[tune-metric]:")}
    assert ranks == {0, 1}


def test_a_failed_job_says_so_with_its_exit_code(jobs, tmp_path):
    (tmp_path / "train.sh").write_text("exit 3\n")
    jobs.submit("exit-3", tmp_path, "train.sh")
    found = jobs.ended("exit-3")
    assert found["TrainingJobStatus"] == "Failed"
    assert "train.sh ended with exit code 3" in found["FailureReason"]
    assert found["FailureReason"].endswith("exit code: 3")


def test_large_arguments_come_through_a_channel_of_their_own(jobs, tmp_path):
    (tmp_path / "train.py").write_text("import os, sys; print(len(sys.argv), len(sys.argv[2]), os.environ['SM_CHANNELS'])\n")
    jobs.submit("large", tmp_path, "train.py", ["--config", "x" * 5000])
    assert jobs.ended("large")["TrainingJobStatus"] == "Completed", jobs.lines("large")
    assert "3 5000 []" in jobs.lines("large")


def test_a_stopped_job_saves_its_checkpoint(jobs, tmp_path):
    (tmp_path / "train.py").write_text(
        "import pathlib, signal, sys, time\nfrom outrider_report import checkpoint_dir\n"
        "def end(*_):\n    (pathlib.Path(sys.argv[1]) / 'state').write_text('saved'); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('ready', flush=True)\nfor _ in range(600):\n    time.sleep(0.1)\n"
    )
    jobs.submit("stopped", tmp_path, "train.py", ["/opt/ml/checkpoints"])
    jobs.until(lambda: "ready" in jobs.lines("stopped"))
    jobs.sagemaker.stop_training_job(TrainingJobName="stopped")
    assert jobs.ended("stopped")["TrainingJobStatus"] == "Stopped"
    found = jobs.s3.get_object(Bucket="bucket", Key="outrider/checkpoints/stopped/state")
    assert found["Body"].read() == b"saved"
