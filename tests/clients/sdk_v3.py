"""Version 3 of SageMaker's SDK: ModelTrainer, its jobs, attach, stop, failures, remote functions."""

import os
from pathlib import Path

import boto3
import checks
from sagemaker.core.helper.session_helper import Session
from sagemaker.core.resources import TrainingJob
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute, SourceCode, StoppingCondition

SCRIPT = """
import os, sys, time
time.sleep(float(os.environ.get("SLEEP", "0")))
print("trained")
sys.exit("no such layer" if os.environ.get("FAIL") else 0)
"""
Path("source").mkdir(exist_ok=True)
Path("source/train.py").write_text(SCRIPT)


def trainer(**more):
    return ModelTrainer(
        training_image=os.environ["IMAGE"],
        source_code=SourceCode(source_dir="source", entry_script="train.py"),
        base_job_name="v3",
        role=os.environ["ROLE"],
        compute=Compute(instance_type="ml.m5.large", instance_count=1),
        stopping_condition=StoppingCondition(max_runtime_in_seconds=300),
        **more,
    )


def default_bucket():
    assert Session().default_bucket() == "sagemaker-us-east-1-123456789012"


def train_with_logs():
    trainer().train(wait=True, logs=True)


def jobs_are_listed():
    assert [job.training_job_name for job in TrainingJob.get_all(name_contains="v3")]


def newest():
    return max(TrainingJob.get_all(name_contains="v3"), key=lambda job: job.creation_time).training_job_name


def attach():
    job = TrainingJob.get(newest())
    assert (job.training_job_status, job.secondary_status) == ("Completed", "Completed")


def stop():
    trainer(environment={"SLEEP": "60"}).train(wait=False)
    job = TrainingJob.get(newest())
    job.stop()
    job.wait()
    assert TrainingJob.get(job.training_job_name).training_job_status == "Stopped"


def failure_text():
    # The SDK's own driver writes the failure file, with the exit code alone; the script's words are in the log.
    checks.refused(lambda: trainer(environment={"FAIL": "1"}).train(wait=True, logs=False), Exception, "non-zero exit status 1")
    logs = boto3.client("logs")
    events = logs.filter_log_events(logGroupName="/aws/sagemaker/TrainingJobs", logStreamNamePrefix=f"{newest()}/")["events"]
    assert any("no such layer" in event["message"] for event in events), events


def remote_function():
    from sagemaker.core.remote_function import remote

    # The job has pip install what it has already; without an index it asks nobody.
    given = {"environment_variables": {"PIP_NO_INDEX": "1"}, "image_uri": os.environ["IMAGE"], "instance_type": "ml.m5.large"}

    @remote(role=os.environ["ROLE"], sagemaker_session=Session(), **given)
    def double(x):
        return 2 * x

    assert double(21) == 42


checks.run(default_bucket, train_with_logs, jobs_are_listed, attach, stop, failure_text, remote_function)
