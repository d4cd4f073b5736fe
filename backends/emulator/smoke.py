"""Observes how an endpoint behaves, so that the emulator and a real account can be compared."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from backends.emulator.logs.store import GROUP

_ENDED = ("Completed", "Failed", "Stopped")


@dataclass(frozen=True)
class Account:
    """Where and as whom to look.

    Args:
        client: makes a boto3 client of a service.
        role: ARN that jobs run as; `output`: an `s3://` URI that may be written to.
        image: a training image that has `sh`; `instance_type`: what jobs run on.
        poll_s: seconds between two looks at a job; `timeout_s`: most seconds that one job may take.
    """

    client: Callable[[str], Any]
    role: str
    output: str
    image: str
    instance_type: str = "ml.m5.large"
    poll_s: float = 5.0
    timeout_s: float = 1800.0


@dataclass(frozen=True)
class Difference:
    """One observation that came out differently at two endpoints."""

    what: str
    first: Any
    second: Any


def observe(account: Account, say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Return what an endpoint does, by the name of the observation; times, names and numbers that cannot agree are left out.

    It runs three short jobs one after the other, and makes some requests that are refused.

    Args:
        account: where and as whom.
        say: told what is being done.

    Raises:
        TimeoutError: a job did not end in time.
    """
    tag = f"outrider-smoke-{uuid.uuid4().hex[:8]}"
    found: dict[str, Any] = {}
    say("requests that are refused")
    found.update(_refusals(account, tag))
    for suffix, code in (
        ("good", "echo loss=0.5; echo weights > /opt/ml/model/w; sleep 1"),
        ("bad", "echo 'no such layer' > /opt/ml/output/failure; exit 3"),
    ):
        say(f"job {tag}-{suffix}")
        _create(account, f"{tag}-{suffix}", code)
        job = _wait(account, f"{tag}-{suffix}", _ENDED)
        found.update(_of_job(account, suffix, job))
    say(f"job {tag}-long, which is stopped")
    name = f"{tag}-long"
    _create(account, name, "trap 'exit 0' TERM; while :; do sleep 1; done")
    _wait(account, name, ("Training", *_ENDED), "SecondaryStatus")
    sagemaker = account.client("sagemaker")
    found["stop: answer"] = _error(lambda: sagemaker.stop_training_job(TrainingJobName=name))
    found["stop: status at once"] = sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobStatus"]
    found.update(_of_job(account, "stopped", _wait(account, name, _ENDED)))
    found["stop: a stopped job"] = _error(lambda: sagemaker.stop_training_job(TrainingJobName=name))
    found["create: a name that exists"] = _error(lambda: _create(account, name, "true"))
    found.update(_listing(account, tag))
    return found


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    """Return the observations that differ, those that only one endpoint has included."""
    return [
        Difference(what, first.get(what), second.get(what)) for what in sorted({*first, *second}) if first.get(what) != second.get(what)
    ]


def _request(account: Account, name: str, code: str, **changes: Any) -> dict[str, Any]:
    return {
        "TrainingJobName": name,
        "AlgorithmSpecification": {
            "TrainingImage": account.image,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["sh", "-c", code],
            "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
        },
        "RoleArn": account.role,
        "OutputDataConfig": {"S3OutputPath": account.output},
        "ResourceConfig": {"InstanceType": account.instance_type, "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        **changes,
    }


def _create(account: Account, name: str, code: str) -> None:
    account.client("sagemaker").create_training_job(**_request(account, name, code))


def _refusals(account: Account, tag: str) -> Iterator[tuple[str, Any]]:
    sagemaker = account.client("sagemaker")
    yield "describe: an unknown job", _error(lambda: sagemaker.describe_training_job(TrainingJobName=f"{tag}-none"))
    yield "stop: an unknown job", _error(lambda: sagemaker.stop_training_job(TrainingJobName=f"{tag}-none"))
    wrong: dict[str, dict[str, Any]] = {
        "a name with an underscore": {"TrainingJobName": "bad_name"},
        "spot without a wait time": {"EnableManagedSpotTraining": True},
        "a runtime of 29 days": {"StoppingCondition": {"MaxRuntimeInSeconds": 29 * 86400}},
        "a duplicate tag": {"Tags": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]},
        "a long hyperparameter": {"HyperParameters": {"k": "v" * 2501}},
        "keep-alive of 3601 s": {
            "ResourceConfig": {
                "InstanceType": account.instance_type,
                "InstanceCount": 1,
                "VolumeSizeInGB": 1,
                "KeepAlivePeriodInSeconds": 3601,
            }
        },
    }
    for what, changes in wrong.items():
        request = _request(account, f"{tag}-refused", "true", **changes)
        yield f"create: {what}", _error(lambda request=request: sagemaker.create_training_job(**request))  # type: ignore[misc]


def _of_job(account: Account, label: str, job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield f"{label}: status", (job["TrainingJobStatus"], job["SecondaryStatus"])
    yield f"{label}: secondary statuses", [step["Status"] for step in job["SecondaryStatusTransitions"]]
    yield f"{label}: fields", sorted(name for name in job if name != "ResponseMetadata")
    yield f"{label}: reason", job.get("FailureReason")
    yield f"{label}: metrics", [one["MetricName"] for one in job.get("FinalMetricDataList", [])]
    yield f"{label}: artifacts", _masked(job.get("ModelArtifacts", {}).get("S3ModelArtifacts", ""), job, account)
    yield f"{label}: billable is training time", job.get("BillableTimeInSeconds") == job.get("TrainingTimeInSeconds")
    events = account.client("logs").filter_log_events(logGroupName=GROUP, logStreamNamePrefix=f"{job['TrainingJobName']}/")["events"]
    yield f"{label}: log lines", [event["message"] for event in events]
    yield f"{label}: log streams", sorted({_masked(event["logStreamName"], job, account) for event in events})


def _listing(account: Account, tag: str) -> Iterator[tuple[str, Any]]:
    sagemaker = account.client("sagemaker")
    suffix = len(tag) + 1
    newest = sagemaker.list_training_jobs(NameContains=tag)["TrainingJobSummaries"]
    yield "list: order by default", [job["TrainingJobName"][suffix:] for job in newest]
    page = sagemaker.list_training_jobs(
        NameContains=tag, MaxResults=1, StatusEquals="Completed", SortBy="CreationTime", SortOrder="Descending"
    )
    yield "list: a page cut before its filter", (len(page["TrainingJobSummaries"]), "NextToken" in page)


def _wait(account: Account, name: str, wanted: tuple[str, ...], field: str = "TrainingJobStatus") -> dict[str, Any]:
    sagemaker = account.client("sagemaker")
    end = time.monotonic() + account.timeout_s
    while True:
        job: dict[str, Any] = sagemaker.describe_training_job(TrainingJobName=name)
        if job[field] in wanted:
            return job
        if time.monotonic() > end:
            raise TimeoutError(f"job {name} is still in {job['SecondaryStatus']} after {account.timeout_s:.0f} s")
        time.sleep(account.poll_s)


def _error(call: Callable[[], Any]) -> tuple[str, str]:
    """Return code and message, without numbers, of the error of a call; ("", "") where there was none."""
    from botocore.exceptions import ClientError

    try:
        call()
    except ClientError as error:
        details = error.response["Error"]
        return details["Code"], re.sub(r"[0-9a-f]{8,}|\d+", "#", details["Message"])
    return "", ""


def _masked(text: str, job: Mapping[str, Any], account: Account) -> str:
    text = text.replace(account.output.rstrip("/"), "OUTPUT").replace(job["TrainingJobName"], "JOB")
    return re.sub(r"\d{6,}", "#", text)
