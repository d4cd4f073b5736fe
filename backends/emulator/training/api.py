"""SageMaker's operations on training jobs: from a request to an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from backends.emulator.container.context import Context
from backends.emulator.core.job import Job, describe, summary
from backends.emulator.http.errors import ServiceError, invalid, not_found
from backends.emulator.http.paging import decode_token, encode_token
from backends.emulator.training import listing
from backends.emulator.training.limits import check_create, check_profiler
from backends.emulator.training.registry import JobRegistry
from backends.emulator.training.search import search
from backends.emulator.training.validation import RequestValidator

Operation = Callable[[dict[str, Any]], dict[str, Any]]


class JobTracking(Protocol):
    """What keeps experiments beside training jobs."""

    def check_job(self, request: Mapping[str, Any]) -> None:
        """Raise `ServiceError` where a job cannot belong to what its ExperimentConfig names."""

    def job_made(self, request: Mapping[str, Any]) -> None:
        """Take in that a job was created."""


class TrainingJobsService:
    """The operations, by name.

    Args:
        model: botocore's of SageMaker.
        experiments: hears of jobs that carry an ExperimentConfig.
    """

    def __init__(self, jobs: JobRegistry, context: Context, model: RequestValidator, experiments: JobTracking | None = None) -> None:
        self._jobs, self._context, self._model, self._experiments = jobs, context, model, experiments
        self._operations: dict[str, Operation] = {
            "CreateTrainingJob": self._create,
            "DescribeTrainingJob": self._describe,
            "ListTrainingJobs": self._list,
            "StopTrainingJob": self._stop,
            "UpdateTrainingJob": self._update,
            "DeleteTrainingJob": self._delete,
            "AddTags": self._add_tags,
            "ListTags": self._list_tags,
            "DeleteTags": self._delete_tags,
            "Search": self._search,
        }

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether an operation is one of training jobs; tags and searches of other resources are not."""
        if operation in ("AddTags", "ListTags", "DeleteTags"):
            return ":training-job/" in str(request.get("ResourceArn", ""))
        if operation == "Search":
            return request.get("Resource") == "TrainingJob"
        return operation in self._operations

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request; raises `ServiceError`."""
        request = _without_nulls(request)
        self._model.check(operation, request)
        return self._operations[operation](request)

    def _create(self, request: dict[str, Any]) -> dict[str, Any]:
        if "ServerlessJobConfig" in request:
            raise ServiceError("NotImplemented", "The emulator does not imitate serverless training jobs.", 501)
        check_create(request, self._context.settings.keep_alive_max_s)
        if self._experiments is None:
            return {"TrainingJobArn": self._arn(self._jobs.create(request))}
        with self._jobs.lock:
            self._experiments.check_job(request)
            made = self._jobs.create(request)
            self._experiments.job_made(request)
        return {"TrainingJobArn": self._arn(made)}

    def _describe(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._jobs.lock:
            return self._shown(self._jobs.get(request["TrainingJobName"]))

    def _list(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._jobs.lock:
            ahead_s = self._context.injector.clock_ahead_s()
            jobs, token = listing.page(self._jobs.all(), request, ahead_s)
            found: dict[str, Any] = {"TrainingJobSummaries": [summary(job, self._context.settings, ahead_s) for job in jobs]}
        if token:
            found["NextToken"] = token
        return found

    def _stop(self, request: dict[str, Any]) -> dict[str, Any]:
        self._jobs.stop(request["TrainingJobName"])
        return {}

    def _update(self, request: dict[str, Any]) -> dict[str, Any]:
        check_profiler(request.get("ProfilerConfig", {}))
        return {"TrainingJobArn": self._arn(self._jobs.update(request["TrainingJobName"], request))}

    def _delete(self, request: dict[str, Any]) -> dict[str, Any]:
        self._jobs.delete(request["TrainingJobName"])
        return {}

    def _add_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        if any(tag["Key"].lower().startswith("aws:") for tag in request["Tags"]):
            raise invalid("Tag keys that start with aws: are reserved")
        job = self._by_arn(request["ResourceArn"])
        self._jobs.tagged(job, {tag["Key"]: tag["Value"] for tag in request["Tags"]})
        return {"Tags": _tags(job)}

    def _list_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"Tags": _tags(self._by_arn(request["ResourceArn"]))}

    def _delete_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        self._jobs.tagged(self._by_arn(request["ResourceArn"]), {}, tuple(request["TagKeys"]))
        return {}

    def _search(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._jobs.lock:
            described = [{**self._shown(job), "Tags": _tags(job)} for job in self._jobs.all()]
        found = search(
            described,
            request.get("SearchExpression", {}),
            request.get("SortBy", "LastModifiedTime"),
            request.get("SortOrder", "Descending") == "Descending",
        )
        start = decode_token(request["NextToken"]) if request.get("NextToken") else 0
        end = start + request.get("MaxResults", 10)
        answer: dict[str, Any] = {
            "Results": [{"TrainingJob": dict(job)} for job in found[start:end]],
            "TotalHits": {"Value": len(found), "Relation": "EqualTo"},
        }
        if end < len(found):
            answer["NextToken"] = encode_token(end)
        return answer

    def described(self, name: str) -> dict[str, Any] | None:
        """Return what DescribeTrainingJob shows of a job; None where there is none."""
        with self._jobs.lock:
            try:
                return self._shown(self._jobs.get(name))
            except ServiceError:
                return None

    def _shown(self, job: Job) -> dict[str, Any]:
        return describe(job, self._context.settings, self._context.injector.clock_ahead_s())

    def _arn(self, job: Job) -> str:
        return self._context.settings.arn(job.name)

    def _by_arn(self, arn: str) -> Job:
        name = arn.rsplit("/", 1)[-1]
        with self._jobs.lock:
            job = self._jobs.get(name)
            if self._arn(job) != arn:
                raise not_found(name)
            return job


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _tags(job: Job) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in sorted(job.tags.items())]
