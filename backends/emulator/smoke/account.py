"""The endpoint that is looked at, and the pieces of a look: a job's request, its end, its log, the words of a refusal."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from backends.emulator.logs.store import GROUP
from backends.emulator.s3.store import split_uri

ENDED = ("Completed", "Failed", "Stopped")
Observations = Iterator[tuple[str, Any]]
"""Names and values; times, names of jobs and numbers that cannot agree are left out of them."""


@dataclass(frozen=True)
class Account:
    """Where and as whom to look.

    Args:
        client: makes a boto3 client of a service.
        role: ARN that jobs run as; `output`: an `s3://` URI that may be written to.
        image: a training image that has `sh`; `instance_type`: what jobs run on.
        tag: what the names of the jobs begin with.
        poll_s: seconds between two looks at a job; `timeout_s`: most seconds that one job may take.
        spot_s: whole seconds that the job on spot instances works, of which fewer are billed.
    """

    client: Callable[[str], Any]
    role: str
    output: str
    image: str
    instance_type: str = "ml.m5.large"
    tag: str = "outrider-smoke"
    poll_s: float = 5.0
    timeout_s: float = 1800.0
    spot_s: int = 20

    def request(self, name: str, code: str, **changes: Any) -> dict[str, Any]:
        """Return CreateTrainingJob's request of a job that runs a line of `sh`, called by the tag and a name."""
        return {
            "TrainingJobName": f"{self.tag}-{name}",
            "AlgorithmSpecification": {
                "TrainingImage": self.image,
                "TrainingInputMode": "File",
                "ContainerEntrypoint": ["sh", "-c", code],
                "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
            },
            "RoleArn": self.role,
            "OutputDataConfig": {"S3OutputPath": self.output},
            "ResourceConfig": self.resources(),
            "StoppingCondition": {"MaxRuntimeInSeconds": 600},
            **changes,
        }

    def resources(self, **more: Any) -> dict[str, Any]:
        """Return what a job runs on."""
        return {"InstanceType": self.instance_type, "InstanceCount": 1, "VolumeSizeInGB": 1, **more}

    def uri(self, path: str) -> str:
        """Return the URI of something below the output, for this run alone."""
        return f"{self.output.rstrip('/')}/{self.tag}/{path}"

    def put(self, path: str, content: bytes) -> None:
        """Write an object."""
        bucket, key = split_uri(self.uri(path))
        self.client("s3").put_object(Bucket=bucket, Key=key, Body=content)

    def keys(self, uri: str) -> list[str]:
        """Return the keys below a URI, without the part that they have in common."""
        bucket, prefix = split_uri(uri)
        found = self.client("s3").list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
        return [one["Key"].removeprefix(prefix).lstrip("/") for one in found]

    def start(self, name: str, code: str, **changes: Any) -> str:
        """Start a job and return its whole name."""
        self.client("sagemaker").create_training_job(**self.request(name, code, **changes))
        return f"{self.tag}-{name}"

    def wait(self, name: str, wanted: tuple[str, ...] = ENDED, field: str = "TrainingJobStatus") -> dict[str, Any]:
        """Return a job, by its whole name, as soon as a field is one of those wanted; raises TimeoutError."""
        sagemaker = self.client("sagemaker")
        end = time.monotonic() + self.timeout_s
        while True:
            job: dict[str, Any] = sagemaker.describe_training_job(TrainingJobName=name)
            if job[field] in wanted:
                return job
            if time.monotonic() > end:
                raise TimeoutError(f"job {name} is still in {job['SecondaryStatus']} after {self.timeout_s:.0f} s")
            time.sleep(self.poll_s)

    def printed(self, name: str, text: str) -> None:
        """Return once a job, by its whole name, printed a line; raises TimeoutError."""
        end = time.monotonic() + self.timeout_s
        while text not in self.lines({"TrainingJobName": name}):
            if time.monotonic() > end:
                raise TimeoutError(f"job {name} has not printed {text!r} after {self.timeout_s:.0f} s")
            time.sleep(self.poll_s)

    def lines(self, job: Mapping[str, Any]) -> list[str]:
        """Return the lines of a job's log."""
        prefix = f"{job['TrainingJobName']}/"
        events = self.client("logs").filter_log_events(logGroupName=GROUP, logStreamNamePrefix=prefix)["events"]
        return [event["message"] for event in events]

    def masked(self, text: str, job: Mapping[str, Any]) -> str:
        """Return a text without what differs from account to account and from run to run."""
        text = text.replace(self.output.rstrip("/"), "OUTPUT").replace(job["TrainingJobName"], "JOB")
        return re.sub(r"\d{6,}", "#", text)


def error_of(call: Callable[[], Any]) -> tuple[str, str]:
    """Return code and message, without numbers, of the error of a call; ("", "") where there was none."""
    from botocore.exceptions import ClientError

    try:
        call()
    except ClientError as error:
        details = error.response["Error"]
        return details["Code"], re.sub(r"[0-9a-f]{8,}|\d+", "#", details.get("Message", ""))
    return "", ""


def of_job(account: Account, job: Mapping[str, Any]) -> Observations:
    """Yield what any job shows that is over."""
    yield "status", [job["TrainingJobStatus"], job["SecondaryStatus"]]
    yield "secondary statuses", [step["Status"] for step in job["SecondaryStatusTransitions"]]
    yield "fields", sorted(name for name in job if name != "ResponseMetadata")
    yield "reason", job.get("FailureReason")
    yield "metrics", [one["MetricName"] for one in job.get("FinalMetricDataList", [])]
    yield "artifacts", account.masked(job.get("ModelArtifacts", {}).get("S3ModelArtifacts", ""), job)
    yield "billable is training time", job.get("BillableTimeInSeconds") == job.get("TrainingTimeInSeconds")
    yield "log lines", account.lines(job)
    prefix = f"{job['TrainingJobName']}/"
    events = account.client("logs").filter_log_events(logGroupName=GROUP, logStreamNamePrefix=prefix)["events"]
    yield "log streams", sorted({account.masked(event["logStreamName"], job) for event in events})
