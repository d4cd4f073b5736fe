"""Training jobs and objects of a tag on an emulator, as a run would have left them; for the tests of stop, clean and doctor."""

from __future__ import annotations

import time
import types

import botocore.endpoint

from backends.emulator import Emulator, Settings
from backends.emulator.core.settings import ENDPOINT_QUOTA, SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA
from backends.naming import TAG_KEY, tag_mark
from backends.sagemaker.aws.clients import Clients
from tests.waiting import looks

ROLE = "arn:aws:iam::123456789012:role/trainer"
BUCKET = "sagemaker-us-east-1-123456789012"
QUOTAS = {WARM_POOL_QUOTA.format("*"): 10, SPOT_QUOTA.format("*"): 10, TRAINING_QUOTA.format("*"): 50, ENDPOINT_QUOTA.format("*"): 20}


def hasten(monkeypatch):
    """Let clients that repeat calls hardly wait; return the waits that they asked for, in seconds."""
    asked = []

    def sleep(seconds):
        asked.append(seconds)
        time.sleep(min(seconds, 0.02))

    monkeypatch.setattr(botocore.endpoint, "time", types.SimpleNamespace(sleep=sleep))
    return asked


class TagBench:
    def __init__(self, emulator):
        self.emulator = emulator
        self.sagemaker = emulator.client("sagemaker")
        self.s3 = emulator.client("s3")
        emulator.create_bucket(BUCKET)
        self._number = 0

    def clients(self):
        return Clients("us-east-1", self.emulator.environment)

    def job(self, tag, command="sleep 60", tags=None, keep_alive_s=0):
        """Start a job named as one of `tag`; `tags` in place of its own."""
        self._number += 1
        name = f"toy-{tag_mark(tag)}-0123abcd-t{self._number}-a1"
        resources = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
        if keep_alive_s:
            resources["KeepAlivePeriodInSeconds"] = keep_alive_s
        self.sagemaker.create_training_job(
            TrainingJobName=name,
            AlgorithmSpecification={
                "TrainingImage": "image:1",
                "TrainingInputMode": "File",
                "ContainerEntrypoint": ["sh", "-c", f"exec {command}"],
            },
            RoleArn=ROLE,
            OutputDataConfig={"S3OutputPath": f"s3://{BUCKET}/outrider/output/{tag}"},
            ResourceConfig=resources,
            StoppingCondition={"MaxRuntimeInSeconds": 3600},
            Tags=[{"Key": key, "Value": value} for key, value in ({TAG_KEY: tag} if tags is None else tags).items()],
        )
        return name

    def describe(self, name):
        return self.sagemaker.describe_training_job(TrainingJobName=name)

    def status(self, name):
        return self.describe(name)["TrainingJobStatus"]

    def until(self, name, condition, deadline_s=100.0):
        for _ in looks(deadline_s):
            if condition(self.describe(name)):
                return
        raise AssertionError(self.describe(name))

    def put(self, *keys):
        for key in keys:
            self.s3.put_object(Bucket=BUCKET, Key=key, Body=b"x" * 100)

    def keys(self):
        return [one["Key"] for one in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def tag_bench(**rest):
    """Return an emulator and, inside its block, what makes a bench of it."""
    return Emulator(settings=Settings(quotas=QUOTAS), **rest)


def use(monkeypatch, environment, home):
    """Have AWS clients of this process find the emulator and nothing else."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "OUTRIDER_ROLE", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(home / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(home / "credentials"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
