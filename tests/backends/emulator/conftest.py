"""An emulator that most tests share, and a bench that submits jobs to one and waits for them."""

from __future__ import annotations

import io
import itertools
import sys
import tarfile

import pytest

from backends.emulator import Emulator, Settings
from backends.emulator.core.settings import ENDPOINT_QUOTA, SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA
from tests.waiting import looks

GROUP = "/aws/sagemaker/TrainingJobs"
ROLE = "arn:aws:iam::123456789012:role/trainer"
GENEROUS = {
    WARM_POOL_QUOTA.format("*"): 50,
    SPOT_QUOTA.format("*"): 200,
    TRAINING_QUOTA.format("*"): 200,
    ENDPOINT_QUOTA.format("*"): 50,
}


class Bench:
    def __init__(self, emulator):
        self.emulator = emulator
        self._clients = {}
        self._numbers = itertools.count(1)
        emulator.create_bucket("bucket")

    def client(self, service):
        if service not in self._clients:
            self._clients[service] = self.emulator.client(service)
        return self._clients[service]

    @property
    def sagemaker(self):
        return self.client("sagemaker")

    @property
    def s3(self):
        return self.client("s3")

    def name(self, prefix="job"):
        return f"{prefix}-{next(self._numbers)}"

    def request(self, command=("true",), *, name=None, resources=None, stopping=None, algorithm=None, **rest):
        spec = {"TrainingImage": "image:1", "TrainingInputMode": "File", **(algorithm or {})}
        if command is not None:
            spec["ContainerEntrypoint"] = list(command)
        return {
            "TrainingJobName": name or self.name(),
            "AlgorithmSpecification": spec,
            "RoleArn": ROLE,
            "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1, **(resources or {})},
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600, **(stopping or {})},
            **rest,
        }

    def submit(self, command=("true",), **rest):
        request = self.request(command, **rest)
        self.sagemaker.create_training_job(**request)
        return request["TrainingJobName"]

    def python(self, code, **rest):
        if len(code) <= 256:
            return self.submit(("python", "-c", code), **rest)
        # An entry point's strings are short; a variable holds twice as much.
        environment = {**rest.pop("Environment", {}), "CODE": code}
        return self.submit(("python", "-c", "import os; exec(os.environ['CODE'])"), Environment=environment, **rest)

    def shell(self, code, **rest):
        return self.submit(("sh", "-c", code), **rest)

    def describe(self, name):
        return self.sagemaker.describe_training_job(TrainingJobName=name)

    def until(self, name, condition, deadline_s=90.0):
        for _ in looks(deadline_s):
            found = self.describe(name)
            if condition(found):
                return found
        raise AssertionError(f"waited for {name} in vain: {found}\n{self.lines(name)}")

    def ended(self, name, deadline_s=90.0):
        return self.until(name, lambda job: job["TrainingJobStatus"] in ("Completed", "Failed", "Stopped"), deadline_s)

    def completed(self, name, deadline_s=90.0):
        found = self.ended(name, deadline_s)
        assert found["TrainingJobStatus"] == "Completed", (found.get("FailureReason"), self.lines(name))
        return found

    def printed(self, name, text, deadline_s=90.0):
        for _ in looks(deadline_s):
            if any(text in line for line in self.lines(name)):
                return
        raise AssertionError((text, self.lines(name), self.describe(name)))

    def events(self, name):
        logs = self.client("logs")
        found = []
        try:
            for page in logs.get_paginator("filter_log_events").paginate(logGroupName=GROUP, logStreamNamePrefix=f"{name}/"):
                found += page["events"]
        except logs.exceptions.ResourceNotFoundException:
            return []
        return found

    def lines(self, name):
        return [event["message"] for event in self.events(name)]

    def put(self, key, content=b""):
        self.s3.put_object(Bucket="bucket", Key=key, Body=content)
        return f"s3://bucket/{key}"

    def content(self, uri):
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        return self.s3.get_object(Bucket=bucket, Key=key)["Body"].read()

    def archive(self, uri):
        with tarfile.open(fileobj=io.BytesIO(self.content(uri))) as tar:
            return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}

    def source(self, files, key="source/sourcedir.tar.gz"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            for name, text in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(text.encode())
                tar.addfile(info, io.BytesIO(text.encode()))
        return self.put(key, buffer.getvalue())

    def statuses(self, name):
        return [step["Status"] for step in self.describe(name)["SecondaryStatusTransitions"]]


def channel(name, uri, kind="S3Prefix", distribution="FullyReplicated", **rest):
    source = {"S3DataType": kind, "S3Uri": uri, "S3DataDistributionType": distribution}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}, **rest}


@pytest.fixture(scope="session", name="channel")
def channel_fixture():
    return channel


@pytest.fixture(scope="session")
def bench():
    with Emulator(settings=Settings(quotas=GENEROUS)) as emulator:
        yield Bench(emulator)


@pytest.fixture
def started():
    """Make benches of emulators of one's own."""
    import contextlib

    with contextlib.ExitStack() as stack:

        def start(quotas=GENEROUS, delays=None, settings=None, **rest):
            changes = {"quotas": quotas, **({"delays": delays} if delays else {}), **(settings or {})}
            return Bench(stack.enter_context(Emulator(settings=Settings(**changes), **rest)))

        yield start


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's namespaces and /proc")
