"""Other clients: the AWS command line, the SageMaker SDK; and many jobs at once."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# A folder of tests is called like the SDK, so its being importable says nothing.
_INSTALLED = {distribution.metadata["Name"] for distribution in importlib.metadata.distributions()}


@pytest.fixture
def aws(bench, tmp_path):
    program = shutil.which("aws")
    if program is None or subprocess.run([program, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("the AWS command line is not installed")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment.update(bench.emulator.environment, HOME=str(tmp_path), AWS_CONFIG_FILE=str(tmp_path / "none"))

    def run(*arguments):
        done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip().startswith(("{", "[")) else done.stdout

    return run


def test_the_aws_command_line(bench, aws, tmp_path):
    name = bench.name("cli")
    (tmp_path / "request.json").write_text(json.dumps(bench.request(("sh", "-c", "echo from the command line"), name=name)))
    arn = aws("sagemaker", "create-training-job", "--cli-input-json", "file://request.json")["TrainingJobArn"]
    assert arn.endswith(f":training-job/{name}")
    bench.completed(name)
    events = aws("logs", "filter-log-events", "--log-group-name", "/aws/sagemaker/TrainingJobs", "--log-stream-name-prefix", f"{name}/")
    assert [event["message"] for event in events["events"]] == ["from the command line"]
    (tmp_path / "file.txt").write_text("x" * 100)
    aws("s3", "cp", "file.txt", "s3://bucket/cli/file.txt")
    assert bench.content("s3://bucket/cli/file.txt") == b"x" * 100


def test_endpoints_by_the_aws_command_line(aws):
    container = "Image=image:1,Mode=MultiModel,ModelDataUrl=s3://bucket/models/"
    role = "arn:aws:iam::123456789012:role/host"
    aws("sagemaker", "create-model", "--model-name", "cli-model", "--primary-container", container, "--execution-role-arn", role)
    variant = "VariantName=v,ModelName=cli-model,InstanceType=ml.m5.large,InitialInstanceCount=1"
    aws("sagemaker", "create-endpoint-config", "--endpoint-config-name", "cli-config", "--production-variants", variant)
    made = aws("sagemaker", "create-endpoint", "--endpoint-name", "cli-endpoint", "--endpoint-config-name", "cli-config")
    assert made["EndpointArn"].endswith(":endpoint/cli-endpoint")
    aws("sagemaker", "wait", "endpoint-in-service", "--endpoint-name", "cli-endpoint")
    listed = aws("sagemaker", "list-endpoints", "--name-contains", "cli-")["Endpoints"]
    assert [(one["EndpointName"], one["EndpointStatus"]) for one in listed] == [("cli-endpoint", "InService")]
    aws("sagemaker", "delete-endpoint", "--endpoint-name", "cli-endpoint")


@pytest.mark.skipif("sagemaker-train" not in _INSTALLED, reason="the SageMaker SDK is not installed")
def test_the_sagemaker_sdk_s_model_trainer(bench, tmp_path):
    if bench.emulator.isolation == "none":
        pytest.skip("the SDK's entry point names /opt/ml")
    (tmp_path / "train.py").write_text("import os\nprint('trained by the SDK')\nopen(os.environ['SM_MODEL_DIR'] + '/w', 'w').write('w')\n")
    (tmp_path / "submit.py").write_text(
        "from sagemaker.train import ModelTrainer\n"
        "from sagemaker.train.configs import Compute, OutputDataConfig, SourceCode, StoppingCondition\n"
        "import sys\n"
        "trainer = ModelTrainer(training_image='123456789012.dkr.ecr.us-east-1.amazonaws.com/image:1',\n"
        "    source_code=SourceCode(source_dir=sys.argv[1], entry_script='train.py'), base_job_name='sdk',\n"
        "    role='arn:aws:iam::123456789012:role/trainer', output_data_config=OutputDataConfig(s3_output_path='s3://bucket/sdk'),\n"
        "    compute=Compute(instance_type='ml.m5.large', instance_count=1),\n"
        "    stopping_condition=StoppingCondition(max_runtime_in_seconds=300))\n"
        "trainer.train(wait=True, logs=True)\n"
    )
    (tmp_path / "source").mkdir()
    (tmp_path / "train.py").rename(tmp_path / "source" / "train.py")
    config = tmp_path / "config.yaml"
    config.write_text("SchemaVersion: '1.0'\nSageMaker:\n  TelemetryOptOut: true\n")
    environment = {
        **os.environ,
        **bench.emulator.environment,
        "SAGEMAKER_USER_CONFIG_OVERRIDE": str(config),
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }
    done = subprocess.run(
        [sys.executable, str(tmp_path / "submit.py"), str(tmp_path / "source")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    jobs = bench.sagemaker.list_training_jobs(NameContains="sdk-")["TrainingJobSummaries"]
    assert jobs[0]["TrainingJobStatus"] == "Completed"
    assert "trained by the SDK" in "\n".join(bench.lines(jobs[0]["TrainingJobName"]))


def load(bench, count, at_once):
    """Run jobs of one second and return (latencies of control calls in s, most threads while they ran)."""
    client = bench.sagemaker
    latencies, threads, made = [], 0, 0

    def timed(operation, **arguments):
        began = time.perf_counter()
        try:
            return getattr(client, operation)(**arguments)
        finally:
            latencies.append(time.perf_counter() - began)

    end = time.monotonic() + 120 + count / 4
    while True:
        assert time.monotonic() < end
        running = sum(
            job["TrainingJobStatus"] == "InProgress" for job in timed("list_training_jobs", MaxResults=100)["TrainingJobSummaries"]
        )
        threads = max(threads, threading.active_count())
        if made == count and running == 0:
            return latencies, threads
        for _ in range(min(at_once - running, count - made, 20)):
            timed("create_training_job", **bench.request(("sleep", "1"), name=f"load-{made}"))
            made += 1
        timed("describe_training_job", TrainingJobName=f"load-{made - 1}")


def check_load(bench, count, at_once):
    before = threading.active_count()
    latencies, threads = load(bench, count, at_once)
    assert statistics.median(latencies) < 0.5  # a tenth of it on a machine that does nothing else
    assert threads - before <= 8  # helpers that move data and this client's connection, not the jobs
    pages = bench.sagemaker.get_paginator("list_training_jobs").paginate(PaginationConfig={"PageSize": 100})
    statuses = [job["TrainingJobStatus"] for page in pages for job in page["TrainingJobSummaries"]]
    assert statuses == ["Completed"] * count
    end = time.monotonic() + 90
    while list((bench.emulator.folder / "jobs").glob("*")):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_many_jobs_at_once(started):
    check_load(started(), 60, 40)


def test_five_hundred_jobs(started):
    bench = started()
    check_load(bench, 500, 100)


def test_it_starts_within_three_seconds_of_a_processor():
    code = (
        "import time\nfrom backends.emulator import Emulator\n"
        "with Emulator() as emulator: emulator.client('sagemaker').list_training_jobs()\n"
        "print(time.process_time())"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root)
    assert float(done.stdout) < 3.0
