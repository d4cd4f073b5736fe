from __future__ import annotations

import dataclasses
import io
import queue
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from backends.sagemaker.controllers.request import controller_name
from benchmarking.remote.controller_word import ControllerState, Restart, read_word
from benchmarking.remote.generations import claim_generation, generations
from benchmarking.remote.launch_record import LaunchRecord, SentPackage
from definitions.errors import OutriderError
from launch.remote.in_job import ControllerIdentity, InJob
from launch.remote.supervisor import JobTold
from tests.backends.memory_store import MemoryStore

NAMES = {generation: controller_name("t", "n0nce", 1, generation) for generation in (1, 2, 3)}
WHO = ControllerIdentity("s3://bucket/outrider/runs/t", 1, 1, NAMES[1])
RECORD = LaunchRecord("t", "n0nce", "2026-01-01T00:00:00Z", "1", SentPackage("code/x", "x"), controller={"max_run_s": 3600.0})


def refusal(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": 400}}, operation)


class Service:
    """SageMaker as far as a controller asks it, with what it was asked to create."""

    def __init__(self) -> None:
        self.created: list[dict[str, Any]] = []
        self.problem: Exception | None = None
        self.started = datetime(2026, 1, 1, tzinfo=UTC)

    def get(self, service: str, attempts: int | None = None) -> Service:
        return self

    def describe_training_job(self, TrainingJobName: str) -> dict[str, Any]:  # noqa: N803
        if TrainingJobName not in (WHO.job, *(one["TrainingJobName"] for one in self.created)):
            raise ClientError({"Error": {"Code": "ValidationException", "Message": "Requested resource not found."}}, "DescribeTrainingJob")
        now = self.started + timedelta(seconds=600)
        return {
            "TrainingJobArn": "arn",
            "TrainingJobStatus": "InProgress",
            "RoleArn": "role",
            "AlgorithmSpecification": {
                "TrainingImage": "image:1",
                "ContainerEntrypoint": ["python3", "start.py"],
                "ContainerArguments": ["launch/remote/entry.py", WHO.uri, "--controller", "1", "--generation", "1"],
            },
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
            "SecondaryStatusTransitions": [{"Status": "Training", "StartTime": self.started}],
            "ResponseMetadata": {"HTTPHeaders": {"date": now.strftime("%a, %d %b %Y %H:%M:%S GMT")}},
        }

    def list_tags(self, ResourceArn: str) -> dict[str, Any]:  # noqa: N803
        return {"Tags": [{"Key": "outrider:tag", "Value": "t"}, {"Key": "outrider:generation", "Value": "1"}]}

    def create_training_job(self, **request: Any) -> None:
        if self.problem is not None:
            raise self.problem
        self.created.append(request)


@pytest.fixture
def service() -> Service:
    return Service()


def job_of(service: Service, store: MemoryStore, who: ControllerIdentity = WHO, folder: Path = Path("/nowhere")) -> InJob:
    environ = {"SM_OUTPUT_DIR": str(folder / "output")}
    return InJob(who, RECORD, store, MemoryStore(), service, environ, folder, folder / "controller", queue.SimpleQueue())  # type: ignore[arg-type]


def test_its_time_is_the_services_and_that_of_the_launch_where_the_service_does_not_say(service):
    assert job_of(service, MemoryStore()).time() == (3600.0, 600.0)
    unknown = dataclasses.replace(WHO, job="ctl-unknown-g1")
    assert job_of(service, MemoryStore(), unknown).time() == (3600.0, 0.0)


def test_the_next_generation_is_claimed_and_created_as_this_one_was(service):
    store = MemoryStore()
    job = job_of(service, store)
    assert not job.is_succeeded()
    job.succeed()
    assert job.is_succeeded()
    (request,) = service.created
    assert request["TrainingJobName"] == NAMES[2]
    assert request["AlgorithmSpecification"]["ContainerArguments"][-4:] == ["--controller", "1", "--generation", "2"]
    assert {one["Key"]: one["Value"] for one in request["Tags"]} == {"outrider:tag": "t", "outrider:generation": "2"}
    assert request["StoppingCondition"] == {"MaxRuntimeInSeconds": 3600}


def test_what_was_claimed_and_never_created_is_created_and_nothing_is_claimed_beyond_it(service):
    store = MemoryStore()
    claim_generation(store, "n0nce", 1, 2, NAMES[2], "")
    job_of(service, store).succeed()
    assert [one["TrainingJobName"] for one in service.created] == [NAMES[2]]
    assert generations(store) == {1: 2}


def test_it_is_succeeded_once_a_later_generation_than_its_own_is_claimed(service):
    store = MemoryStore()
    job = job_of(service, store)
    for generation, is_succeeded in ((1, False), (2, True)):
        claim_generation(store, "n0nce", 1, generation, NAMES[generation], "")
        assert job.is_succeeded() is is_succeeded


def test_a_creation_that_was_not_answered_is_repeated_without_a_second_job(service):
    store = MemoryStore()
    job = job_of(service, store)
    service.problem = refusal("ResourceInUse", "CreateTrainingJob")
    job.succeed()
    assert generations(store) == {1: 2}
    service.problem = refusal("ResourceLimitExceeded", "CreateTrainingJob")
    with pytest.raises(OutriderError, match="ResourceLimitExceeded"):
        job_of(service, store).succeed()


def test_a_mark_of_the_whole_run_ends_it_and_one_of_an_experiment_does_not(service):
    store = MemoryStore()
    job = job_of(service, store)
    assert not job.is_marked()
    store.put(".stop", b'{"schema_version": 1, "at": 1.0, "by": "somebody", "experiments": ["toy/RS-sagemaker-0"]}')
    assert not job.is_marked()
    store.put(".stop", b'{"schema_version": 1, "at": 1.0, "by": "somebody", "experiments": null}')
    assert job.is_marked()
    store.failing = lambda operation, key: "refused"
    assert not job.is_marked()


def test_restarts_of_an_earlier_life_of_the_same_generation_are_kept_and_others_are_not(service):
    store = MemoryStore()
    job_of(service, store).word(ControllerState.WAITING, "killed", (Restart(5.0, "killed"),), 100.0)
    assert read_word(store, 1).restarts == (Restart(5.0, "killed"),)
    assert job_of(service, store).earlier() == (Restart(5.0, "killed"),)
    assert job_of(service, store, dataclasses.replace(WHO, generation=2)).earlier() == ()


def test_the_cause_is_left_for_the_service_and_what_is_said_names_the_controller(service, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", said := io.StringIO())
    job = job_of(service, MemoryStore(), folder=tmp_path)
    job.fail("no restarts: killed")
    assert (tmp_path / "output" / "failure").read_text(encoding="utf-8") == "no restarts: killed"
    job.say("it ends")
    assert said.getvalue() == "controller 1, generation 1: it ends\n"


def test_it_waits_for_what_happens_and_no_longer(service):
    happenings: queue.SimpleQueue[Any] = queue.SimpleQueue()
    job = InJob(WHO, RECORD, MemoryStore(), MemoryStore(), service, {}, Path(), Path(), happenings)  # type: ignore[arg-type]
    assert job.wait(0.0) is None
    happenings.put(JobTold())
    assert job.wait(60.0) == JobTold()
